"""No program of a repository's git configuration runs, and no module of the current folder is imported."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.hostile.git_settings import HOSTILE_SETTINGS, hostile_repository

from codenib.adapters.mcp.clients.checks import examine_mcp
from codenib.compiler.checkouts import ignored_paths
from codenib.core.errors import InputError, ProviderError
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.history import CommitLog
from codenib.snapshot.repository import locate
from codenib.snapshot.store import LocalBlobs
from codenib.snapshot.take import take


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
