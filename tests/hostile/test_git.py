"""No program of a repository's git configuration runs, and no module of the current folder is imported."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.hostile.git_settings import HOSTILE_SETTINGS, hostile_repository
from tests.hostile.trees import raw_tree

from codenib.adapters.mcp.clients.checks import examine_mcp
from codenib.compiler.checkouts import ignored_paths
from codenib.core.errors import InputError, ProviderError
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.history import CommitLog
from codenib.snapshot.repository import locate
from codenib.snapshot.store import LocalBlobs
from codenib.snapshot.take import take, take_commit


@pytest.mark.parametrize("case", HOSTILE_SETTINGS)
def test_no_program_of_a_configuration_runs(tmp_path: Path, case: str) -> None:
    victim = tmp_path / "victim"
    repo = hostile_repository(tmp_path / "own", victim, HOSTILE_SETTINGS[case])
    ask_everything(repo.path, tmp_path / "home")
    assert not (victim / "ran").exists()


def test_changed_files_are_still_told_from_others(tmp_path: Path) -> None:
    repo = hostile_repository(tmp_path / "own", tmp_path / "victim", HOSTILE_SETTINGS["filter process"])
    repo.write("gone.c", "int gone;\n")  # written again, the same
    store = LocalBlobs(tmp_path / "blobs.sqlite")
    snapshot = take(locate(repo.path), tmp_path / "state", store)
    changed = {
        path for path, digest in snapshot.files.items() if digest != repo.git("rev-parse", f"HEAD:{path}")
    }
    assert changed == {"a.c", "b.txt"}
    store.close()


def test_a_filter_of_the_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each file of Git LFS whose times changed would count as changed."""
    repo = GitRepo(tmp_path / "own")
    repo.git("config", "filter.up.clean", "false")
    user = tmp_path / "user.gitconfig"
    user.write_text('[filter "up"]\n\tclean = "tr a-z A-Z"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(user))
    (tmp_path / "clean").write_text("HELLO\n")
    blob = repo.git("hash-object", "-w", str(tmp_path / "clean"))
    repo.write(".gitattributes", "*.txt filter=up\n")
    repo.write("a.txt", "hello\n")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},a.txt")
    repo.git("add", ".gitattributes")
    repo.git("commit", "-q", "-m", "one")
    store = LocalBlobs(tmp_path / "blobs.sqlite")
    assert take(locate(repo.path), tmp_path / "state", store).files["a.txt"] == blob
    store.close()


@pytest.mark.parametrize("where", ["", "objects", "sub/folder"])
@pytest.mark.parametrize("kind", ["bare", "with a worktree", "with a common folder"])
def test_a_bare_repository_inside_a_clone_is_refused(tmp_path: Path, kind: str, where: str) -> None:
    outer = GitRepo(tmp_path / "outer")
    outer.commit({"a.c": "int a;\n"})
    settings = {"core.fsmonitor": "{program}"}
    inner = hostile_repository(
        outer.path / "fixtures" / "inner", tmp_path / "victim", settings, "--bare"
    ).path
    if kind == "with a worktree":
        GitRepo(inner).git("config", "core.bare", "false")
        GitRepo(inner).git("config", "core.worktree", ".")
    if kind == "with a common folder":
        (inner / "objects").rename(outer.path / "fixtures" / "objects")
        (inner / "refs").rename(outer.path / "fixtures" / "refs")
        (inner / "commondir").write_text("..\n")
    place = inner / where
    place.mkdir(parents=True, exist_ok=True)
    with pytest.raises(InputError, match="inside the worktree") as refusal:
        locate(place)
    assert str(outer.path) in refusal.value.hint
    assert not (tmp_path / "victim" / "ran").exists()


def test_a_worktree_elsewhere_is_an_input_error(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "own")
    repo.git("config", "core.worktree", "/")
    with pytest.raises(InputError, match=r"core\.worktree"):
        locate(repo.path)


@pytest.mark.parametrize("kind", ["file", "link", "file to a bare one"])
def test_a_git_folder_of_another_worktree_is_refused(tmp_path: Path, kind: str) -> None:
    other = GitRepo(tmp_path / "of the user")
    other.commit({"secret.c": "int secret;\n"})
    bare = other.clone(tmp_path / "bare.git", "--bare")
    (tmp_path / "own").mkdir()
    if kind == "link":
        (tmp_path / "own" / ".git").symlink_to(other.path / ".git")
    else:
        named = bare.path if "bare" in kind else other.path / ".git"
        (tmp_path / "own" / ".git").write_text(f"gitdir: {named}\n")
    with pytest.raises(InputError, match="elsewhere"):
        locate(tmp_path / "own")


def test_worktrees_submodules_and_separate_git_folders_are_taken(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "main")
    repo.commit({"a.c": "int a;\n"})
    linked = repo.worktree(tmp_path / "linked").path
    apart = tmp_path / "apart"
    repo.git("clone", "-q", f"--separate-git-dir={tmp_path}/elsewhere.git", str(repo.path), str(apart))
    outer = GitRepo(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.path), "sub")
    for root in (linked, apart, outer.path / "sub"):
        assert locate(root).root == root


def test_a_tree_with_more_paths_than_fit_is_refused(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "own")
    repo.commit({"a.c": "int a;\n"})
    tree = raw_tree(repo, ("100644", b"x.c", repo.git("rev-parse", "HEAD:a.c")))
    for _ in range(9):
        tree = raw_tree(repo, *(("40000", b"%02d" % number, tree) for number in range(12)))
    bomb = repo.git("commit-tree", tree, "-m", "bomb")
    with pytest.raises(InputError, match="too many files"):
        take_commit(locate(repo.path), bomb)


def test_the_doctor_imports_nothing_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = GitRepo(tmp_path / "own")
    for name in ("codenib", "mcp", "click", "json", "sitecustomize"):
        repo.write(f"{name}.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    repo.commit()
    monkeypatch.chdir(repo.path)
    assert "answers" in examine_mcp(str(repo.path))[0].detail
    assert not (tmp_path / "ran").exists()


def test_every_python_that_we_start_leaves_the_current_folder_out() -> None:
    """`-P`, in every command of ours that starts with this interpreter and a module."""
    source = Path(sys.modules["codenib"].__file__ or "").parent
    lines = [
        line
        for path in source.rglob("*.py")
        for line in path.read_text().splitlines()
        if "sys.executable" in line and '"-m"' in line
    ]
    assert lines and all('"-P"' in line for line in lines)


def ask_everything(path: Path, home: Path) -> None:
    """Every way in which we ask git."""
    repository = locate(path)
    store = LocalBlobs(home / "blobs.sqlite")
    snapshot = take(repository, home / "state", store)
    take(repository, home / "state", store, at="HEAD~1")
    ignored_paths(repository)
    reader = BlobSource.of(repository, home / "blobs.sqlite").open()
    list(reader.read(sorted(set(snapshot.files.values()) | {"1" * 40})))
    reader.close()
    log = CommitLog(repository)
    with suppress(ProviderError):  # where an object is missing
        list(log.read([commit.id for commit in log.listing("HEAD")]))
    log.file_at("HEAD", "a.c")
    store.close()
