"""A fleet with a store: what is published there, and what another machine takes from it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.fleet.compile.conftest import Fleet, commit_bare

from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.compile.build import run_task
from codenib.fleet.compile.compile import CompileRequest, FleetReport, compile_fleet, silent_progress
from codenib.fleet.compile.task import CompileTask
from codenib.fleet.store.objects import ObjectStore

TEXT_VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM)


def _compile(store: str) -> FleetReport:
    request = CompileRequest(views=TEXT_VIEWS, store=store)
    return compile_fleet(Catalogue.open(), request, silent_progress)


def test_what_is_compiled_is_published_and_what_is_not_there_is_not_up_to_date(
    fleet: Fleet, tmp_path: Path
) -> None:
    _, repositories = fleet(2)
    store = (tmp_path / "store").as_uri()
    first = _compile(store)
    assert first.failures == [] and all(each.sent_bytes for each in first.results)
    objects = ObjectStore.open(store)
    head = objects.head("r1", "main")
    assert head is not None and head.commit == repositories[1].head()
    assert set(head.views) == {"lexical", "trigram"}
    assert _compile(store).current == 2

    shutil.rmtree(tmp_path / "store")
    again = _compile(store)
    assert {view.how for each in again.results for view in each.views.values()} == {"current"}
    assert objects.head("r1", "main") is not None

    commit = commit_bare(repositories[1], "a.py", "def changed():\n    return 1\n")
    (result,) = _compile(store).results
    assert result.views[ViewKind.LEXICAL].how == "maintained"
    assert result.sent_bytes > 0
    moved = objects.head("r1", "main")
    assert moved is not None and moved.commit == commit


def test_another_machine_goes_on_from_the_store_and_derives_nothing_again(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue, repositories = fleet(2)
    store = (tmp_path / "store").as_uri()
    _compile(store)
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "other"))
    Catalogue.open().add(catalogue.entries)

    same = _compile(store)
    assert {view.how for each in same.results for view in each.views.values()} == {"current"}
    assert sum(each.derived for each in same.results) == 0

    # A repository that is new here, of blobs that another machine derived.
    fork = repositories[0].clone(tmp_path / "fork.git", "--bare")
    entry = catalogue.entry("r0")
    task = CompileTask(
        entry=type(entry)(name="fork", source=str(fork.path), in_place=True),
        branch="main", commit=fork.head(), default=True, views=TEXT_VIEWS, store=store,
    )  # fmt: skip
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "third"))
    result = run_task(task)
    assert (result.error, result.derived) == ("", 0)
    assert result.views[ViewKind.LEXICAL].how == "built"


def test_a_task_that_comes_late_does_not_set_a_branch_back(fleet: Fleet, tmp_path: Path) -> None:
    catalogue, repositories = fleet(1)
    store = (tmp_path / "store").as_uri()
    old = repositories[0].head()
    new = commit_bare(repositories[0], "a.py", "def newer():\n    return 1\n")
    _compile(store)
    late = CompileTask(
        entry=catalogue.entry("r0"), branch="main", commit=old, default=True, views=TEXT_VIEWS, store=store
    )

    assert run_task(late).error == ""

    head = ObjectStore.open(store).head("r0", "main")
    assert head is not None and head.commit == new
