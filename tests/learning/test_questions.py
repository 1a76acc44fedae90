"""Questions of the journal among the fixes: by time, each once, and never known to what came of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo
from tests.learning.fixrepo import MODULES, committed, make_fix_repository, new_symptom

from codenib.adapters.cli.main import cli
from codenib.learning.journal.consent import journal_file
from codenib.learning.journal.entries import AnsweringPlan, CallEntry, GivenPlace
from codenib.learning.journal.rows import JournalRow, JournalRows, WeightedPlace
from codenib.learning.journal.store import JournalStore
from codenib.learning.questions import LEAST_SHARE, join_questions, questions_of
from codenib.learning.rows import MinedHistory, Rename
from codenib.serving.search.learned.memory import Fix
from codenib.snapshot.repository import locate

TESTED_FROM = 78  # of 110 fixes the latest 33 are the test


def _use(path: str, weight: float, how: str = "read") -> WeightedPlace:
    return WeightedPlace(GivenPlace(path, 1, 3, "run"), 1, how, weight)


def _row(query: str, at: float, *uses: WeightedPlace, commit: str = "c1") -> JournalRow:
    return JournalRow(query, at, commit, snapshot="s", dirty=False, places=uses)


def _fix(commit: str, at: int, path: str) -> Fix:
    return Fix(commit, at, "text", (path,), ())


def test_what_was_asked_later_or_of_another_branch_is_left_out_and_counted() -> None:
    rows = (
        _row("a", 10.0, _use("a.py", 1.0)),
        _row("b", 30.0, _use("a.py", 1.0)),
        _row("c", 10.0, _use("a.py", 1.0), commit="elsewhere"),
    )
    asked = questions_of(JournalRows(rows, None), {"c1": 5, "c2": 20}, "c2")
    assert [row.query for row in asked.rows] == ["a"]
    assert asked.note.startswith("2 of 3 rows are left out")


def test_a_question_asked_again_is_one_and_what_was_looked_at_and_left_is_not_in_it() -> None:
    rows = tuple(
        _row(query, at, _use("right.py", 4.0), _use("edited.py", 4.0, "edit"), *more)
        for query, at, more in (
            ("where is the total", 10.0, (_use("first.py", 1.0),)),
            ("the total is where", 20.0, ()),
            ("where is the total", 90.0, (_use("later.py", 10.0),)),
        )
    )
    (asked,) = questions_of(JournalRows(rows, None), {"c1": 100}, "c1").before(50.0)
    assert asked.fix.committed == 20 and asked.fix.commit == ""
    assert set(asked.fix.paths) == {"right.py", "edited.py"}, f"less than {LEAST_SHARE} of the best is out"
    assert asked.fix.symbols == (("right.py", "run"),), "of an edit only the file is known"
    assert sum(asked.path_weights) == pytest.approx(1.0), "a mean question weighs as much as a fix"


def test_questions_stand_among_fixes_by_time_and_follow_renames() -> None:
    mined = MinedHistory((_fix("new", 30, "b.py"), _fix("old", 10, "a.py")), (Rename(1, "a.py", "b.py"),))
    rows = (_row("before the rename", 20.0, _use("a.py", 1.0)), _row("after it", 40.0, _use("b.py", 1.0)))
    asked = questions_of(JournalRows(rows, None), {"c1": 50}, "c1").before(50.0)
    joined, places, questions = join_questions(mined, asked)
    assert [fix.text for fix in joined.fixes] == ["after it", "text", "before the rename", "text"]
    assert places == [1, 3] and sorted(questions) == [0, 2]
    assert [fix.paths for fix in joined.named_at()] == [("b.py",)] * 4
    assert [fix.paths for fix in joined.named_at(3)][3] == ("a.py",)


def _asked(repository: GitRepo) -> Iterator[CallEntry]:
    """Every new symptom, asked five times before the test's fixes; the right module at changing ranks."""
    commits = repository.git("rev-list", "--reverse", "main").split()
    for turn in range(5):
        for number in range(MODULES):
            step = 40 + turn * 7
            at = committed(step) + 60.0 * (number + 1)
            modules = [(number + other) % MODULES for other in (1, 2)]
            modules.insert((number + turn) % 3, number)
            places = tuple(GivenPlace(f"part_{n}.py", 6, 8, f"run_{n}") for n in modules)
            session, commit = f"{turn}-{number}", commits[step]
            query = f"why is a value handled twice when {new_symptom(number)} comes first"
            plan = AnsweringPlan(route="hybrid")
            yield CallEntry(
                at, session, "w", "search", {"query": query}, "id", commit, places=places, plan=plan
            )
            used = (GivenPlace(f"part_{number}.py", 6, 8),)
            yield CallEntry(at + 1, session, "w", "read", {}, "id", commit, places=used)


def _learn(repository: GitRepo, *options: str) -> dict[str, object]:
    command = ["-C", str(repository.path), "learn", "--json", *options]
    output = CliRunner().invoke(cli, command, catch_exceptions=False).output
    return msgspec.json.decode(output, type=dict[str, object])


def test_a_journal_that_knows_what_no_fix_tells_changes_the_result_and_an_empty_one_says_so(
    tmp_path: Path,
) -> None:
    make_fix_repository(tmp_path / "shop", new_from=TESTED_FROM)
    repository = GitRepo(tmp_path / "shop")
    empty = _learn(repository, "--journal")
    assert (empty["artifact"], empty["questions"]) == ("", 0)
    assert "no answered question" in str(empty["journal"])
    with JournalStore(journal_file(locate(repository.path)), max_days=36_500) as store:
        store.append(list(_asked(repository)))
    assert _learn(repository)["artifact"] == "", "the journal is used only where it is asked for"
    report = _learn(repository, "--journal")
    assert (report["questions"], report["question_rows"], report["journal"]) == (MODULES, MODULES, "")
    assert report["artifact"]
    shown = CliRunner().invoke(cli, ["-C", str(repository.path), "status"], catch_exceptions=False)
    assert f"from 110 fixes and {MODULES} questions" in shown.output
    early = _learn(repository, "--journal", "--at", "HEAD~45", "--dry-run")
    assert f"{MODULES} of {5 * MODULES} rows are left out" in str(early["journal"]), "the last turn is later"
