"""What is damaged, deleted or of another time is refused with the command that helps, or heals by itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.manifest.published import change_schema

import codenib
from codenib.compiler.registry import DEFAULT_VIEWS
from codenib.core.views import RepoManifest, ViewKind
from codenib.manifest.files import with_checksum, without_checksum
from codenib.manifest.home import home
from codenib.manifest.store import Store
from codenib.serving.snapshots.status import describe_refresh

CLEAN: dict[ViewKind, list[str]] = {kind: [] for kind in DEFAULT_VIEWS}


class Indexed:
    """A repository that was indexed with one uncommitted edit."""

    def __init__(self, repo: GitRepo) -> None:
        self.repo = repo
        repo.write("pier.py", "def mooring(): ...\n")
        self.workspace = codenib.open(repo.path)
        self.manifest: RepoManifest = self.workspace.index().manifest
        self.store = Store(Path(self.workspace.status().store).name)

    @property
    def manifest_path(self) -> Path:
        return self.store.folder / "manifests" / f"{self.manifest.snapshot}.json"

    def artifact(self, kind: ViewKind) -> Path:
        return self.store.artifact(self.manifest.views[kind].artifact)

    def answers(self) -> bool:
        return bool(codenib.open(self.repo.path).search("mooring").items)


@pytest.fixture
def indexed(harbour: GitRepo) -> Iterator[Indexed]:
    made = Indexed(harbour)
    yield made
    made.workspace.close()


def run_rebuild(repository: Path) -> str:
    command = [sys.executable, "-m", "codenib", "-C", str(repository), "index", "--rebuild"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_manifest_of_another_schema_is_refused_and_the_hint_repairs_it(indexed: Indexed) -> None:
    change_schema(indexed.manifest_path)
    asked: list[Callable[[], object]] = [
        lambda: codenib.open(indexed.repo.path).search("mooring"),
        lambda: codenib.open(indexed.repo.path).search("mooring", refresh="never"),
        lambda: codenib.open(indexed.repo.path).update(),
        lambda: codenib.open(indexed.repo.path).status(),
    ]
    for ask in asked:
        with pytest.raises(codenib.StateError) as caught:
            ask()
        assert caught.value.hint == "codenib index --rebuild"
    assert "indexed 3 files" in run_rebuild(indexed.repo.path)
    assert indexed.answers()
    assert codenib.open(indexed.repo.path).verify() == CLEAN


@pytest.mark.parametrize(("before", "after"), [(b"{", b"?"), (b"}", b""), (b'"dirty":true', b'"dirty":null')])
def test_a_damaged_manifest_heals_by_itself_and_says_so(
    indexed: Indexed, before: bytes, after: bytes
) -> None:
    indexed.manifest_path.write_bytes(indexed.manifest_path.read_bytes().replace(before, after))
    answer = codenib.open(indexed.repo.path).search("mooring")
    assert answer.items
    assert "damaged in the store, so made again: a manifest" in answer.refreshed
    assert codenib.open(indexed.repo.path).verify() == CLEAN


def test_a_store_of_an_earlier_version_is_called_that_and_is_made_again(indexed: Indexed) -> None:
    with codenib.open(indexed.repo.path) as workspace:
        workspace.index((*DEFAULT_VIEWS, ViewKind.GRAPH))
    for path in [*indexed.store.folder.glob("*/*.json"), *indexed.store.folder.glob("*.json")]:
        path.write_bytes(without_checksum(path.read_bytes()))
    for seal in indexed.store.folder.glob("artifacts/*/seal.json"):
        seal.unlink()
    with codenib.open(indexed.repo.path) as workspace:
        outcome = workspace.update()
        assert describe_refresh(outcome).endswith("; made by an earlier version, so made again: a manifest")
        assert not outcome.healed
        assert set(outcome.manifest.views) == {*DEFAULT_VIEWS, ViewKind.GRAPH}
        assert not any(workspace.verify().values())
    assert len(list(indexed.store.folder.glob("artifacts/*"))) == len(DEFAULT_VIEWS) + 1


def test_a_manifest_of_an_earlier_schema_is_made_again(indexed: Indexed) -> None:
    text = without_checksum(indexed.manifest_path.read_bytes()).replace(b'"schema":1', b'"schema":0')
    indexed.manifest_path.write_bytes(with_checksum(text))
    answer = codenib.open(indexed.repo.path).search("mooring")
    assert answer.items
    assert "made by an earlier version, so made again: a manifest" in answer.refreshed


def test_an_unreadable_manifest_of_another_snapshot_is_in_nobodys_way(indexed: Indexed) -> None:
    change_schema(indexed.manifest_path)
    indexed.repo.write("pier.py", "def mooring_moved(): ...\n")
    outcome = codenib.open(indexed.repo.path).index()
    assert set(outcome.views.values()) == {"built"}
    assert outcome.derived == 1


@pytest.mark.parametrize("kind", DEFAULT_VIEWS)
def test_a_deleted_artifact_heals_by_itself(indexed: Indexed, kind: ViewKind) -> None:
    shutil.rmtree(indexed.artifact(kind))
    outcome = codenib.open(indexed.repo.path).update()
    assert (list(outcome.views), outcome.derived) == ([kind], 0)
    assert codenib.open(indexed.repo.path).verify() == CLEAN


@pytest.mark.parametrize("kind", [kind for kind in DEFAULT_VIEWS if kind is not ViewKind.HISTORY])
def test_a_damaged_base_is_not_maintained_but_rebuilt(indexed: Indexed, kind: ViewKind) -> None:
    for part in indexed.artifact(kind).iterdir():
        part.write_bytes(b"damaged")
    indexed.repo.write("harbour.py", "def changed(): ...\n")
    outcome = codenib.open(indexed.repo.path).update()
    assert outcome.views[kind] == "built"
    assert codenib.open(indexed.repo.path).verify() == CLEAN


@pytest.mark.parametrize("damage", ["deleted", "damaged"])
def test_a_tree_that_cannot_be_read_is_no_base_and_an_update_writes_it(indexed: Indexed, damage: str) -> None:
    tree = indexed.store.folder / "trees" / f"{indexed.manifest.tree}.json"
    if damage == "deleted":
        tree.unlink()
    else:
        tree.write_bytes(b"{")
    with pytest.raises(codenib.StateError) as caught:
        codenib.open(indexed.repo.path).search("mooring", refresh="never")
    assert caught.value.hint == "codenib update"
    codenib.open(indexed.repo.path).update()
    assert codenib.open(indexed.repo.path).search("mooring", refresh="never").items
    tree.write_bytes(b"{")
    indexed.repo.write("harbour.py", "def changed(): ...\n")
    assert set(codenib.open(indexed.repo.path).update().views.values()) == {"built"}


def test_deleted_records_are_derived_again(indexed: Indexed) -> None:
    (home() / "records.sqlite").unlink()
    assert indexed.answers()
    indexed.repo.write("harbour.py", "def changed(): ...\n")
    outcome = codenib.open(indexed.repo.path).update()
    assert set(outcome.views.values()) == {"maintained", "reused"}
    assert codenib.open(indexed.repo.path).verify() == CLEAN


def test_damaged_records_are_derived_again(indexed: Indexed) -> None:
    path = home() / "records.sqlite"
    path.write_bytes(b"damaged" * 1000)
    assert indexed.answers()  # nothing changed, so that nothing needs them
    indexed.repo.write("harbour.py", "def changed(): ...\n")
    codenib.open(indexed.repo.path).update()
    assert codenib.open(indexed.repo.path).verify() == CLEAN


def test_deleted_blobs_are_stored_again(indexed: Indexed) -> None:
    (home() / "blobs.sqlite").unlink()
    with codenib.open(indexed.repo.path) as workspace:
        answer = workspace.search("mooring")
        assert workspace.texts(answer.items, at_snapshot=answer.snapshot.id) == ["def mooring(): ..."]
        assert workspace.verify() == CLEAN


def test_a_deleted_home_is_made_again(indexed: Indexed) -> None:
    shutil.rmtree(home())
    assert indexed.answers()


def test_a_rebuild_derives_anew_and_forgets_the_rest(indexed: Indexed) -> None:
    indexed.repo.commit()
    codenib.open(indexed.repo.path).update()
    outcome = codenib.open(indexed.repo.path).index(rebuild=True)
    assert (set(outcome.views.values()), outcome.derived) == ({"built"}, 3)
    assert [manifest.snapshot for manifest in indexed.store.manifests()] == [outcome.manifest.snapshot]
    assert len(list((indexed.store.folder / "artifacts").iterdir())) == len(DEFAULT_VIEWS)
