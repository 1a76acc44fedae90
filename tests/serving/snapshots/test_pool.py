"""Workspaces of a server share what is open: one look at the files serves all who asked before it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.requests import CURRENT
from codenib.core.views import ViewKind
from codenib.serving.snapshots.opened import OpenSnapshots
from codenib.serving.snapshots.pinned import PinnedSnapshot
from codenib.serving.snapshots.pool import ASKED, SnapshotPool
from codenib.serving.workspace import Workspace


@contextmanager
def asked_at(moment: float) -> Iterator[None]:
    token = ASKED.set(moment)
    try:
        yield
    finally:
        ASKED.reset(token)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo(tmp_path / "own")
    made.commit({"a.py": "def one():\n    pass\n"})
    return made


@pytest.fixture
def twins(repo: GitRepo) -> Iterator[tuple[Workspace, Workspace]]:
    """Two workspaces with what is open in common; file events say that something changed at all times."""
    opened = OpenSnapshots()
    with Workspace(repo.path) as first, Workspace(repo.path) as second:
        for workspace in (first, second):
            workspace.maintenance.snapshots.opened = opened
            workspace.maintenance.snapshots.unchanged_since = lambda moment: False
        yield first, second


def pin(workspace: Workspace) -> PinnedSnapshot:
    return workspace.snapshots.pin(ViewKind.TRIGRAM, CURRENT)[0]


def test_a_look_serves_all_who_asked_before_it(repo: GitRepo, twins: tuple[Workspace, Workspace]) -> None:
    first, second = twins
    asked = time.monotonic()
    pinned = pin(first)
    repo.write("a.py", "def two():\n    pass\n")
    with asked_at(asked):
        assert pin(second) is pinned
    assert "two" in pin(second).text("a.py")


def test_who_asked_after_an_edit_gets_it(repo: GitRepo, twins: tuple[Workspace, Workspace]) -> None:
    first, second = twins
    pin(first)
    repo.write("a.py", "def two():\n    pass\n")
    with asked_at(time.monotonic()):
        pinned = pin(second)
        assert "two" in pinned.text("a.py")
        assert pin(first) is pinned


def test_a_view_that_came_later_does_not_bring_an_old_snapshot_back(
    repo: GitRepo, twins: tuple[Workspace, Workspace]
) -> None:
    first, second = twins
    old = pin(first)
    repo.write("a.py", "def two():\n    pass\n")
    new = pin(second)
    opened = first.maintenance.snapshots.opened
    opened.renew(None, old, old)
    assert opened.looks[None].pinned is new


def test_a_question_without_a_graph_looks_at_the_files_once(repo: GitRepo, tmp_path: Path) -> None:
    with Workspace(repo.path) as workspace:
        workspace.index(TEXT_VIEWS)
    log, settings = tmp_path / "git.jsonl", tmp_path / "gitconfig"
    settings.write_text(f"[trace2]\n\teventTarget = {log}\n")
    code = f"from codenib.serving.workspace import Workspace; Workspace({str(repo.path)!r}).definition('one')"
    variables = {**os.environ, "GIT_CONFIG_GLOBAL": str(settings)}
    subprocess.run([sys.executable, "-c", code], check=True, env=variables)
    started = [line for line in log.read_text().splitlines() if '"event":"cmd_name"' in line]
    assert sum('"name":"status"' in line for line in started) == 1


def test_an_edit_between_two_questions_is_taken_in_though_no_view_was_opened(repo: GitRepo) -> None:
    with Workspace(repo.path) as workspace:
        workspace.index(TEXT_VIEWS)
        pool = workspace.snapshots
        assert isinstance(pool, SnapshotPool)
        pool.pin_ready(ViewKind.GRAPH, None)
        (repo.path / "a.py").write_text("def two():\n    pass\n")
        pool.look_again()  # as the time for which a look is good does
        pinned, _ = pool.pin(ViewKind.LEXICAL, CURRENT)
        assert pinned.text("a.py") == "def two():\n    pass\n"
