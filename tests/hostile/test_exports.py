"""No name in a git tree, and no link in a checkout, makes us write outside the folder of an export."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.hostile.trees import EVIL_NAMES, evil_commit

from codenib.compiler.checkouts import Checkout, exported
from codenib.core.errors import StateError
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.repository import locate
from codenib.snapshot.take import take_commit


@pytest.mark.parametrize("bare", [False, True], ids=["clone", "bare"])
@pytest.mark.parametrize("name", EVIL_NAMES)
def test_an_export_writes_below_its_folder_alone(tmp_path: Path, name: str, bare: bool) -> None:
    origin = GitRepo(tmp_path / "own" / "origin")
    victim = tmp_path / "victim"
    victim.mkdir()
    evil_commit(origin, name, victim)
    repository = locate(origin.path / ".git" if bare else origin.path)
    snapshot = take_commit(repository, "evil")
    skipped = sum(snapshot.skipped.values())
    assert skipped == 1 and "good.c" in snapshot.files
    source = BlobSource.of(repository, tmp_path / "home" / "blobs.sqlite")
    before = outside(tmp_path)
    with exported(snapshot, source, repository, tmp_path / "home" / "checkouts") as root:
        assert outside(tmp_path) == before
        assert sorted(path.name for path in root.rglob("*")) == sorted(path for path in snapshot.files)
    assert not Path("/tmp/codenib-hostile-outside.c").exists()


def test_a_snapshot_with_a_path_outside_is_not_exported(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "own")
    repo.commit({"a.c": "x"})
    repository = locate(repo.path)
    source = BlobSource.of(repository, tmp_path / "home" / "blobs.sqlite")
    with closing(Checkout(source, repository, tmp_path / "home")) as checkout, pytest.raises(StateError):
        checkout.move({"../../outside.c": repo.git("rev-parse", "HEAD:a.c")})
    assert outside(tmp_path) == []


def test_what_was_ignored_and_is_tracked_now_is_not_written_through_its_link(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "own")
    first = repo.commit({"a.c": "int a;\n", ".gitignore": "build/\nlocal.c\n"})
    repo.write("build/made.c", "the user's\n")
    repo.write("local.c", "the user's\n")
    repository = locate(repo.path)
    source = BlobSource.of(repository, tmp_path / "home" / "blobs.sqlite")
    with closing(Checkout(source, repository, tmp_path / "home")) as checkout:
        checkout.move(take_commit(repository, first).files)
        checkout.link(take_commit(repository, first))
        assert (checkout.root / "build").is_symlink() and (checkout.root / "local.c").is_symlink()
        digest = repo.git("rev-parse", "HEAD:a.c")
        checkout.move({"build/made.c": digest, "local.c": digest})
        assert (checkout.root / "build/made.c").read_text() == "int a;\n"
    assert (repo.path / "build/made.c").read_text() == (repo.path / "local.c").read_text() == "the user's\n"


def outside(top: Path) -> list[Path]:
    """Every file that is not of the repository, nor of our home."""
    own = (top / "own", top / "home")
    return [path for path in sorted(top.rglob("*")) if not any(path.is_relative_to(folder) for folder in own)]
