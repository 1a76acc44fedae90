"""A repository in, what its own fixes teach about finding the next one out: measured, and stored if better.

With the repository's journal, what agents asked and then used joins the memory and the fit; the test stays
that of fixes, as uses are known only of what was given.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import msgspec

from codenib import __version__
from codenib.compiler.compiler import silent
from codenib.core.errors import InputError
from codenib.core.history import Commit
from codenib.core.protocols import Progress
from codenib.core.requests import SnapshotRequest
from codenib.core.views import ViewKind
from codenib.learning.fit import STRENGTH
from codenib.learning.journal.rows import JournalRows
from codenib.learning.measure import LEAST_ROWS, LEAST_TESTS, UNTESTED, ComponentResult, Measurement, measure
from codenib.learning.questions import JournalQuestions, join_questions, questions_of
from codenib.learning.rows import is_row, mine_history
from codenib.serving.search.learned.memory import Fix
from codenib.serving.search.learned.repository import FORMAT, LearnedFile

if TYPE_CHECKING:
    from codenib.serving.workspace import Workspace

MEMORY = 3000  # fixes that are remembered; older ones say little of today's files
ROWS = 400  # of these the newest that ask something are questions


@dataclass(frozen=True, slots=True)
class LearnReport:
    """What was mined, tried and decided; `artifact` names what was stored, empty when nothing was.

    `shipped` are the recalls of files and functions in the shipped order on the test part, None without a
    test. `passed` names the component whose test allows its use. `unsure_rows` counts the questions of
    the test of which the shipped order is unsure: no other can change. `earlier` is the commit of what
    was learnt before and is used for this commit, where nothing is stored now. `unknown` says which
    commits the history lacks, and the command that brings them. `questions` counts those of the journal
    that are known, `question_rows` those that weights were fitted on; `journal` says why there are none,
    where they were wanted, or what was left out.
    """

    commit: str
    fixes: int
    fit_rows: int
    test_rows: int
    tested_at: str
    shipped: tuple[float, float] | None
    components: tuple[ComponentResult, ...]
    verdict: str
    artifact: str
    seconds: float
    passed: str = ""
    unsure_rows: int = 0
    earlier: str = ""
    unknown: str = ""
    questions: int = 0
    question_rows: int = 0
    journal: str = ""


def learn(
    workspace: Workspace,
    *,
    at: str | None = None,
    dry_run: bool = False,
    journal: JournalRows | None = None,
    progress: Progress = silent,
) -> LearnReport:
    """Learn from the commits that lead to the worktree's, or to `at`; store the result if it is better.

    With `journal` also from what was used after questions. `progress` hears of what takes long.
    """
    started = time.perf_counter()
    workspace.index([ViewKind.HISTORY], at=at)
    pinned = workspace.snapshots.pin(ViewKind.HISTORY, SnapshotRequest(at))[0]
    if pinned.ref.commit is None:
        raise InputError("there is no commit to learn from", hint="git commit")
    times: dict[str, int] = {}
    with closing(pinned.open_blobs()) as blobs:
        commits = _with_times(pinned.history.commits(), times)
        mined = mine_history(commits, blobs, min(MEMORY, pinned.history.commit_count), progress)
    asked = questions_of(journal, times, pinned.ref.commit) if journal is not None else JournalQuestions()
    fixes = mined.named_at()
    rows = [number for number, fix in enumerate(fixes) if is_row(fix)][:ROWS]
    known, artifact, passed = asked.before(float("inf")), "", ""
    if len(rows) < LEAST_ROWS:
        verdict = f"nothing changed: {len(rows)} commits ask and answer a question, {LEAST_ROWS} are needed"
        tested = UNTESTED
    else:
        tested = measure(workspace, mined, rows, asked, progress)
        chosen = next((each for each in tested.components if each.is_chosen), None)
        why = "better on commits that it did not see"
        if chosen is None:
            matching = f"{tested.fit_rows} earlier and {tested.test_rows} later of {len(rows)} questions"
            least = f"{LEAST_ROWS - LEAST_TESTS} and {LEAST_TESTS} are needed"
            verdict = f"nothing changed: {matching} have words that are in the code, {least}"
        elif not chosen.comparison.is_better:
            verdict = "nothing changed: what was chosen is not better on the commits that it did not see"
        elif not chosen.is_better:
            verdict = "nothing changed: what was chosen is no better than with shuffled messages"
        elif dry_run:
            passed, verdict = chosen.name, f"{chosen.name} would be used: {why}"
        else:
            everything = join_questions(mined, known)[0].named_at()
            data = _encode(pinned.ref.commit, everything, tested, chosen)
            artifact = workspace.maintenance.store_learned(data)
            passed, verdict = chosen.name, f"{chosen.name} is used from now on: {why}"
    earlier = None if artifact else workspace.searcher.learnt_at(pinned.ref.commit)
    return LearnReport(
        commit=pinned.ref.commit,
        fixes=len(fixes),
        fit_rows=tested.fit_rows,
        test_rows=tested.test_rows,
        tested_at=tested.commit,
        shipped=tested.shipped,
        components=tested.components,
        verdict=verdict,
        artifact=artifact,
        seconds=time.perf_counter() - started,
        passed=passed,
        unsure_rows=tested.unsure_rows,
        earlier=earlier.commit if earlier else "",
        unknown=pinned.manifest.views[ViewKind.HISTORY].error,
        questions=len(known),
        question_rows=tested.question_rows,
        journal=asked.note,
    )


def _with_times(commits: Iterable[Commit], times: dict[str, int]) -> Iterator[Commit]:
    """The commits as they come; `times` gets when each was made."""
    for commit in commits:
        times[commit.id] = commit.committed
        yield commit


def _encode(commit: str, fixes: Sequence[Fix], tested: Measurement, chosen: ComponentResult) -> bytes:
    """The file: weights as they were tested, and all fixes, also those that the test was made of."""
    assert tested.shipped is not None
    gains = chosen.comparison
    profile = {"codenib": __version__, "memory": str(MEMORY), "rows": str(ROWS), "strength": str(STRENGTH)}
    card = {
        "what": "weights of what past fixes say of files and functions, added to the shipped order",
        "from": "messages, paths and changed functions of this repository's own commits; with questions also "
        "what was used after those in its journal, a use weighed by how likely its rank is examined",
        "component": chosen.name,
        "fixes": sum(1 for fix in fixes if fix.commit),
        "questions": sum(1 for fix in fixes if not fix.commit),
        "question_rows": tested.question_rows,
        "rows": tested.fit_rows + tested.test_rows,
        "test_rows": tested.test_rows,
        "tested_at": tested.commit,
        "shipped": {"files": tested.shipped[0], "functions": tested.shipped[1]},
        "gains": {"files": gains.files.mean, "functions": gains.functions.mean},
        "intervals": {name: [gain["low"], gain["high"]] for name, gain in asdict(gains).items()},
        "over_shuffled": asdict(chosen.over_shuffled),
    }
    file = LearnedFile(
        format=FORMAT,
        commit=commit,
        profile=profile,
        card=card,
        files=dict(chosen.weights.files),
        units=dict(chosen.weights.units),
        fixes=tuple(fixes),
        unsure=chosen.weights.unsure,
    )
    return msgspec.json.encode(file)
