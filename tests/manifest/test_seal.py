"""Parts are read again when they were written, not when other artifacts come and go that share them."""

from __future__ import annotations

import os
from pathlib import Path

from tests.manifest.published import publish

from codenib.manifest.store import Store
from codenib.manifest.sweep import sweep


def build(store: Store, base: str | None = None) -> str:
    """An artifact of two parts; one that follows a base shares the large part with it."""
    folder = store.new_artifact()
    (folder / "view.json").write_text(f"{{}} {base}")
    large = folder / "large.npy"
    if base is None:
        large.write_bytes(b"large" * 1000)
    else:
        os.link(store.artifact(base) / "large.npy", large)
    store.seals.seal(folder, store.artifact(base) if base is not None else None)
    return store.adopt(folder, "lexical", "t" * 64)


def checked(store: Store, name: str) -> Path:
    """What is remembered of an artifact: a new file when a part was read again."""
    return store.folder / "checked" / name


def reads_again(store: Store, name: str) -> bool:
    """Whether opening an artifact reads a part of it."""
    before = checked(store, name).stat().st_ino
    assert store.seals.damage(store.artifact(name)) == ""
    return checked(store, name).stat().st_ino != before


def test_a_link_to_a_part_does_not_make_its_other_artifacts_be_read_again(store: Store) -> None:
    first = build(store)
    second = build(store, first)
    third = build(store, second)
    assert not any(reads_again(store, name) for name in (first, second, third))


def test_a_sweep_does_not_make_what_stays_be_read_again(store: Store) -> None:
    first = build(store)
    second = build(store, first)
    publish(store, 1, artifact=second)
    assert sweep(store) == 1
    assert not store.artifact(first).exists()
    assert not checked(store, first).exists()
    assert not reads_again(store, second)


def test_what_was_written_meanwhile_is_read_and_noticed(store: Store) -> None:
    first = build(store)
    part = store.artifact(first) / "large.npy"
    part.write_bytes(b"other" * 1000)
    second = build(store, first)
    assert "large.npy" in store.seals.damage(store.artifact(first))
    assert "large.npy" in store.seals.damage(store.artifact(second))


def test_a_part_whose_time_was_set_back_is_read_again(store: Store) -> None:
    name = build(store)
    part = store.artifact(name) / "large.npy"
    times = part.stat()
    part.write_bytes(b"other" * 1000)
    os.utime(part, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "large.npy" in store.seals.damage(store.artifact(name))
