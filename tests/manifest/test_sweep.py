from __future__ import annotations

import os
from pathlib import Path

from tests.manifest.published import build_artifact, change_schema, publish
from tests.manifest.rubbish import abandon_artifact

from codenib.core.views import ViewKind
from codenib.manifest.store import Store
from codenib.manifest.sweep import sweep


def test_a_sweep_drops_what_no_manifest_reaches(store: Store) -> None:
    kept, lost = build_artifact(store), build_artifact(store)
    manifest = publish(store, 1, artifact=kept)
    (store.folder / "trees" / f"{'0' * 64}.json").write_bytes(b"{}")
    abandon_artifact(store)
    at_work = store.new_artifact()  # slow views are built without the writer's lock
    assert sweep(store) == 1
    at_work.rmdir()
    assert [folder.name for folder in (store.folder / "artifacts").iterdir()] == [kept]
    assert not store.artifact(lost).exists()
    assert list(store.trees()) == [store.tree(manifest.tree)]


def test_a_sweep_keeps_the_newest_graph_however_many_text_views_followed(store: Store) -> None:
    graph = publish(store, 1, dirty=True, kind=ViewKind.GRAPH, artifact=build_artifact(store))
    os.utime(store.folder / "manifests" / f"{graph.snapshot}.json", (1, 1))
    newer = [publish(store, number, dirty=True) for number in (2, 3)]
    sweep(store, slow=[ViewKind.GRAPH], keep_dirty=1)
    assert {manifest.snapshot for manifest in store.manifests()} == {graph.snapshot, newer[1].snapshot}


def test_a_sweep_keeps_the_newest_of_each_sort_and_every_head(store: Store, tmp_path: Path) -> None:
    oldest = publish(store, 1)
    store.set_head("worktree", oldest.snapshot, tmp_path)
    os.utime(store.folder / "manifests" / f"{oldest.snapshot}.json", (1, 1))
    clean = [publish(store, number) for number in (2, 3, 4)]
    dirty = [publish(store, number, dirty=True) for number in (5, 6, 7)]
    sweep(store, keep_clean=1, keep_dirty=2)
    left = {manifest.snapshot for manifest in store.manifests()}
    assert left == {oldest.snapshot, clean[2].snapshot, dirty[1].snapshot, dirty[2].snapshot}


def test_a_sweep_loses_nothing_that_an_unreadable_manifest_may_reach(store: Store) -> None:
    artifact = build_artifact(store)
    manifest = publish(store, 1, artifact=artifact)
    change_schema(store.folder / "manifests" / f"{manifest.snapshot}.json")
    publish(store, 2)
    rubbish = abandon_artifact(store)
    assert sweep(store) == 0
    assert store.artifact(artifact).is_dir()
    assert not rubbish.exists()
    assert len(list(store.trees())) == 2


def test_a_sweep_drops_what_killed_writers_left(store: Store) -> None:
    publish(store, 1)
    for folder in ("manifests", "trees"):
        (store.folder / folder / ".x.json.999999999-0000.tmp").write_bytes(b"half")
    sweep(store)
    assert not list(store.folder.rglob("*.tmp"))


def test_a_removed_worktree_pins_nothing(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "linked"
    place.mkdir()
    manifest = publish(store, 1)
    publish(store, 2)
    store.set_head("linked", manifest.snapshot, place)
    os.utime(store.folder / "manifests" / f"{manifest.snapshot}.json", (1, 1))
    state = store.worktree_state("linked")
    sweep(store, keep_clean=1)
    assert store.manifest(manifest.snapshot) is not None
    place.rmdir()
    sweep(store, keep_clean=1)
    assert store.manifest(manifest.snapshot) is None
    assert not state.exists()
