from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import ProviderError
from codenib.core.history import Commit, FileChange, Hunk
from codenib.snapshot.blobs import blob_digest
from codenib.snapshot.history import CommitLog
from codenib.snapshot.repository import locate

Make = Callable[..., GitRepo]


def log_of(repo: GitRepo) -> CommitLog:
    return CommitLog(locate(repo.path))


def short(text: str) -> int:
    return int(blob_digest(text.encode())[:16], 16)


def one(repo: GitRepo, commit: str) -> Commit:
    (found,) = log_of(repo).read([commit])
    return found


def test_a_commit_has_its_message_author_and_hunks(git_repo: Make) -> None:
    repo = git_repo()
    repo.commit({"a.txt": "1\n2\n3\n4\n"})
    commit = one(repo, repo.commit({"a.txt": "1\nzwei\n3\n4\n5\n"}, "Subject\n\nBody\n\nmore\n\n"))
    assert (commit.author, commit.message, commit.parents) == ("Test", "Subject\n\nBody\n\nmore", 1)
    (change,) = commit.changes
    before, after = short("1\n2\n3\n4\n"), short("1\nzwei\n3\n4\n5\n")
    assert change == FileChange("a.txt", "a.txt", before, after, (Hunk(2, 1, 2, 1), Hunk(4, 0, 5, 1)))


def test_the_first_commit_creates_its_files(git_repo: Make) -> None:
    repo = git_repo()
    commit = one(repo, repo.commit({"a.txt": "1\n2\n", "empty": ""}))
    assert commit.parents == 0
    assert [(change.path, change.old_blob, change.hunks) for change in commit.changes] == [
        ("a.txt", 0, ((0, 0, 1, 2),)),
        ("empty", 0, ()),
    ]


def test_a_rename_keeps_its_old_path_and_a_deletion_has_no_new_blob(git_repo: Make) -> None:
    repo = git_repo()
    repo.commit({"old.py": "".join(f"line {n}\n" for n in range(20)), "gone": "x\n"})
    repo.git("mv", "old.py", "new.py")
    repo.remove("gone")
    gone, moved = one(repo, repo.commit()).changes
    assert (gone.path, gone.new_blob) == ("gone", 0)
    assert (moved.path, moved.old_path, moved.hunks) == ("new.py", "old.py", ())
    assert moved.old_blob == moved.new_blob


@pytest.mark.parametrize(
    "name", ['quo"te.py', "tab\there.py", "new\nline.py", "back\\slash.py", "straße.py", "a b"]
)
def test_odd_names_come_through(git_repo: Make, name: str) -> None:
    repo = git_repo()
    assert [change.path for change in one(repo, repo.commit({name: "x\n"})).changes] == [name]


def test_lines_that_look_like_a_patch_are_text(git_repo: Make) -> None:
    repo = git_repo()
    text = "@@ -1,2 +3,4 @@\ndiff --git a/x b/x\n:100644 100644 1 2 M\tx\n-- a\n++ b\nend\x00\x00\n"
    text = "pad\n" * 3000 + text  # past the bytes that git looks at to call a file binary
    commit = one(repo, repo.commit({"a.txt": text, "b.txt": "x\n"}, "@@ -1 +1 @@\ndiff --git a b"))
    assert commit.message == "@@ -1 +1 @@\ndiff --git a b"
    assert [(change.path, len(change.hunks)) for change in commit.changes] == [("a.txt", 1), ("b.txt", 1)]


def test_a_binary_file_has_no_hunks_and_a_submodule_is_no_file(git_repo: Make) -> None:
    repo = git_repo()
    inner = git_repo("inner")
    inner.commit({"x": "1\n"})
    repo.commit({"logo": "\0\1"})
    repo.write("logo", b"\0\2")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub")
    changes = one(repo, repo.commit()).changes
    assert [(change.path, bool(change.hunks)) for change in changes] == [
        (".gitmodules", True),
        ("logo", False),
    ]


def test_a_change_of_type_does_not_shift_the_others(git_repo: Make) -> None:
    repo = git_repo()
    repo.commit({"a": "1\n", "b": "1\n", "c": "1\n"})
    repo.remove("b")
    (repo.path / "b").symlink_to("a")
    changes = one(repo, repo.commit({"a": "1\n2\n", "c": "0\n1\n"})).changes
    assert [(change.path, change.hunks) for change in changes] == [
        ("a", ((1, 0, 2, 1),)),
        ("b", ()),
        ("c", ((0, 0, 1, 1),)),
    ]


def test_a_merge_has_changes_only_where_it_equals_no_parent(git_repo: Make) -> None:
    repo = git_repo()
    lines = [f"{n}\n" for n in range(1, 21)]
    repo.commit({"both": "".join(lines), "ours": "1\n", "theirs": "1\n"})
    repo.branch("side")
    repo.commit({"both": "".join(["new\n", *lines]), "theirs": "2\n"})
    repo.switch("main")
    repo.commit({"both": "".join([*lines[:10], *lines[12:]]), "ours": "2\n"})
    assert repo.merge("side")
    merge = one(repo, repo.head())
    assert merge.parents == 2
    assert [(change.path, change.hunks) for change in merge.changes] == [
        ("both", ((0, 0, 1, 1),)),
        ("both", ((12, 2, 11, 0),)),
    ]


def test_attributes_and_settings_do_not_decide_diffs(git_repo: Make) -> None:
    repo = git_repo()
    repo.commit({"a.py": "1\n2\n", "old": "".join(f"{n}\n" for n in range(9))})
    repo.git("mv", "old", "new")
    commit = repo.commit({"a.py": "1\n3\n"})
    before = one(repo, commit)
    repo.write(".gitattributes", "*.py binary\n")
    for setting in ("diff.noprefix=true", "diff.renames=false", "diff.context=9", "color.ui=always"):
        repo.git("config", *setting.split("="))
    assert one(repo, commit) == before


def test_listing_holds_only_what_leads_to_the_commit(git_repo: Make) -> None:
    repo = git_repo()
    first, second, third = (repo.commit({"a": f"{n}\n"}) for n in range(3))
    listed = log_of(repo).listing(second)
    assert [commit.id for commit in listed] == [first, second]
    assert listed[1].parents == (first,)
    gone, new = log_of(repo).between(third, second)
    assert (gone, new) == ({third}, [])
    gone, new = log_of(repo).between(first, third)
    assert (gone, [commit.id for commit in new]) == (set(), [second, third])


def test_a_shallow_clone_has_a_boundary_without_changes(git_repo: Make, tmp_path: Path) -> None:
    repo = git_repo()
    for n in range(4):
        repo.commit({"a": f"{n}\n"})
    assert log_of(repo).boundary() == ""
    clone = repo.clone(tmp_path / "clone", "--depth", "2")
    log = log_of(clone)
    assert log.boundary()
    listed = log.listing(clone.head())
    assert len(listed) == 2
    assert [len(commit.changes) for commit in log.read([commit.id for commit in listed])] == [0, 1]


def test_commits_whose_objects_are_missing_are_lacking_and_nothing_is_fetched(
    git_repo: Make, tmp_path: Path
) -> None:
    repo = git_repo()
    for n in range(4):
        repo.commit({"a": f"{n}\n", "b": "same\n"}, f"message {n}")
    repo.branch("side")
    repo.commit({"c": "1\n"}, "on the side")
    repo.switch("main")
    repo.commit({"d": "1\n"}, "on main")
    assert repo.merge("side")
    repo.git("config", "uploadpack.allowFilter", "true")
    for kind in ("blob:none", "tree:0"):
        clone = repo.clone(tmp_path / kind.replace(":", "-"), f"--filter={kind}")
        before = sorted((clone.path / ".git" / "objects").rglob("*"))
        log = log_of(clone)
        commits = list(log.read([commit.id for commit in log.listing(clone.head())]))
        assert [commit.message for commit in commits[:4]] == [f"message {n}" for n in range(4)]
        assert all(commit.lacking and not commit.changes for commit in commits[:4])
        assert sorted((clone.path / ".git" / "objects").rglob("*")) == before


def test_one_missing_blob_costs_its_commits_alone(git_repo: Make) -> None:
    repo = git_repo()
    ids = [repo.commit({"a": f"{n}\n", f"b{n}": f"b {n}\n"}) for n in range(6)]
    lost = blob_digest(b"b 2\n")
    (repo.path / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    commits = list(log_of(repo).read(ids))
    assert [commit.id for commit in commits if commit.lacking] == [ids[2]]
    assert [len(commit.changes) for commit in commits] == [2, 2, 0, 2, 2, 2]


def test_an_absurd_date_is_the_last_one_that_a_calendar_has(git_repo: Make) -> None:
    repo = git_repo()
    repo.commit({"a": "1\n"})
    tree = repo.git("rev-parse", "HEAD^{tree}")
    raw = f"tree {tree}\nauthor A <a@b> 99999999999999999999999 +0000\n"
    raw += "committer A <a@b> 18446744073709551614 +0000\n\nlate\n"
    file = repo.path / ".git" / "raw"
    file.write_text(raw)
    commit = repo.git("hash-object", "-w", "-t", "commit", "--literally", str(file))
    found = one(repo, commit)
    assert datetime.fromtimestamp(found.authored, UTC).year <= 9999
    assert datetime.fromtimestamp(found.committed, UTC).year <= 9999
    assert log_of(repo).listing(commit)[0].committed == found.committed


def test_a_file_of_a_commit(git_repo: Make) -> None:
    repo = git_repo()
    first = repo.commit({"dir/a": "1\n"})
    repo.commit({"dir/a": "2\n"})
    log = log_of(repo)
    assert log.file_at(first, "dir/a") == (blob_digest(b"1\n"), b"1\n")
    assert log.file_at(first, "dir") is None
    assert log.file_at(first, "none") is None


def test_an_unknown_commit_is_an_error(git_repo: Make) -> None:
    repo = git_repo()
    repo.commit({"a": "1\n"})
    with pytest.raises(ProviderError):
        log_of(repo).listing("0" * 40)


def test_a_linked_worktree_and_a_bare_repository_have_the_same_past(git_repo: Make, tmp_path: Path) -> None:
    repo = git_repo()
    head = repo.commit({"a": "1\n"})
    linked = repo.worktree(tmp_path / "linked")
    bare = GitRepo(repo.clone(tmp_path / "bare.git", "--bare").path)
    assert one(linked, head) == one(bare, head) == one(repo, head)
