from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.gitrepo import GitRepo
from tests.manifest.published import change_schema

import codenib
from codenib.compiler.collect import collect
from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.views import ViewKind
from codenib.manifest.files import disk_usage
from codenib.manifest.home import home
from codenib.manifest.store import Store
from codenib.snapshot.blobs import LocalBlobs

CLEAN: dict[ViewKind, list[str]] = {kind: [] for kind in TEXT_VIEWS}


def test_collecting_drops_what_nothing_reaches_and_keeps_what_answers(harbour: GitRepo) -> None:
    with codenib.open(harbour.path) as workspace:
        workspace.index(TEXT_VIEWS)
        for number in range(6):
            harbour.write("pier.py", f"def mooring_{number}(): ...\n")
            workspace.update()
        before = disk_usage(home())
        report = collect(keep=1)
        assert report.artifacts > 0
        assert report.records == 5 * 3  # units, terms and trigrams of the five forgotten contents
        assert report.blobs == 5
        assert report.size_bytes == disk_usage(home()) < before
        assert workspace.update().nothing_to_do
        assert workspace.search("mooring_5", refresh="never").items
        assert workspace.verify() == CLEAN
    again = collect(keep=1)
    assert (again.artifacts, again.records, again.blobs, again.repositories) == (0, 0, 0, 0)


def test_a_reader_answers_from_its_open_views_through_a_collection(harbour: GitRepo) -> None:
    with codenib.open(harbour.path) as reader, codenib.open(harbour.path) as writer:
        writer.index(TEXT_VIEWS)
        answer = reader.search("dock", refresh="never")
        texts = reader.texts(answer.items, at_snapshot=answer.snapshot.id)
        for number in range(3):
            harbour.write("harbour.py", f"def changed_{number}(): ...\n")
            harbour.commit()
            writer.update()
        collect(keep=0)
        assert reader.texts(answer.items, at_snapshot=answer.snapshot.id) == texts
        assert reader.search("changed_2", refresh="never").items


def test_a_repository_that_is_gone_is_forgotten(harbour: GitRepo, git_repo: Callable[..., GitRepo]) -> None:
    other = git_repo("other")
    other.commit({"kept.py": "def kept(): ...\n"})
    for repo in (harbour, other):
        with codenib.open(repo.path) as workspace:
            workspace.index(TEXT_VIEWS)
    shutil.rmtree(harbour.path)
    report = collect(keep=4)
    assert report.repositories == 1
    assert report.records == 3 * 3
    with codenib.open(other.path) as workspace:
        assert workspace.index(TEXT_VIEWS).nothing_to_do


def test_a_removed_worktree_is_forgotten(harbour: GitRepo, tmp_path: Path) -> None:
    linked = harbour.worktree(tmp_path / "linked", "-b", "feature")
    linked.write("only_here.py", "def only_here(): ...\n")
    for repo in (harbour, linked):
        with codenib.open(repo.path) as workspace:
            store = Path(workspace.status().store)
            workspace.index(TEXT_VIEWS)
    harbour.git("worktree", "remove", "--force", str(linked.path))
    report = collect(keep=0)
    assert (report.repositories, report.records, report.blobs) == (0, 3, 1)
    assert len(list((store / "heads").iterdir())) == len(list((store / "worktrees").iterdir())) == 1


def test_what_a_manifest_of_another_schema_reaches_is_kept(harbour: GitRepo) -> None:
    harbour.write("pier.py", "def uncommitted(): ...\n")
    with codenib.open(harbour.path) as workspace:
        outcome = workspace.index(TEXT_VIEWS)
        store = Store(Path(workspace.status().store).name)
    path = store.folder / "manifests" / f"{outcome.manifest.snapshot}.json"
    change_schema(path)
    report = collect(keep=0)
    assert (report.artifacts, report.records, report.blobs) == (0, 0, 0)
    with closing(LocalBlobs(store.blob_store)) as local:
        assert outcome.snapshot.files["pier.py"] in local.digests()


def test_one_damaged_tree_does_not_stop_the_collection(harbour: GitRepo) -> None:
    with codenib.open(harbour.path) as workspace:
        tree = workspace.index(TEXT_VIEWS).manifest.tree
        store = Store(Path(workspace.status().store).name)
    (store.folder / "trees" / f"{tree}.json").write_bytes(b"{")
    assert collect(keep=1).repositories == 0


def test_collecting_an_empty_home_does_nothing(own_home: Path) -> None:
    report = collect(keep=4)
    assert (report.repositories, report.artifacts, report.records, report.blobs) == (0, 0, 0, 0)
