"""A repository in, what its own fixes teach about finding the next one out: measured, and stored if better.

The fixes are split by time. The newest part is the test: its candidates come from a snapshot before it all,
and the memory that is tested knows none of it. Signals are chosen within the older part, so that the test
is used once, to accept or to refuse. With the repository's journal, what agents asked and then used joins the
memory and the fit; the test stays that of fixes, as uses are known only of what was given.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from codenib import __version__
from codenib.compiler.compiler import silent
from codenib.core.errors import InputError
from codenib.core.history import Commit
from codenib.core.protocols import Progress
from codenib.core.requests import SnapshotRequest
from codenib.core.views import ViewKind
from codenib.learning.candidates import FixCandidates, candidates_of
from codenib.learning.evaluate import TOP, Comparison, compare_recalls
from codenib.learning.fit import STRENGTH, fit_weights
from codenib.learning.journal.rows import JournalRows
from codenib.learning.questions import JournalQuestions, is_asking, join_questions, questions_of
from codenib.learning.rows import MinedHistory, is_row, mine_history
from codenib.serving.search.learned.memory import COLUMNS, Fix, FixMemory
from codenib.serving.search.learned.rank import unsureness
from codenib.serving.search.learned.repository import FORMAT, LearnedFile, weights_of

if TYPE_CHECKING:
    from codenib.serving.workspace import Workspace

Array = NDArray[Any]
MEMORY = 3000  # fixes that are remembered; older ones say little of today's files
ROWS = 400  # of these the newest that ask something are questions
LEAST_ROWS = 60
TEST_SHARE = 0.3
LEAST_TESTS = int(LEAST_ROWS * TEST_SHARE)
#: What may be learnt: signals of files, and signals of functions.
COMPONENTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "similar fixes, files": (("similar",), ()),
    "similar fixes, both": (("similar",), ("similar",)),
    "words of messages": (("words",), ("words",)),
    "all of these": (("similar", "words"), ("similar", "words")),
}


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """What each signal is worth for a file and for a function."""

    files: Mapping[str, float]
    units: Mapping[str, float]
    unsure: float = 0.0  # as `LearnedFile` has it


#: From there on the past helps with issues, whatever the weights; below, it takes as much as it gives.
UNSURE = 0.52


@dataclass(frozen=True, slots=True)
class ComponentResult:
    """How a component does on the test part; `is_chosen` if it was the best before the test."""

    name: str
    comparison: Comparison
    weights: SignalWeights
    is_chosen: bool


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


@dataclass(frozen=True, slots=True)
class Measurement:
    """The outcome of `measure`: where the candidates came from, how many rows, and every component.

    There are no components where too few rows have candidates. `question_rows` counts the journal's among
    what was fitted.
    """

    commit: str
    fit_rows: int
    test_rows: int
    shipped: tuple[float, float] | None
    components: tuple[ComponentResult, ...]
    question_rows: int = 0
    unsure_rows: int = 0


UNTESTED = Measurement("", 0, 0, shipped=None, components=())


def measure(
    workspace: Workspace,
    mined: MinedHistory,
    rows: Sequence[int],
    journal: JournalQuestions,
    progress: Progress = silent,
) -> Measurement:
    """Fit every component on the older rows and try it on the newest; `rows` are places among the fixes."""
    split = max(int(len(rows) * TEST_SHARE), 1)
    mined, places, questions = join_questions(mined, journal.before(mined.fixes[rows[split]].committed))
    rows = [places[row] for row in rows]
    first = rows[split]  # the newest fix that is no test: its snapshot knows none of the tests
    fixes = mined.named_at(first)
    before = fixes[first].commit
    views = [ViewKind.LEXICAL]
    if ViewKind.DENSE in workspace.snapshots.views_for_words():
        views.append(ViewKind.DENSE)
    workspace.index(views, at=before)
    pinned = workspace.snapshots.pin(ViewKind.LEXICAL, SnapshotRequest(before))[0]
    embedder = workspace.searcher.embedder_of(pinned)
    memory = FixMemory(fixes)
    asking = [number for number, each in questions.items() if is_asking(each)]
    asked_so_far = count(1)

    def candidates(number: int, known_from: int) -> FixCandidates | None:
        progress("asking past fixes", next(asked_so_far), len(rows) + len(asking))
        fix = fixes[number]
        while (
            fix.commit and known_from + 1 in questions
        ):  # what was asked right before a fix may be its cause
            known_from += 1
        asked = memory.compare(fix.text, known_from)
        found = candidates_of(pinned, embedder, fix, memory, asked)
        if found and (question := questions.get(number)):
            return found.weighted(question.path_weights, question.symbol_weights)
        return found

    # A fix knows what came before it; the test knows what came before the whole test.
    known = {
        number: each for number in sorted([*rows[split:], *asking]) if (each := candidates(number, number))
    }
    tests = [each for number in rows[:split] if (each := candidates(number, first - 1))]
    fit_rows = [number for number in known if number not in questions]
    if len(tests) < LEAST_TESTS or len(fit_rows) < LEAST_ROWS - LEAST_TESTS:
        return Measurement(before, len(fit_rows), len(tests), shipped=None, components=())
    newer = fit_rows[: max(len(fit_rows) // 3, 1)]  # the newer third chooses among components
    trial_rows = [known[number] for number in newer]
    earlier = [each for number, each in known.items() if number > newer[-1]]
    older = list(known.values())
    best, chosen = -1.0, ""
    for number, (name, columns) in enumerate(COMPONENTS.items()):
        progress("fitting weights", number, 2 * len(COMPONENTS))
        trial = compare_recalls(*_recalls(trial_rows, _fit(earlier, *columns)))
        if trial.both.mean > best:
            best, chosen = trial.both.mean, name
    results = []
    for number, (name, columns) in enumerate(COMPONENTS.items(), len(COMPONENTS)):
        progress("fitting weights", number, 2 * len(COMPONENTS))
        weights = _fit(older, *columns)
        comparison = compare_recalls(*_recalls(tests, weights))
        results.append(ComponentResult(name, comparison, weights, name == chosen))
    shipped = _recalls(tests, SignalWeights({}, {}))[0].mean(axis=0)
    return Measurement(
        before,
        len(fit_rows),
        len(tests),
        shipped=(float(shipped[0]), float(shipped[1])),
        components=tuple(results),
        question_rows=len(known) - len(fit_rows),
        unsure_rows=sum(unsureness(row.units_after(row.files.scores).scores) >= UNSURE for row in tests),
    )


def _fit(rows: Sequence[FixCandidates], files: Sequence[str], units: Sequence[str]) -> SignalWeights:
    """The weights of files first: functions stand where their files do."""
    for_files = fit_weights([row.files for row in rows], [COLUMNS.index(name) for name in files])
    after = [row.units_after(row.files.scores + row.files.signals @ for_files) for row in rows]
    for_units = fit_weights(after, [COLUMNS.index(name) for name in units])
    return SignalWeights(_named(for_files), _named(for_units), UNSURE)


def _recalls(rows: Sequence[FixCandidates], weights: SignalWeights) -> tuple[Array, Array]:
    """Recall of files and functions of each row: in the shipped order, and with these weights."""
    for_files, for_units = weights_of(weights.files), weights_of(weights.units)
    shipped, learnt = [], []
    for row in rows:
        units = row.units_after(row.files.scores)
        shipped.append(row.recall(row.files.scores, units.scores, TOP))
        if unsureness(units.scores) < weights.unsure:
            learnt.append(shipped[-1])
            continue
        files = row.files.scores + row.files.signals @ for_files
        units = row.units_after(files)
        learnt.append(row.recall(files, units.scores + units.signals @ for_units, TOP))
    return np.array(shipped), np.array(learnt)


def _named(weights: Array) -> dict[str, float]:
    return {name: round(weight, 6) for name, weight in zip(COLUMNS, weights.tolist(), strict=True) if weight}


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
