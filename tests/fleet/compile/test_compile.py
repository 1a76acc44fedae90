"""A fleet compiled by processes of this machine: what is done, what is not done again, what fails."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fleet.compile.conftest import Fleet, commit_bare, git_with
from tests.gitrepo import GitRepo

import codenib
from codenib.core.errors import InputError
from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import EntryOptions, entry_of
from codenib.fleet.compile.compile import CompileRequest, FleetReport, compile_fleet, silent_progress
from codenib.fleet.compile.records import read_record, record_file
from codenib.manifest.home import home

TEXT_VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM)
TEXT = CompileRequest(views=TEXT_VIEWS)


def _compile(request: CompileRequest = TEXT) -> FleetReport:
    return compile_fleet(Catalogue.open(), request, silent_progress)


def _done(report: FleetReport) -> dict[str, set[str]]:
    return {each.name: {view.how for view in each.views.values()} for each in report.results}


def test_each_repository_is_compiled_once_and_an_edit_costs_only_its_own(fleet: Fleet) -> None:
    catalogue, repositories = fleet(3)
    first = _compile()
    assert _done(first) == {"r0": {"built"}, "r1": {"built"}, "r2": {"built"}}
    # The same bytes in all three (`b.md`) are derived once.
    assert sum(each.derived for each in first.results) == 4
    with codenib.open(repositories[1].path) as workspace:
        assert workspace.search("number_1", refresh="never").items
    assert len(list((home() / "repos").glob("*/summaries/*.msgpack"))) == 3  # no question waits for them

    second = _compile()
    assert (second.results, second.current, second.on) == ([], 3, "")

    commit = commit_bare(repositories[1], "a.py", "def another():\n    return 9\n")
    third = _compile()
    assert _done(third) == {"r1": {"maintained"}} and third.current == 2
    assert third.results[0].derived == 1 and third.results[0].commit == commit
    assert third.on == "this process"  # so little work
    cost = read_record(record_file(catalogue, catalogue.entry("r1"))).costs["text"]
    assert cost.cpu_s > 0 and cost.peak_bytes > 0


def test_nothing_is_up_to_date_because_it_was_once(fleet: Fleet) -> None:
    fleet(1)
    _compile()
    for artifact in (home() / "repos").glob("*/artifacts/trigram-*"):
        shutil.rmtree(artifact)
    again = _compile()
    assert {kind: view.how for kind, view in again.results[0].views.items()} == {ViewKind.TRIGRAM: "built"}

    # Views that were asked for once are not taken for those that configuration names.
    configured = _compile(CompileRequest())
    assert {kind for each in configured.results for kind in each.views} == {ViewKind.DENSE, ViewKind.HISTORY}
    assert _compile(CompileRequest()).results == []


def test_branches_that_are_kept_are_compiled_each(fleet: Fleet) -> None:
    catalogue, repositories = fleet(1)
    repositories[0].git("branch", "release/1")
    source = str(repositories[0].path)
    catalogue.add([entry_of(source, EntryOptions(branches=("main", "release/*")), "r0")])
    report = _compile()
    assert {each.branch for each in report.results} == {"main", "release/1"}
    assert _compile().current == 2


def test_one_that_fails_is_named_with_its_command_and_takes_no_other_with_it(
    fleet: Fleet, tmp_path: Path
) -> None:
    catalogue, repositories = fleet(2)
    catalogue.add([entry_of("https://localhost:1/team/gone", EntryOptions())])
    shutil.rmtree(repositories[0].path)

    report = _compile()

    assert _done(report) == {"r1": {"built"}}
    assert {each.name for each in report.failures} == {"r0", "team/gone"}
    (failure,) = (each for each in report.failures if each.name == "r0")
    assert failure.repeat == "codenib fleet index --repos r0 --views lexical,trigram"
    assert "does not exist" in failure.error


def test_a_killed_worker_is_replaced_and_only_its_unfinished_work_is_repeated(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet(3)
    monkeypatch.setenv("PATH", git_with(tmp_path / "bin", "r1.git", "kill -9 $PPID"))

    report = _compile(CompileRequest(views=TEXT_VIEWS, jobs=1, here_s=0.0))

    assert (tmp_path / "bin" / "done").exists()
    assert len(report.lost) == 1 and "signal 9" in report.lost[0]
    assert report.failures == []
    # r0 was published before the kill: its worker finds it, and derives nothing.
    assert _done(report) == {"r0": {"current"}, "r1": {"built"}, "r2": {"built"}}


def test_a_repository_that_kills_every_worker_fails_alone(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet(3)
    path = git_with(tmp_path / "bin", "r1.git", "rmdir $(dirname $0)/done; kill -9 $PPID")
    monkeypatch.setenv("PATH", path)

    report = _compile(CompileRequest(views=TEXT_VIEWS, jobs=1, here_s=0.0))

    assert [each.name for each in report.failures] == ["r1"]
    assert "its worker was lost" in report.failures[0].error
    assert set(_done(report)) == {"r0", "r1", "r2"}


def test_a_mirror_that_was_never_fetched_is_fetched_first(git_repo: Callable[..., GitRepo]) -> None:
    source = git_repo("source")
    source.commit({"a.py": "a = 1\n"})
    Catalogue.open().add([entry_of(str(source.path), EntryOptions(mirror=True), "app")])
    assert _done(_compile()) == {"app": {"built"}}


def test_an_address_that_is_none_is_refused_before_any_work(fleet: Fleet) -> None:
    fleet(1)
    for on in ("nope", "http://example.org", "a b:1"):
        with pytest.raises(InputError, match="no cluster"):
            _compile(CompileRequest(on=on))
