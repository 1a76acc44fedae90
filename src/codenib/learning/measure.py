"""Fixes over one snapshot in, every component with its gain on the newest of them out.

The newest part is the test: its candidates come from a snapshot before it all, and the memory that is tested
knows none of it. Signals are chosen within the older part, so that the test is used once, to accept or to
refuse. What gains as much with shuffled messages is refused: it knows which files change often, not what a
question asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codenib.compiler.compiler import silent
from codenib.core.protocols import Progress
from codenib.core.requests import SnapshotRequest
from codenib.core.views import ViewKind
from codenib.learning.candidates import FixCandidates, candidates_of
from codenib.learning.evaluate import TOP, Comparison, Gain, compare_recalls, gain_over
from codenib.learning.fit import fit_weights
from codenib.learning.questions import JournalQuestions, is_asking, join_questions
from codenib.learning.rows import MinedHistory
from codenib.serving.search.learned.memory import COLUMNS, FixMemory
from codenib.serving.search.learned.rank import unsureness
from codenib.serving.search.learned.repository import weights_of

if TYPE_CHECKING:
    from codenib.serving.workspace import Workspace

Array = NDArray[Any]
LEAST_ROWS = 60
TEST_SHARE = 0.3
LEAST_TESTS = int(LEAST_ROWS * TEST_SHARE)
SHUFFLES = 10  # of the messages: their mean is what a memory without words gives
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
_SEED = 7


@dataclass(frozen=True, slots=True)
class ComponentResult:
    """How a component does on the test part; `is_chosen` if it was the best before the test.

    `over_shuffled` is its gain over itself with the messages of the past shuffled, files and functions
    together.
    """

    name: str
    comparison: Comparison
    over_shuffled: Gain
    weights: SignalWeights
    is_chosen: bool

    @property
    def is_better(self) -> bool:
        """Better than the shipped order, and by what the messages say."""
        return self.comparison.is_better and self.over_shuffled.low > 0


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
    shuffled = _shuffled(tests, memory, first - 1)
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
        shipped_recalls, recalls = _recalls(tests, weights)
        over = gain_over(np.mean([_recalls(each, weights)[1] for each in shuffled], axis=0), recalls)
        comparison = compare_recalls(shipped_recalls, recalls)
        results.append(ComponentResult(name, comparison, over, weights, name == chosen))
    shipped = _recalls(tests, SignalWeights({}, {}))[0].mean(axis=0)
    return Measurement(
        before,
        len(fit_rows),
        len(tests),
        shipped=(float(shipped[0]), float(shipped[1])),
        components=tuple(results),
        question_rows=len(known) - len(fit_rows),
        unsure_rows=sum(row.unsureness >= UNSURE for row in tests),
    )


def _shuffled(
    tests: Sequence[FixCandidates], memory: FixMemory, known_from: int
) -> list[list[FixCandidates]]:
    """The tests as a memory sees them whose messages are in another order, `SHUFFLES` times."""
    chance, seen = np.random.default_rng(_SEED), np.arange(known_from + 1)
    asked = [memory.compare(row.fix.text, known_from) if row.unsureness >= UNSURE else None for row in tests]
    drawn = []
    for _ in range(SHUFFLES):
        past = chance.permutation(np.arange(known_from + 1, len(memory.fixes)))
        other = memory.shuffled(np.concatenate([seen, past]))
        pairs = zip(tests, asked, strict=True)  # of a sure order no signal is looked at
        drawn.append([row.signalled(other, each) if each is not None else row for row, each in pairs])
    return drawn


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
