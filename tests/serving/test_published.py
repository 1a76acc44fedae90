"""A workspace of a published manifest: every answer is of it, and nothing can be built."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

import codenib
from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.errors import InputError, StateError
from codenib.core.requests import CURRENT
from codenib.core.views import ViewKind
from codenib.manifest.store import Store
from codenib.serving.published import open_published
from codenib.snapshot.repository import locate

OLD, NEW = "def save_session():\n    return 'old'\n", "def drop_session():\n    return 'new'\n"


@pytest.fixture
def repository(git_repo: Callable[..., GitRepo]) -> GitRepo:
    made = git_repo()
    made.commit({"src/session.py": OLD})
    return made


def test_answers_are_of_the_manifest_after_the_worktree_and_its_head_moved_on(repository: GitRepo) -> None:
    with codenib.open(repository.path) as live:
        manifest = live.index().manifest
        repository.commit({"src/session.py": NEW})
        live.index()
        with open_published(manifest) as published:
            assert published.read("src/session.py").text == OLD.rstrip("\n")
            assert [item.symbol for item in published.search("session").items] == ["save_session"]
            assert published.regex("drop_session").total == 0
            assert "'old'" in published.explore("save session").text
            assert published.files == ["src/session.py"]
            assert published.current_snapshot() != manifest.snapshot
        assert live.regex("drop_session").total == 1


def test_of_clones_with_one_snapshot_the_views_of_the_named_one_are_opened(
    repository: GitRepo, tmp_path: Path
) -> None:
    places = [repository.path, *(tmp_path / f"clone{number}" for number in range(3))]
    for place in places[1:]:
        subprocess.run(["git", "clone", "-q", str(repository.path), str(place)], check=True)
    for (
        place
    ) in places:  # the lexical view of one alone, the history of all: the snapshot is published by all
        with codenib.open(place) as live:
            live.index([ViewKind.HISTORY])
    for place in places:
        with codenib.open(place) as live:
            manifest = live.index([ViewKind.LEXICAL]).manifest
        with open_published(manifest, repository=place) as published:
            assert [item.symbol for item in published.search("session").items] == ["save_session"]
            assert str(locate(place).key) in published.status().store
        with open_published(manifest) as published:
            assert published.search("session").total == 1


def test_no_builder_is_reachable(repository: GitRepo) -> None:
    with codenib.open(repository.path) as live:
        manifest = live.index(TEXT_VIEWS).manifest
    store = Store(locate(repository.path).key)
    before = sorted(path.name for path in (store.folder / "manifests").iterdir())
    with open_published(manifest) as published:
        for build in (published.index, published.update):
            with pytest.raises(StateError, match="builds nothing"):
                build()
        with pytest.raises(StateError, match="the dense view was not built"):
            published.search("x", route="semantic", refresh="never")
        with pytest.raises(StateError, match="the graph view was not built"):
            published.open_views([ViewKind.LEXICAL, ViewKind.GRAPH])
        with pytest.raises(InputError, match="one snapshot"):
            published.read("src/session.py", at="HEAD~0")
    assert sorted(path.name for path in (store.folder / "manifests").iterdir()) == before


def test_a_manifest_is_opened_by_its_file_also_of_a_bare_repository_or_a_folder(
    repository: GitRepo, tmp_path: Path
) -> None:
    repository.git("clone", "-q", "--bare", str(repository.path), str(tmp_path / "bare"))
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "session.py").write_text(OLD)
    for path in (repository.path, tmp_path / "bare", tmp_path / "plain"):
        with codenib.open(path) as live:
            manifest = live.index().manifest
        file = Store(locate(path).key).folder / "manifests" / f"{manifest.snapshot}.json"
        with open_published(file) as published:
            assert published.snapshots.pin(None, CURRENT)[0].manifest == manifest
            assert published.regex("save_session").total == 1


def test_a_manifest_that_is_gone_says_so(repository: GitRepo) -> None:
    with codenib.open(repository.path) as live:
        manifest = live.index().manifest
    folder = Store(locate(repository.path).key).folder
    with pytest.raises(InputError, match="does not exist"):
        open_published(folder / "manifests" / "other.json")
    (folder / "manifests" / f"{manifest.snapshot}.json").unlink()
    with pytest.raises(StateError, match="no longer published"):
        open_published(manifest)
