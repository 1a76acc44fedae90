"""Worktrees with edits in, snapshots out; the user's .git stays as it was."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.snapshot.conftest import Camera

from codenib.snapshot.blobs import MAX_BYTES, LocalBlobs, blob_digest
from codenib.snapshot.repository import locate
from codenib.snapshot.take import take_worktree


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "repo")
    repo.commit({"a.py": "a\n", "b.py": "b\n", "d/c.py": "c\n", ".gitignore": "*.log\n"})
    return repo


def test_a_clean_worktree_is_its_head_commit(repo: GitRepo, camera: Camera) -> None:
    (repo.path / "link").symlink_to("a.py")
    repo.commit()
    repo.write("x.log", "ignored")
    now, head = camera.take(repo), camera.take(repo, at="HEAD")
    assert now == head
    assert now.id == head.id
    assert camera.store.digests() == set()


def test_dirty_staged_untracked_deleted_and_renamed_files_are_as_on_disk(
    repo: GitRepo, camera: Camera
) -> None:
    repo.write("a.py", "edited\n")
    repo.write("b.py", "staged\n")
    repo.git("add", "b.py")
    repo.write("b.py", "staged, then edited\n")
    repo.git("mv", "d/c.py", "d/moved.py")
    repo.write("new/deep/n.py", "untracked\n")
    repo.write("staged.py", "only staged\n")
    repo.git("add", "staged.py")
    repo.write("intent.py", "intent\n")
    repo.git("add", "-N", "intent.py")
    repo.remove(".gitignore")
    snapshot = camera.take(repo)
    assert snapshot.commit == repo.head()
    assert snapshot.dirty
    assert camera.text(repo, snapshot) == {
        "a.py": "edited\n",
        "b.py": "staged, then edited\n",
        "d/moved.py": "c\n",
        "intent.py": "intent\n",
        "new/deep/n.py": "untracked\n",
        "staged.py": "only staged\n",
    }


def test_each_kind_of_edit_alone_makes_it_dirty(repo: GitRepo, camera: Camera) -> None:
    repo.write("n.py", "n")
    assert camera.take(repo).dirty
    repo.git("add", "n.py")
    assert camera.take(repo).dirty
    repo.commit()
    assert not camera.take(repo).dirty
    repo.remove("n.py")
    assert camera.take(repo).dirty
    repo.git("rm", "-q", "n.py")
    assert camera.take(repo).dirty
    repo.git("reset", "-q", "--hard")
    assert not camera.take(repo).dirty
    repo.git("rm", "-q", "--cached", "n.py")  # still on disk, with the content of HEAD
    assert not camera.take(repo).dirty
    assert camera.take(repo).id == camera.take(repo, at="HEAD").id


def test_a_file_keeps_its_digest_when_it_is_committed(repo: GitRepo, camera: Camera) -> None:
    repo.write("n.py", "new\n")
    before = camera.take(repo)
    repo.commit()
    after = camera.take(repo)
    assert after.files == before.files
    assert (before.dirty, after.dirty) == (True, False)


def test_edits_of_equal_length_right_after_a_snapshot_are_seen(repo: GitRepo, camera: Camera) -> None:
    for number in range(20):
        repo.write("a.py", f"{number:04}")
        repo.write("untracked.py", f"{number:05}")
        text = camera.text(repo, camera.take(repo))
        assert (text["a.py"], text["untracked.py"]) == (f"{number:04}", f"{number:05}")


def test_an_edit_of_equal_length_right_after_a_commit_is_seen(repo: GitRepo, camera: Camera) -> None:
    for number in range(10):
        repo.commit({"a.py": f"commit {number}"})
        repo.write("a.py", f"edited {number}")
        assert camera.text(repo, camera.take(repo))["a.py"] == f"edited {number}"


def test_takers_at_the_same_time_agree(repo: GitRepo, camera: Camera) -> None:
    repo.write("n.py", "n")
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: camera.take(repo), range(12)))
    assert taken == [camera.take(repo)] * 12


def test_the_users_git_folder_is_untouched(repo: GitRepo, camera: Camera) -> None:
    def state() -> dict[str, tuple[bytes, int]]:
        files = sorted(path for path in (repo.path / ".git").rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    os.utime(repo.path / "a.py", (1, 1))  # makes every git status want to refresh the index
    repo.write("b.py", "edited")
    before = state()
    camera.take(repo)
    camera.take(repo)
    assert state() == before


def test_no_hook_of_the_repository_runs(repo: GitRepo, camera: Camera, tmp_path: Path) -> None:
    hook = repo.write(".git/hooks/post-index-change", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    os.utime(repo.path / "a.py", (1, 1))
    camera.take(repo)
    assert not (tmp_path / "ran").exists()


def test_a_copied_worktree_is_hashed_once(repo: GitRepo, camera: Camera, tmp_path: Path) -> None:
    shutil.copytree(repo.path, tmp_path / "copy")
    copy = GitRepo(tmp_path / "copy")
    for name in ("a.py", "b.py", "d/c.py", ".gitignore"):
        os.utime(copy.path / name, (1_000_000_000, 1_000_000_000))
    assert camera.take(copy).id == camera.take(repo).id
    (private,) = camera.state(copy.path).glob("index-*")
    refreshed = private.read_bytes()
    assert refreshed != (copy.path / ".git/index").read_bytes()
    assert camera.take(copy).id == camera.take(repo).id
    assert private.read_bytes() == refreshed


def test_unchanged_dirty_files_are_not_read_again(repo: GitRepo, camera: Camera) -> None:
    file = repo.write("n.py", "first")
    os.utime(file, (1, 1))
    cache = camera.state(repo.path) / "stats.msgpack"
    for _ in range(1000):  # until its ctime is old enough to be trusted
        camera.take(repo)
        if cache.exists() and b"n.py" in cache.read_bytes():
            break
    written = cache.stat().st_mtime_ns
    snapshot = camera.take(repo)
    assert cache.stat().st_mtime_ns == written
    assert snapshot.files["n.py"] == blob_digest(b"first")
    camera.store.delete(camera.store.digests())
    assert camera.text(repo, camera.take(repo))["n.py"] == "first"


def test_the_index_of_a_new_commit_is_noticed(repo: GitRepo, camera: Camera) -> None:
    camera.take(repo)
    repo.commit({"n.py": "n"})
    assert camera.take(repo).id == camera.take(repo, at="HEAD").id
    repo.branch("other")
    repo.commit({"a.py": "other"})
    repo.switch("main")
    assert camera.take(repo).id == camera.take(repo, at="main").id
    assert len(list(camera.state(repo.path).glob("index-*"))) == 1


def test_a_damaged_private_index_and_a_stale_lock_are_repaired(repo: GitRepo, camera: Camera) -> None:
    expected = camera.take(repo)
    (private,) = camera.state(repo.path).glob("index-*")
    private.write_bytes(b"DIRC damaged")
    private.with_name(f"{private.name}.lock").touch()
    (camera.state(repo.path) / "stats.msgpack").write_bytes(b"\xc1")
    assert camera.take(repo) == expected


def test_an_unborn_branch_has_untracked_and_staged_files(tmp_path: Path, camera: Camera) -> None:
    repo = GitRepo(tmp_path / "empty")
    assert (camera.take(repo).commit, camera.take(repo).files, camera.take(repo).dirty) == (None, {}, False)
    repo.write("a.py", "a")
    repo.write("b.py", "b")
    repo.git("add", "b.py")
    snapshot = camera.take(repo)
    assert (snapshot.commit, snapshot.dirty) == (None, True)
    assert camera.text(repo, snapshot) == {"a.py": "a", "b.py": "b"}


def test_a_missing_index_means_that_all_is_untracked(repo: GitRepo, camera: Camera) -> None:
    camera.take(repo)
    (repo.path / ".git/index").unlink()
    assert camera.take(repo).id == camera.take(repo, at="HEAD").id


def test_linked_worktrees_have_their_own_edits(repo: GitRepo, camera: Camera, tmp_path: Path) -> None:
    linked = repo.worktree(tmp_path / "linked", "-b", "side")
    linked.write("a.py", "linked\n")
    assert camera.text(linked, camera.take(linked))["a.py"] == "linked\n"
    assert not camera.take(repo).dirty
    assert camera.take(repo.path / "d") == camera.take(repo)


def test_a_conflict_gives_the_file_on_disk(repo: GitRepo, camera: Camera) -> None:
    repo.branch("side")
    repo.commit({"a.py": "theirs\n"})
    repo.switch("main")
    repo.commit({"a.py": "ours\n"})
    assert not repo.merge("side")
    snapshot = camera.take(repo)
    assert snapshot.dirty
    assert "<<<<<<<" in camera.text(repo, snapshot)["a.py"]
    repo.remove("a.py")
    assert "a.py" not in camera.take(repo).files
    assert camera.take(repo).dirty


def test_submodules_and_nested_repositories_are_counted(
    repo: GitRepo, camera: Camera, tmp_path: Path
) -> None:
    inner = GitRepo(tmp_path / "inner")
    inner.commit({"i.py": "i"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub")
    repo.commit()
    assert camera.take(repo).skipped == {"submodule": 1}
    assert camera.take(repo).id == camera.take(repo, at="HEAD").id
    repo.write("sub/i.py", "edited inside")
    GitRepo(repo.path / "nested").commit({"n.py": "n"})
    snapshot = camera.take(repo)
    assert not any(path.startswith(("sub/", "nested")) for path in snapshot.files)
    assert snapshot.skipped == {"submodule": 2}


def test_no_link_leads_out_of_the_repository(repo: GitRepo, camera: Camera, tmp_path: Path) -> None:
    outside = GitRepo(tmp_path / "outside")
    outside.write("c.py", "secret\n")
    outside.write("a.py", "secret\n")
    shutil.rmtree(repo.path / "d")
    (repo.path / "d").symlink_to(outside.path)
    repo.remove("a.py")
    (repo.path / "a.py").symlink_to(outside.path / "a.py")
    (repo.path / "untracked.py").symlink_to(outside.path / "a.py")
    repo.git("update-index", "--assume-unchanged", "d/c.py", check=False)
    snapshot = camera.take(repo)
    assert set(snapshot.files) == {"b.py", ".gitignore"}
    assert snapshot.skipped == {"symbolic link": 3}
    assert camera.store.digests() == set()


def test_files_that_git_does_not_watch_are_read_from_disk(repo: GitRepo, camera: Camera) -> None:
    repo.git("update-index", "--assume-unchanged", "a.py")
    repo.git("update-index", "--skip-worktree", "b.py", "d/c.py")
    assert not camera.take(repo).dirty
    repo.write("a.py", "hidden edit\n")
    repo.write("b.py", "hidden too\n")
    repo.remove("d/c.py")
    snapshot = camera.take(repo)
    assert snapshot.dirty
    assert camera.text(repo, snapshot) == {
        ".gitignore": "*.log\n",
        "a.py": "hidden edit\n",
        "b.py": "hidden too\n",
    }
    assert snapshot.skipped == {"not checked out": 1}
    repo.remove("a.py")
    assert "a.py" not in camera.take(repo).files


@pytest.mark.parametrize("option", ["--no-sparse-index", "--sparse-index"])
def test_a_sparse_checkout_has_what_is_checked_out(repo: GitRepo, camera: Camera, option: str) -> None:
    repo.commit({"out/x.py": "x", "out/deep/y.py": "y"})
    repo.git("sparse-checkout", "set", "--cone", option, "d")
    snapshot = camera.take(repo)
    assert set(snapshot.files) == {".gitignore", "a.py", "b.py", "d/c.py"}
    assert snapshot.skipped == {"not checked out": 2}
    assert not snapshot.dirty
    repo.write("out/x.py", "back")
    assert camera.text(repo, camera.take(repo))["out/x.py"] == "back"


def test_type_changes_follow_the_disk(repo: GitRepo, camera: Camera) -> None:
    (repo.path / "link").symlink_to("a.py")
    repo.commit()
    repo.remove("link")
    repo.write("link", "a file now")
    repo.remove("a.py")
    (repo.path / "a.py").symlink_to("b.py")
    repo.remove("b.py")
    repo.write("b.py/inner.py", "a folder now")
    shutil.rmtree(repo.path / "d")
    repo.write("d", "no folder now")
    snapshot = camera.take(repo)
    assert camera.text(repo, snapshot) == {
        ".gitignore": "*.log\n",
        "b.py/inner.py": "a folder now",
        "d": "no folder now",
        "link": "a file now",
    }
    assert snapshot.skipped == {"symbolic link": 1}


def test_a_pipe_is_never_opened(repo: GitRepo, camera: Camera) -> None:
    os.mkfifo(repo.path / "pipe")
    repo.remove("a.py")
    os.mkfifo(repo.path / "a.py")
    assert set(camera.take(repo).files) == {".gitignore", "b.py", "d/c.py"}


def test_huge_files_are_counted_and_not_read(repo: GitRepo, camera: Camera) -> None:
    for name in ("a.py", "n.bin"):
        with (repo.path / name).open("wb") as file:
            file.truncate(MAX_BYTES + 1)
    with (repo.path / "large.bin").open("wb") as file:
        file.truncate(MAX_BYTES)
    snapshot = camera.take(repo)
    assert snapshot.skipped == {"huge": 2}
    assert set(snapshot.files) == {".gitignore", "b.py", "d/c.py", "large.bin"}


def test_paths_that_are_not_utf8_are_counted(repo: GitRepo, camera: Camera) -> None:
    odd = os.fsdecode(os.fsencode(repo.path) + b"/caf\xe9.py")
    Path(odd).write_text("latin")
    repo.write("café ünï .py", "utf-8")
    snapshot = camera.take(repo)
    assert "café ünï .py" in snapshot.files
    assert snapshot.skipped == {"path not UTF-8": 1}
    repo.commit()
    assert camera.take(repo).id == camera.take(repo, at="HEAD").id
    Path(odd).write_text("changed")
    assert camera.take(repo).skipped == {"path not UTF-8": 1}
    Path(odd).unlink()
    assert camera.take(repo).skipped == {}


def test_line_endings_of_a_clean_file_are_those_of_the_commit(repo: GitRepo, camera: Camera) -> None:
    repo.commit({".gitattributes": "*.txt text eol=crlf\n", "t.txt": "one\ntwo\n"})
    repo.remove("t.txt")
    repo.git("checkout", "t.txt")
    assert (repo.path / "t.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert camera.take(repo).id == camera.take(repo, at="HEAD").id
    repo.write("t.txt", "one\r\nthree\r\n")
    assert camera.text(repo, camera.take(repo))["t.txt"] == "one\r\nthree\r\n"


def test_codenibignore_covers_tracked_and_untracked_files(repo: GitRepo, camera: Camera) -> None:
    repo.write(".codenibignore", "/d/\n*.gen\n!keep.gen\n")
    repo.write("x.gen", "x")
    repo.write("keep.gen", "keep")
    snapshot = camera.take(repo)
    assert set(snapshot.files) == {".codenibignore", ".gitignore", "a.py", "b.py", "keep.gen"}
    assert snapshot.skipped == {"ignored by .codenibignore": 2}
    assert blob_digest(b"x") not in camera.store.digests()
    repo.commit()
    assert camera.take(repo).id == camera.take(repo, at="HEAD").id
    repo.write("x.gen", "edited, but not part of any snapshot")
    assert not camera.take(repo).dirty


def test_a_change_of_mode_alone_is_no_change_of_files(repo: GitRepo, camera: Camera) -> None:
    (repo.path / "a.py").chmod(0o755)
    assert camera.take(repo).id == camera.take(repo, at="HEAD").id
    assert not camera.take(repo).dirty


@contextmanager
def someone_else() -> Iterator[None]:
    """Root reads everything, so a test of permissions runs as nobody."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_an_unreadable_file_is_counted() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        place = Path(folder)
        place.chmod(0o777)
        repo = GitRepo(place / "repo")
        repo.commit({"a.py": "a", "b.py": "b"})
        for name in ("a.py", "n.py"):
            repo.write(name, "now unreadable").chmod(0)
        found = locate(repo.path)
        with someone_else(), closing(LocalBlobs(place / "blobs.db")) as store:
            snapshot = take_worktree(found, place / "state", store)
    assert set(snapshot.files) == {"b.py"}
    assert snapshot.skipped == {"unreadable": 2}


def test_the_environment_of_a_hook_does_not_mislead(
    repo: GitRepo, camera: Camera, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("n.py", "n")
    expected = camera.take(repo)
    other = GitRepo(tmp_path / "other")
    other.commit({"o.py": "o"})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.path / ".git/objects"))
    assert camera.take(repo) == expected
    assert camera.text(repo, expected)["n.py"] == "n"
