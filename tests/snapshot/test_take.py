"""Commits and plain folders in, snapshots out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.snapshot.conftest import Camera

from codenib.core.errors import InputError
from codenib.core.source import SourceSettings, SourceSnapshot
from codenib.snapshot.blobs import MAX_BYTES, blob_digest
from codenib.snapshot.repository import locate
from codenib.snapshot.take import take, take_commit


def test_a_commit_has_its_files_by_blob_id(tmp_path: Path, camera: Camera) -> None:
    repo = GitRepo(tmp_path / "repo")
    first = repo.commit({"a.py": "one", "d/b.py": "two"})
    repo.commit({"a.py": "three"})
    snapshot = camera.take(repo, at=first)
    assert (snapshot.repository, snapshot.commit, snapshot.dirty) == ("repo", first, False)
    assert snapshot.files == {"a.py": blob_digest(b"one"), "d/b.py": blob_digest(b"two")}
    assert camera.text(repo, snapshot) == {"a.py": "one", "d/b.py": "two"}


def test_revisions_are_named_as_in_git(tmp_path: Path, camera: Camera) -> None:
    repo = GitRepo(tmp_path / "repo")
    first = repo.commit({"a.py": "one"})
    repo.commit({"a.py": "two"})
    repo.git("tag", "-a", "-m", "tag", "v1", first)
    assert {camera.take(repo, at=name).commit for name in ("v1", "HEAD~1", "main^", first[:12])} == {first}


@pytest.mark.parametrize("rev", ["nothing", "", "-h", "--all", "HEAD:a.py", "a\0b", "HEAD~9"])
def test_an_unknown_revision_is_an_input_error_that_names_it(
    tmp_path: Path, camera: Camera, rev: str
) -> None:
    repo = GitRepo(tmp_path / "repo")
    repo.commit({"a.py": "one"})
    with pytest.raises(InputError) as caught:
        camera.take(repo, at=rev)
    assert repr(rev) in caught.value.message


def test_a_bare_repository_without_a_revision_gives_head(tmp_path: Path, camera: Camera) -> None:
    repo = GitRepo(tmp_path / "repo")
    commit = repo.commit({"a.py": "one"})
    bare = repo.clone(tmp_path / "bare.git", "--bare")
    snapshot = camera.take(bare)
    assert snapshot.commit == commit
    assert camera.text(bare, snapshot) == {"a.py": "one"}


def test_an_empty_bare_repository_is_an_input_error(tmp_path: Path, camera: Camera) -> None:
    bare = GitRepo(tmp_path / "bare.git", "--bare")
    with pytest.raises(InputError, match="HEAD"):
        camera.take(bare)


def test_a_shallow_clone_gives_the_snapshot_of_the_full_one(tmp_path: Path, camera: Camera) -> None:
    repo = GitRepo(tmp_path / "repo")
    first = repo.commit({"a.py": "one"})
    repo.commit({"a.py": "two"})
    shallow = repo.clone(tmp_path / "shallow", "--depth", "1")
    assert camera.take(shallow).id == camera.take(repo, at="HEAD").id
    with pytest.raises(InputError, match=first):
        camera.take(shallow, at=first)


def test_a_sha256_repository_has_sha256_digests(tmp_path: Path, camera: Camera) -> None:
    repo = GitRepo(tmp_path / "repo", "--object-format=sha256")
    repo.commit({"a.py": "one"})
    repo.write("b.py", "two")
    snapshot = camera.take(repo)
    assert snapshot.files == {"a.py": blob_digest(b"one", "sha256"), "b.py": blob_digest(b"two", "sha256")}
    assert camera.text(repo, snapshot) == {"a.py": "one", "b.py": "two"}


def test_links_submodules_and_odd_paths_of_a_commit_are_counted(tmp_path: Path, camera: Camera) -> None:
    repo = GitRepo(tmp_path / "repo")
    repo.write("a.py", "one")
    (repo.path / "link").symlink_to("a.py")
    Path(os.fsdecode(os.fsencode(repo.path) + b"/caf\xe9.py")).write_text("latin")
    repo.write("café.py", "utf-8")
    repo.git("add", "-A")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repo.git("commit", "-q", "-m", "all")
    snapshot = take_commit(locate(repo.path), "HEAD")
    assert set(snapshot.files) == {"a.py", "café.py"}
    assert snapshot.skipped == {"path not UTF-8": 1, "submodule": 1, "symbolic link": 1}


def test_codenibignore_of_a_commit_is_that_commits_own(tmp_path: Path, camera: Camera) -> None:
    repo = GitRepo(tmp_path / "repo")
    first = repo.commit({".codenibignore": "*.gen\n", "a.py": "a", "b.gen": "b"})
    repo.commit({".codenibignore": "a.py\n"})
    repo.write(".codenibignore", "nothing\n")
    assert set(camera.take(repo, at=first).files) == {".codenibignore", "a.py"}
    assert set(camera.take(repo, at="HEAD").files) == {".codenibignore", "b.gen"}
    assert camera.take(repo, at="HEAD").skipped == {"ignored by .codenibignore": 1}
    assert set(camera.take(repo).files) == {".codenibignore", "a.py", "b.gen"}


def test_a_folder_honours_gitignore_and_shares_digests_with_a_clone(tmp_path: Path, camera: Camera) -> None:
    place = tmp_path / "folder"
    (place / "d").mkdir(parents=True)
    for name, text in {"a.py": "one", "x.log": "log", ".gitignore": "*.log\n", "d/b.py": "two"}.items():
        (place / name).write_text(text)
    (place / "d/.gitignore").write_text("c.py\n")
    (place / "d/c.py").write_text("three")
    snapshot = camera.take(place)
    assert (snapshot.repository, snapshot.commit, snapshot.dirty) == ("folder", None, False)
    assert set(snapshot.files) == {".gitignore", "a.py", "d/.gitignore", "d/b.py"}
    assert snapshot.files["a.py"] == blob_digest(b"one")
    assert camera.text(place, snapshot)["d/b.py"] == "two"
    (place / "a.py").write_text("one more")
    (place / "d/b.py").unlink()
    assert camera.text(place, camera.take(place)) == {
        ".gitignore": "*.log\n",
        "a.py": "one more",
        "d/.gitignore": "c.py\n",
    }


def test_a_folder_skips_what_a_worktree_skips(tmp_path: Path, camera: Camera) -> None:
    place = tmp_path / "folder"
    place.mkdir()
    GitRepo(place / "nested").commit({"n.py": "n"})
    (place / "a.py").write_text("a")
    (place / "secret.py").write_text("s")
    (place / "link.py").symlink_to("a.py")
    (place / ".codenibignore").write_text("secret.py\n")
    with (place / "huge.bin").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    os.mkfifo(place / "pipe")
    snapshot = camera.take(place)
    assert set(snapshot.files) == {".codenibignore", "a.py"}
    assert snapshot.skipped == {
        "huge": 1,
        "ignored by .codenibignore": 1,
        "submodule": 1,
        "symbolic link": 1,
    }
    assert blob_digest(b"s") not in camera.store.digests()


def test_a_folder_has_no_revisions(tmp_path: Path, camera: Camera) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="not in a git repository"):
        camera.take(tmp_path / "folder", at="HEAD")


def configured(read: Callable[[], bytes | None], where: str) -> SourceSettings:
    """A file that holds the globs to leave out, a line each."""
    return SourceSettings(exclude=tuple((read() or b"").decode().split()))


def taken(camera: Camera, repo: GitRepo, at: str | None = None) -> SourceSnapshot:
    return take(locate(repo.path), camera.state(repo.path), camera.store, at, configured)


def test_configuration_of_a_commit_is_that_commits_own(tmp_path: Path, camera: Camera) -> None:
    repo = GitRepo(tmp_path / "repo")
    first = repo.commit({"codenib.toml": "*.gen", "a.py": "a", "b.gen": "b"})
    repo.commit({"codenib.toml": "a.py"})
    repo.write("codenib.toml", "*.gen codenib.toml")
    assert set(taken(camera, repo, first).files) == {"codenib.toml", "a.py"}
    assert set(taken(camera, repo, "HEAD").files) == {"codenib.toml", "b.gen"}
    now = taken(camera, repo)
    assert set(now.files) == {"a.py"}
    assert now.skipped == {"left out by codenib.toml": 2}
    assert now.dirty  # what differs is how files are read
    assert now.id != camera.take(repo).id


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_configuration_that_is_no_file_is_refused_by_name(
    tmp_path: Path, camera: Camera, kind: str
) -> None:
    repo = GitRepo(tmp_path / "repo")
    repo.commit({"a.py": "a"})
    file = repo.path / "codenib.toml"
    if kind == "link":
        file.symlink_to("/etc/hostname")
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.mkdir()
    with pytest.raises(InputError, match=r"codenib.toml is not read, as it is "):
        taken(camera, repo)
    if kind == "link":
        repo.commit()
        with pytest.raises(InputError, match=r"codenib.toml is not read, as it is symbolic link"):
            taken(camera, repo, "HEAD")
