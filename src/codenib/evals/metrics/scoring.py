"""Answers and targets in, scores out: the metrics of the paper's appendix "Metric Definitions". Pure.

Nothing here knows the engine: answers are paths and line ranges, whoever gave them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
Place = tuple[str, int]  # path and start line


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """A range of lines in a file, 1-based and inclusive, as an answer or as a target."""

    path: str
    start_line: int
    end_line: int
    symbol: str = ""
    level: str = ""

    def overlaps(self, other: SourceBlock) -> bool:
        """Same path and at least one line in common."""
        return (
            self.path == other.path
            and self.start_line <= other.end_line
            and other.start_line <= self.end_line
        )


def distinct(items: Iterable[T]) -> list[T]:
    """Each item once, where it first stands.

    >>> distinct(["A", "A", "C", "B"])
    ['A', 'C', 'B']
    """
    return list(dict.fromkeys(items))


def recall(returned: Sequence[T], targets: Iterable[T], k: int) -> float:
    """Share of the targets among the first `k` distinct items returned."""
    wanted = _some(set(targets))
    return len(wanted & set(distinct(returned)[:k])) / len(wanted)


def success(returned: Sequence[T], targets: Iterable[T], k: int) -> float:
    """1 when every target is among the first `k` distinct items returned, else 0."""
    return float(_some(set(targets)) <= set(distinct(returned)[:k]))


def reciprocal_rank(returned: Sequence[T], targets: Iterable[T]) -> float:
    """1 / the place of the first target among the distinct items; 0 when there is none."""
    wanted = _some(set(targets))
    return next((1 / place for place, item in enumerate(distinct(returned), 1) if item in wanted), 0.0)


def block_recall(returned: Sequence[SourceBlock], targets: Sequence[SourceBlock], k: int) -> float:
    """Share of the target blocks that overlap one of the first `k` distinct blocks returned."""
    wanted = _some(set(targets))
    kept = distinct(returned)[:k]
    return sum(any(block.overlaps(target) for block in kept) for target in wanted) / len(wanted)


def callable_recall(returned: Sequence[SourceBlock], targets: Sequence[SourceBlock], k: int) -> float:
    """As `block_recall`, but only callables (L2) can cover: a whole class or file does not."""
    kept = distinct(returned)[:k]
    return block_recall([block for block in kept if block.level in ("", "L2")], targets, k)


def neighbor_recall(approximate: Iterable[T], exact: Iterable[T]) -> float:
    """Share of exact search's results that an approximate index returned too; order does not count."""
    wanted = _some(set(exact))
    return len(wanted & set(approximate)) / len(wanted)


def normalized(places: Iterable[Place]) -> tuple[Place, ...]:
    """The paper's N: unique path and start-line pairs in order. Columns, ends and metadata are gone."""
    return tuple(sorted(set(places)))


def navigation_match(static: Iterable[Place], live: Iterable[Place]) -> bool:
    """Whether two providers name the same places."""
    return normalized(static) == normalized(live)


def committed(answers: Sequence[SourceBlock]) -> list[SourceBlock]:
    """The spans that an answer commits to: later ones that overlap an earlier one are dropped."""
    kept: list[SourceBlock] = []
    for answer in answers:
        if not any(answer.overlaps(before) for before in kept):
            kept.append(answer)
    return kept


def answer_recall(answers: Sequence[SourceBlock], targets: Sequence[SourceBlock], k: int) -> float:
    """Share of the targets that one of the first `k` committed spans overlaps; 0 for no usable answer."""
    wanted = _some(set(targets))
    kept = committed(answers)[:k]
    return sum(any(answer.overlaps(target) for answer in kept) for target in wanted) / len(wanted)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model, with the tokens that its provider reports."""

    prompt_tokens: int
    completion_tokens: int


def trajectory_tokens(invocations: Iterable[ModelCall]) -> int:
    """Prompt and completion tokens of every call, answer-format calls included."""
    return sum(each.prompt_tokens + each.completion_tokens for each in invocations)


def repeated_tokens(sizes: Mapping[int, int]) -> int:
    """What one observation costs in all prompts that still hold it: its size there, by invocation.

    >>> repeated_tokens({call: 100 for call in range(3, 7)})
    400
    """
    return sum(sizes.values())


@dataclass(frozen=True, slots=True)
class GraphCheck:
    """A maintained graph against a rebuilt one: the paper's two equations and the changed files' facts."""

    facts_equal: bool
    changed_facts_equal: bool
    serving_equal: bool
    edge_f1: float
    serving_agreement: float

    @property
    def exact(self) -> bool:
        return self.facts_equal and self.changed_facts_equal and self.serving_equal


def check_graph(
    maintained: Iterable[T],
    rebuilt: Iterable[T],
    changed: Iterable[T],
    replay: Sequence[tuple[Iterable[Place], Iterable[Place]]],
) -> GraphCheck:
    """Compare two multisets of facts, the part of them named by `changed`, and the replayed requests."""
    left, right, within = Counter(maintained), Counter(rebuilt), set(changed)
    same = [navigation_match(ours, theirs) for ours, theirs in replay]
    return GraphCheck(
        left == right,
        all(left[fact] == right[fact] for fact in within),
        all(same),
        multiset_f1(left, right),
        sum(same) / len(same) if same else 1.0,
    )


def multiset_f1(left: Counter[T], right: Counter[T]) -> float:
    """Agreement of two multisets; 1 for two empty ones. A diagnostic, never a tolerance."""
    shared, size = (left & right).total(), left.total() + right.total()
    return 2 * shared / size if size else 1.0


@dataclass(frozen=True, slots=True)
class VectorCheck:
    """A maintained dense view against a rebuilt one."""

    identities_equal: bool
    vectors_equal: bool
    replay_equal: bool  # ordered: ranks 9 and 10 swapped is a failure

    @property
    def exact(self) -> bool:
        return self.identities_equal and self.vectors_equal and self.replay_equal


def update_speedup(rebuild_s: float, update_s: float, setup_s: float = 0.0, share: int = 1) -> float:
    """The paper's Γ: the rebuild over the update plus its share of a setup that `share` updates use."""
    return rebuild_s / (update_s + setup_s / share)


def isolated_cost(build_s: float, load_s: float, trace_s: float, sessions: int, q: int) -> float:
    """Seconds of a session when each of `q` loads the views for itself: B/q + L + S/N."""
    return build_s / q + load_s + trace_s / sessions


def resident_cost(build_s: float, load_s: float, trace_s: float, sessions: int, q: int) -> float:
    """Seconds of a session when `q` of them share one runtime: (B + L)/q + S/N."""
    return (build_s + load_s) / q + trace_s / sessions


def amortised_after(extra_build_s: float, saved_s: float) -> float | None:
    """Searches after which a costlier build has paid; None when a search saves nothing."""
    return extra_build_s / saved_s if saved_s > 0 else None


def _some(targets: set[T]) -> set[T]:
    if not targets:
        raise ValueError("a score needs at least one target")
    return targets
