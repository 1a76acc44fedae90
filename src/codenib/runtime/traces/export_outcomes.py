"""A file of outcomes in, the outcome of each run out: what only the user knows about how good it was.

A line for each run: `{"trace": "run.jsonl", "tests_passed": true, "patch_accepted": null, "answers":
[{"path": "src/app.py", "start_line": 10, "end_line": 24}]}`. `trace` is the file's name or the run's.
Recall is computed from `answers`, or taken as it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from codenib.core.errors import UNDECODABLE, InputError
from codenib.runtime.traces.export_rows import RunOutcome

_HINT = '{"trace": "run.jsonl", "tests_passed": true, "answers": [{"path": "src/app.py", "start_line": 10}]}'


class KnownAnswer(msgspec.Struct, frozen=True):
    """A place that a right answer has; without lines its file alone counts."""

    path: str
    start_line: int = 0
    end_line: int = 0


class GivenOutcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the file."""

    trace: str
    tests_passed: bool | None = None
    patch_accepted: bool | None = None
    recall: float | None = None
    answers: tuple[KnownAnswer, ...] = ()


def read_outcomes(file: str | Path) -> dict[str, GivenOutcome]:
    """The outcomes of a file, by trace; a wrong or repeated line is named."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}", hint="--outcomes FILE") from error
    found: dict[str, GivenOutcome] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=GivenOutcome)
        except UNDECODABLE as error:
            raise InputError(f"{file}:{number}: {error}", hint=_HINT) from error
        if row.trace in found:
            raise InputError(f"{file}:{number}: {row.trace} has an outcome already", hint="one line a trace")
        found[row.trace] = row
    return found


def outcome_of(
    given: Mapping[str, GivenOutcome], names: Iterable[str], answer: Mapping[str, Any]
) -> RunOutcome:
    """How a run ended, by the first of its names that has an outcome."""
    known = next((given[name] for name in names if name in given), None)
    answered = answer.get("answer") is not None
    if known is None:
        return RunOutcome(answered)
    spans = list(answer.get("spans", []))
    recall, file_recall = known.recall, None
    if known.answers:
        recall = _recall(known.answers, spans) if recall is None else recall
        files = list(dict.fromkeys(each.path for each in known.answers))
        file_recall = sum(any(span["path"] == path for span in spans) for path in files) / len(files)
    return RunOutcome(answered, known.tests_passed, known.patch_accepted, recall, file_recall)


def covers(answer: KnownAnswer, path: str, start: int, end: int) -> bool:
    """Whether lines of a file have one of the known answer's, or where it has none, its file."""
    if answer.path != path:
        return False
    last = max(answer.end_line, answer.start_line)
    return not answer.start_line or not start or (answer.start_line <= max(end, start) and start <= last)


def _recall(answers: Sequence[KnownAnswer], spans: Sequence[Mapping[str, Any]]) -> float:
    hits = sum(
        any(covers(answer, span["path"], span["start_line"], span["end_line"]) for span in spans)
        for answer in answers
    )
    return hits / len(answers)


def quality(outcome: RunOutcome) -> tuple[float, ...] | None:
    """What runs of one issue are compared by, most telling first; None where the user gave no outcome."""
    known = (outcome.tests_passed, outcome.patch_accepted, outcome.recall)
    if all(each is None for each in known):
        return None
    return tuple(-1.0 if each is None else float(each) for each in known)
