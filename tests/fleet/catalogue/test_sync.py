"""Mirrors follow their sources; a source that fails costs nothing that was fetched before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import EntryOptions, RepositoryEntry, entry_of
from codenib.fleet.catalogue.state import read_state
from codenib.fleet.catalogue.sync import HeadMove, is_due, local_heads, sync_all, sync_repository


def _added(
    source: str, branches: Sequence[str] = (), *, mirror: bool = True
) -> tuple[Catalogue, RepositoryEntry]:
    entry = entry_of(source, EntryOptions(branches=tuple(branches), mirror=mirror, schedule="1h"), "team/app")
    return Catalogue.open().add([entry]), entry


def test_a_mirror_has_the_default_branch_and_follows_it(git_repo: Callable[..., GitRepo]) -> None:
    source = git_repo("source")
    first = source.commit({"a.py": "a = 1\n"})
    source.branch("topic")
    source.switch("main")
    catalogue, entry = _added(str(source.path))

    assert sync_repository(catalogue, entry).moved == (HeadMove("main", "", first),)
    second = source.commit({"a.py": "a = 2\n"})
    assert sync_repository(catalogue, entry).moved == (HeadMove("main", first, second),)
    source.git("reset", "-q", "--hard", first)
    assert sync_repository(catalogue, entry).moved == (HeadMove("main", second, first),)
    assert sync_repository(catalogue, entry).moved == ()

    mirror = GitRepo(catalogue.mirror_of(entry))
    assert mirror.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert mirror.git("show", "HEAD:a.py") == "a = 1"


def test_branches_are_chosen_by_glob_and_dropped_when_they_are_gone(git_repo: Callable[..., GitRepo]) -> None:
    source = git_repo("source")
    first = source.commit({"a.py": "a = 1\n"})
    for name in ("release/1", "release/2", "topic"):
        source.git("branch", name)
    catalogue, entry = _added(str(source.path), ["release/*"])
    sync_repository(catalogue, entry)
    assert local_heads(catalogue.mirror_of(entry))[0] == {"release/1": first, "release/2": first}

    source.git("branch", "-D", "release/1")
    source.git("branch", "release/1/fixes")  # needs a folder where the branch is a file

    outcome = sync_repository(catalogue, entry)
    moved = outcome.moved
    assert outcome.error == ""
    assert {(move.branch, move.after) for move in moved} == {("release/1", ""), ("release/1/fixes", first)}
    assert set(local_heads(catalogue.mirror_of(entry))[0]) == {"release/1/fixes", "release/2"}


def test_a_default_branch_of_another_name_becomes_head(git_repo: Callable[..., GitRepo]) -> None:
    source = git_repo("source")
    source.commit({"a.py": "a = 1\n"})
    catalogue, entry = _added(str(source.path))
    sync_repository(catalogue, entry)
    source.git("branch", "-m", "main", "trunk")

    moved = sync_repository(catalogue, entry).moved

    assert [(move.branch, bool(move.after)) for move in moved] == [("main", False), ("trunk", True)]
    assert local_heads(catalogue.mirror_of(entry))[1] == "trunk"


def test_a_source_that_vanished_keeps_its_last_state_and_says_so(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    source = git_repo("source")
    first = source.commit({"a.py": "a = 1\n"})
    catalogue, entry = _added(f"file://{source.path}")
    sync_repository(catalogue, entry)
    source.path.rename(tmp_path / "moved")

    outcome = sync_repository(catalogue, entry)

    assert outcome.state == "gone" and outcome.moved == ()
    assert "its last state stays" in outcome.error
    assert outcome.repeat == "codenib fleet sync --repos team/app"
    state = read_state(catalogue.state_file(entry))
    assert state.gone and state.heads == {"main": first} and 0 < state.synced < state.tried
    assert local_heads(catalogue.mirror_of(entry))[0] == {"main": first}
    (tmp_path / "moved").rename(source.path)
    assert sync_repository(catalogue, entry).state == "fresh"
    assert not read_state(catalogue.state_file(entry)).gone


def test_one_that_fails_takes_no_other_with_it(git_repo: Callable[..., GitRepo]) -> None:
    source = git_repo("source")
    source.commit({"a.py": "a = 1\n"})
    good = entry_of(str(source.path), EntryOptions(mirror=True), "good")
    no_branch = entry_of(str(source.path), EntryOptions(mirror=True, branches=("nothing",)), "no-branch")
    unreachable = entry_of("https://localhost:1/a/b", EntryOptions())
    catalogue = Catalogue.open().add([good, no_branch, unreachable])

    states = {each.name: each for each in sync_all(catalogue, catalogue.entries)}

    assert {name: each.state for name, each in states.items()} == {
        "good": "fresh", "no-branch": "failed", "a/b": "failed"
    }  # fmt: skip
    assert "no branch is called nothing" in states["no-branch"].error


def test_a_clone_in_place_is_read_and_not_written(git_repo: Callable[..., GitRepo]) -> None:
    source = git_repo("source")
    first = source.commit({"a.py": "a = 1\n"})
    source.write("a.py", "a = 2\n")  # not committed: the fleet has commits
    before = source.git("status", "--porcelain")
    catalogue, entry = _added(str(source.path), mirror=False)

    assert sync_repository(catalogue, entry).moved == (HeadMove("main", "", first),)
    assert source.git("status", "--porcelain") == before
    source.git("switch", "-q", "--detach", "--force")
    assert {move.branch for move in sync_repository(catalogue, entry).moved} == {"main", "HEAD"}


def test_no_hook_of_the_source_and_no_transport_that_runs_a_program(
    git_repo: Callable[..., GitRepo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = git_repo("source")
    source.commit({"a.py": "a = 1\n"})
    marker = tmp_path / "ran"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.ext::sh -c 'touch {marker}' .insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"file://{source.path}")
    catalogue, entry = _added(f"file://{source.path}")

    outcome = sync_repository(catalogue, entry)

    assert outcome.state == "failed" and "'ext' not allowed" in outcome.error
    assert not marker.exists()


def test_a_schedule_says_when_a_repository_is_due(git_repo: Callable[..., GitRepo]) -> None:
    source = git_repo("source")
    source.commit({"a.py": "a = 1\n"})
    catalogue, entry = _added(str(source.path))
    assert is_due(catalogue, entry, now=4000.0)
    sync_repository(catalogue, entry)
    tried = read_state(catalogue.state_file(entry)).tried
    assert not is_due(catalogue, entry, now=tried + 3599)
    assert is_due(catalogue, entry, now=tried + 3600)


def test_an_empty_source_is_fresh_and_has_nothing(git_repo: Callable[..., GitRepo]) -> None:
    catalogue, entry = _added(str(git_repo("source").path))
    outcome = sync_repository(catalogue, entry)
    assert (outcome.state, outcome.moved) == ("fresh", ())
