"""The journal's rows in, past questions among the fixes out: what was asked, what was used, what that says.

A question stands among the fixes by time. It was asked of a commit that leads to the snapshot, before that
snapshot's commit was made. The fix that came next does not know it: often it is what came of the question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from codenib.learning.journal.rows import JournalRow, JournalRows, question_key
from codenib.learning.rows import LEAST_WORDS, MinedHistory
from codenib.serving.search.learned.memory import Fix

Name = TypeVar("Name")
#: Of the most used place, corrected for rank: what has less was looked at and left.
LEAST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question as a fix without a commit, and the weight of each of its paths and symbols in a fit."""

    fix: Fix
    path_weights: tuple[float, ...]
    symbol_weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class JournalQuestions:
    """What may be learnt from a journal; `note` says why nothing, or what is left out."""

    rows: tuple[JournalRow, ...] = ()
    note: str = ""

    def before(self, moment: float) -> list[PastQuestion]:
        """Each question that was asked before, once, the latest first; a mean one weighs as much as a fix."""
        asked: dict[str, list[JournalRow]] = defaultdict(list)
        for row in self.rows:
            if row.at < moment:
                asked[question_key(row.query)].append(row)
        questions = [_past_question(rows) for rows in asked.values()]
        mean = sum(sum(each.path_weights) for each in questions) / max(len(questions), 1)
        scaled = (
            PastQuestion(each.fix, _divided(each.path_weights, mean), _divided(each.symbol_weights, mean))
            for each in questions
        )
        return sorted(scaled, key=lambda each: -each.fix.committed)


def questions_of(journal: JournalRows, times: Mapping[str, int], commit: str) -> JournalQuestions:
    """The rows that may be known at `commit`; `times` has the commits that lead to it."""
    if not journal.rows:
        return JournalQuestions(note=journal.reason or "nothing that was given has been used yet")
    rows = tuple(row for row in journal.rows if row.commit in times and row.at < times[commit])
    left_out = len(journal.rows) - len(rows)
    note = f"{left_out} of {len(journal.rows)} rows are left out: asked after the commit, or of one that does"
    return JournalQuestions(rows, f"{note} not lead to it" if left_out else "")


def join_questions(
    mined: MinedHistory, questions: Sequence[PastQuestion]
) -> tuple[MinedHistory, list[int], dict[int, PastQuestion]]:
    """The fixes with the questions among them by time; where each fix went, and where the questions are."""
    fixes: list[Fix] = []
    places: list[int] = []
    asked: dict[int, PastQuestion] = {}
    waiting = list(questions)[::-1]
    for fix in mined.fixes:
        while waiting and waiting[-1].fix.committed >= fix.committed:
            asked[len(fixes)] = waiting[-1]
            fixes.append(waiting.pop().fix)
        places.append(len(fixes))
        fixes.append(fix)
    for each in reversed(waiting):
        asked[len(fixes)] = each
        fixes.append(each.fix)
    # A rename is known to be older than so many fixes; it stays right behind the last of them.
    renames = [each._replace(place=places[each.place - 1] + 1 if each.place else 0) for each in mined.renames]
    return MinedHistory(tuple(fixes), tuple(renames)), places, asked


def is_asking(question: PastQuestion) -> bool:
    """Whether a question has as many words as a fix needs to be learnt from."""
    return len(question.fix.text.split()) >= LEAST_WORDS


def _past_question(rows: Sequence[JournalRow]) -> PastQuestion:
    """What was used after the same question, each time: of an edit only the file is known."""
    files: dict[str, float] = defaultdict(float)
    units: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        by_file: dict[str, float] = {}
        by_unit: dict[tuple[str, str], float] = {}
        for use in row.places:
            path, name = use.place.path, (use.place.path, use.place.symbol)
            by_file[path] = max(by_file.get(path, 0.0), use.weight)
            if use.place.symbol and use.how != "edit":
                by_unit[name] = max(by_unit.get(name, 0.0), use.weight)
        for path, weight in by_file.items():
            files[path] += weight / len(rows)
        for name, weight in by_unit.items():
            units[name] += weight / len(rows)
    paths, symbols = _mostly_used(files), _mostly_used(units)
    latest = max(rows, key=lambda row: row.at)
    return PastQuestion(
        Fix(
            commit="", committed=int(latest.at), text=latest.query, paths=tuple(paths), symbols=tuple(symbols)
        ),
        tuple(paths.values()),
        tuple(symbols.values()),
    )


def _mostly_used(weights: Mapping[Name, float]) -> dict[Name, float]:
    least = LEAST_SHARE * max(weights.values(), default=0.0)
    return {name: weight for name, weight in weights.items() if weight >= least}


def _divided(weights: Sequence[float], by: float) -> tuple[float, ...]:
    return tuple(weight / by for weight in weights)
