"""What `codenib learn` did in, its JSON values out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from codenib.adapters.envelopes.envelope import Envelope, rounded
from codenib.learning.evaluate import Gain
from codenib.learning.learn import LearnReport
from codenib.learning.measure import ComponentResult


class ComponentItem(msgspec.Struct, frozen=True):
    """A component on the commits of the test: gains as shares of recall in the first ten, with intervals.

    `over_shuffled` is the gain of `both` over the same with the messages of the past shuffled.
    `chosen` before the test was looked at, `passed` it: this one is used, or would be without `--dry-run`.
    """

    name: str
    files: Gain
    functions: Gain
    both: Gain
    over_shuffled: Gain
    better: bool
    chosen: bool
    passed: bool
    file_weights: Mapping[str, float]
    function_weights: Mapping[str, float]


class LearnReply(Envelope[ComponentItem], kw_only=True, frozen=True):
    """`learn`: what was mined, how each component did, and what is used; `artifact` is empty for nothing.

    `shipped_files` and `shipped_functions` are null where nothing was tested. `unsure_rows` counts the
    questions of the test that could change: of the others the shipped order is sure. `earlier` is the
    commit of what was learnt before and is still used. `unknown` says which commits the clone does not
    have, and the command that brings them. `forgotten` counts what `--forget` dropped, `questions` what
    the journal gave; `journal` says why nothing.
    """

    commit: str
    fixes: int
    fit_rows: int
    test_rows: int
    tested_at: str
    shipped_files: float | None
    shipped_functions: float | None
    verdict: str
    artifact: str
    unsure_rows: int = 0
    earlier: str = ""
    unknown: str = ""
    forgotten: int = 0
    questions: int = 0
    question_rows: int = 0
    journal: str = ""


def learn_reply(report: LearnReport, forgotten: int = 0) -> LearnReply:
    items = tuple(_item(each, report.passed) for each in report.components)
    files, functions = report.shipped or (None, None)
    return LearnReply(
        items=items,
        total=len(items),
        truncated=False,
        snapshot=None,
        freshness=None,
        provider="store",
        seconds=rounded(report.seconds),
        commit=report.commit,
        fixes=report.fixes,
        fit_rows=report.fit_rows,
        test_rows=report.test_rows,
        tested_at=report.tested_at,
        shipped_files=None if files is None else rounded(files),
        shipped_functions=None if functions is None else rounded(functions),
        verdict=report.verdict,
        artifact=report.artifact,
        unsure_rows=report.unsure_rows,
        earlier=report.earlier,
        unknown=report.unknown,
        forgotten=forgotten,
        questions=report.questions,
        question_rows=report.question_rows,
        journal=report.journal,
    )


def _item(result: ComponentResult, passed: str) -> ComponentItem:
    comparison = result.comparison
    return ComponentItem(
        name=result.name,
        files=comparison.files,
        functions=comparison.functions,
        both=comparison.both,
        over_shuffled=result.over_shuffled,
        better=result.is_better,
        chosen=result.is_chosen,
        passed=result.name == passed,
        file_weights=result.weights.files,
        function_weights=result.weights.units,
    )
