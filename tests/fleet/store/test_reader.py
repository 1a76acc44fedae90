"""A cold reader answers as the machine that built the views."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.fleet.store.conftest import Indexed

from codenib.core.errors import StateError
from codenib.fleet.store.cache import LocalCache
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.publish import push
from codenib.fleet.store.reader import FleetReader
from codenib.manifest.store import Store
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate


def _reader(objects: ObjectStore, folder: Path, limit_bytes: int = 1 << 30) -> FleetReader:
    return FleetReader(objects, LocalCache(folder, limit_bytes))


def test_a_reader_without_git_answers_as_the_builder(
    objects: ObjectStore, indexed: Indexed, tmp_path: Path
) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    with Workspace(indexed.repo.path) as local:
        expected = local.search("save a session")
        texts = [item.text for item in expected]
        lines = [(line.path, line.line) for line in local.regex("Session")]
    shutil.rmtree(indexed.repo.path)

    with _reader(objects, tmp_path / "cache").open("org/app") as remote:
        answer = remote.search("save a session")
        assert [(item.path, item.score) for item in answer] == [(item.path, item.score) for item in expected]
        assert [item.text for item in answer] == texts
        assert [(line.path, line.line) for line in remote.regex("Session")] == lines
        assert answer.snapshot.id == indexed.snapshot


def test_a_view_is_downloaded_when_it_is_asked(
    objects: ObjectStore, indexed: Indexed, tmp_path: Path
) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    reader = _reader(objects, tmp_path / "cache")
    artifacts = tmp_path / "cache" / "repos" / reader.key("org/app") / "artifacts"
    with reader.open("org/app") as remote:
        assert not artifacts.exists()
        remote.regex("Session")
        assert {folder.name.split("-")[0] for folder in artifacts.iterdir()} == {"trigram"}


def test_what_was_evicted_is_read_on_and_comes_again(
    objects: ObjectStore, indexed: Indexed, tmp_path: Path
) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    reader = _reader(objects, tmp_path / "cache", limit_bytes=1)  # room for nothing but what is opened
    with reader.open("org/app") as remote:
        expected = [(line.path, line.line) for line in remote.regex("Session")]
        artifacts = tmp_path / "cache" / "repos" / reader.key("org/app") / "artifacts"
        for folder in artifacts.glob("trigram-*"):
            os.utime(folder, (1, 1))  # long ago
        remote.search("session")  # takes its place
        assert not list(artifacts.glob("trigram-*"))
        assert list(artifacts.glob("lexical-*"))  # just used, though it is too much
        assert [(line.path, line.line) for line in remote.regex("Session")] == expected
    with reader.open("org/app") as again:
        assert [(line.path, line.line) for line in again.regex("Session")] == expected


def test_parts_that_two_snapshots_share_are_downloaded_once(
    objects: ObjectStore, indexed: Indexed, tmp_path: Path
) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    indexed.repo.commit({"app/more.py": "def more():\n    return 2\n"})
    indexed.index()
    second = push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    reader = _reader(objects, tmp_path / "cache")
    artifacts = tmp_path / "cache" / "repos" / reader.key("org/app") / "artifacts"
    for snapshot in objects.snapshots("org/app"):
        with reader.open("org/app", snapshot=snapshot) as remote:
            assert [line.path for line in remote.regex("def more")] == (
                ["app/more.py"] if snapshot == second.head.snapshot else []
            )
    texts = list(artifacts.glob("trigram-*/*.text"))
    assert len({path.stat().st_ino for path in texts}) == 2 < len(texts)


def test_a_damaged_object_is_an_error_not_an_answer(
    objects: ObjectStore, indexed: Indexed, tmp_path: Path
) -> None:
    pushed = push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    for ref in objects.publication(pushed.head).refs().values():
        objects.backend.overwrite(ref.path, bytes(ref.size))
    with pytest.raises(StateError, match="object"):
        _reader(objects, tmp_path / "cache").open("org/app")


def test_a_branch_that_nobody_published_is_named(objects: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="the branch main of org/app is not published"):
        _reader(objects, tmp_path / "cache").open("org/app")


def test_an_installed_snapshot_is_maintained_from_there(
    objects: ObjectStore, indexed: Indexed, tmp_path: Path
) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    clone = tmp_path / "clone"
    indexed.repo.git("clone", "-q", str(indexed.repo.path), str(clone))
    _reader(objects, tmp_path / "cache").install("org/app", Store(locate(clone).key))
    with Workspace(clone) as workspace:
        assert workspace.search("session").refreshed == ""  # nothing was built
    (clone / "app" / "new.py").write_text("def new():\n    pass\n")
    with Workspace(clone) as workspace:
        assert [line.path for line in workspace.regex("def new")] == ["app/new.py"]
    store = Store(locate(clone).key)
    newest = store.manifests()[0]
    assert {record.how for record in newest.views.values() if record.artifact} <= {"maintained", "reused"}
