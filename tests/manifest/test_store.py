from __future__ import annotations

from pathlib import Path

import pytest
from tests.manifest.published import FILES, build_artifact, change_schema, publish

from codenib.core.errors import StateError
from codenib.manifest.store import Store


def test_a_published_manifest_comes_back_equal_with_its_files(store: Store) -> None:
    manifest = publish(store, 1)
    assert store.manifest(manifest.snapshot) == manifest
    assert store.snapshot(manifest, "repo").id == manifest.snapshot
    assert store.tree(manifest.tree) == {**FILES, "number": f"{1:040d}"}


def test_what_was_never_published_is_none(store: Store) -> None:
    assert store.manifest("0" * 32) is None
    assert store.head("worktree") is None
    assert store.manifests() == []


def test_an_unknown_schema_is_refused_with_the_command_that_rebuilds(store: Store) -> None:
    manifest = publish(store, 1)
    path = store.folder / "manifests" / f"{manifest.snapshot}.json"
    change_schema(path)
    with pytest.raises(StateError, match="schema 99; this codenib reads 1") as caught:
        store.manifest(manifest.snapshot)
    assert caught.value.hint == "codenib index --rebuild"


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"chacksum":"00000000"}'])
def test_a_damaged_manifest_counts_as_none_and_is_noted(store: Store, damage: bytes) -> None:
    manifest = publish(store, 1)
    (store.folder / "manifests" / f"{manifest.snapshot}.json").write_bytes(damage)
    assert store.manifest(manifest.snapshot) is None
    assert store.manifests() == []
    assert store.take_damaged() == ("a manifest",)
    assert store.take_damaged() == ()


def test_a_damaged_tree_is_written_again_by_the_next_publication(store: Store) -> None:
    manifest = publish(store, 1)
    (store.folder / "trees" / f"{manifest.tree}.json").write_bytes(b"{")
    with pytest.raises(StateError, match="tree"):
        store.tree(manifest.tree)
    publish(store, 1)
    assert store.tree(manifest.tree)["number"] == f"{1:040d}"


def test_the_most_recently_used_manifest_comes_first(store: Store) -> None:
    first, second = publish(store, 1), publish(store, 2)
    assert [manifest.snapshot for manifest in store.manifests()] == [second.snapshot, first.snapshot]
    store.touch(first.snapshot)
    assert [manifest.snapshot for manifest in store.manifests()] == [first.snapshot, second.snapshot]


def test_a_head_never_names_a_manifest_that_was_pruned(store: Store, tmp_path: Path) -> None:
    manifest = publish(store, 1)
    assert store.set_head("worktree", manifest.snapshot, tmp_path)
    assert not store.set_head("worktree", "0" * 32, tmp_path)
    assert store.head("worktree") == manifest.snapshot


def test_a_damaged_head_counts_as_none(store: Store, tmp_path: Path) -> None:
    store.set_head("worktree", publish(store, 1).snapshot, tmp_path)
    (store.folder / "heads" / "worktree.json").write_bytes(b"{")
    assert store.head("worktree") is None


def test_touching_what_another_writer_pruned_is_no_error(store: Store) -> None:
    store.touch("0" * 32)


def test_an_artifact_gets_its_name_only_when_it_is_whole(store: Store) -> None:
    folder = store.new_artifact()
    (folder / "view.json").write_text("{}")
    assert folder.name.startswith(".tmp-")
    name = store.adopt(folder, "lexical", "abc" * 20)
    assert not folder.exists()
    assert (store.artifact(name) / "view.json").read_text() == "{}"


def test_forgetting_leaves_one_manifest(store: Store) -> None:
    kept = publish(store, 1)
    publish(store, 2)
    (store.folder / "manifests" / "damaged.json").write_bytes(b"{")
    store.forget_all_but(kept.snapshot)
    assert [path.stem for path in (store.folder / "manifests").iterdir()] == [kept.snapshot]


def test_a_store_knows_whether_its_repository_is_still_there(store: Store, tmp_path: Path) -> None:
    assert store.still_there()
    place = tmp_path / "repo"
    place.mkdir()
    store.describe(place)
    assert store.still_there()
    place.rmdir()
    assert not store.still_there()


def test_a_home_that_cannot_be_written_is_said_with_the_variable_that_moves_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StateError, match="state cannot be written to") as caught:
        Store("key", root=tmp_path / "file" / "v1").worktree_state("worktree")
    assert "CODENIB_HOME" in caught.value.hint


def test_a_part_that_was_written_to_is_damage_and_an_untouched_artifact_is_not_read(store: Store) -> None:
    name = build_artifact(store)
    part = store.artifact(name) / "view.json"
    assert store.is_whole(name)
    part.write_bytes(b"[]")
    assert "another checksum" in store.damage(name)
    part.write_bytes(b"{}")
    assert store.is_whole(name)
    part.write_bytes(b"{ }")
    assert "3 of 2 bytes" in store.damage(name)
    part.unlink()
    assert not store.is_whole(name)
    assert store.take_damaged() == ("the lexical view",)


def test_a_shared_part_has_the_checksum_of_its_base(store: Store) -> None:
    base = store.artifact(build_artifact(store))
    (base / "view.json").write_bytes(b"[]")
    folder = store.new_artifact()
    (folder / "view.json").hardlink_to(base / "view.json")
    store.seals.seal(folder, base)
    assert "another checksum" in store.damage(store.adopt(folder, "lexical", "t" * 64))
