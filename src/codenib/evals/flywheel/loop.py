"""Rows of rounds and a collector in, the models of each round with their replays out.

A round collects by the last models and some chance, exports its decisions, fits new models on all decisions
so far, and replays them on rows that nothing was learned from. All of it follows from the run's records, so
that a run which was killed goes on where it stopped and gives the same models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from codenib import __version__
from codenib.evals.flywheel.collect import REWARDS, UNITS, Collector
from codenib.evals.flywheel.export import export_round, replace_file
from codenib.evals.flywheel.replay import ReplayResult, Situation, replay, situations_of
from codenib.evals.flywheel.rows import SplitRows
from codenib.evals.runs import Record
from codenib.learning.policies.fit import FittedPolicy, LoggedDecision, fit_policy
from codenib.planner.model import DecisionModel, ModelKind

REPLAY = "replay"
SHARE = 0.5  # of the decisions after the first round that chance makes; the first round has no model


@dataclass(frozen=True, slots=True)
class RoundResult:
    """A model after one round with its replay; round 0 is the rules alone."""

    number: int
    kind: ModelKind
    fitted: FittedPolicy | None
    replayed: ReplayResult


def run_rounds(collector: Collector, split: SplitRows, *, price: float, simulated: bool) -> list[RoundResult]:
    """Every round in order; policies are written to `policies/`, decisions to `export/`."""
    collector.every_action(REPLAY, split.replay)
    recorded = [each for each in collector.run.records("decision") if _part(each) == REPLAY]
    situations = {
        kind: situations_of(kind, recorded, actions) for kind, actions in collector.decisions.items()
    }
    usable = {kind: mine for kind, mine in situations.items() if mine}
    results = [
        RoundResult(0, kind, None, replay(None, mine, collector.seed)) for kind, mine in usable.items()
    ]
    models: dict[ModelKind, DecisionModel] = {}
    for number, rows in enumerate(split.rounds, 1):
        collector.explore(_round(number), rows, models, SHARE if models else 1.0)
        records = [
            each
            for part in map(_round, range(1, number + 1))
            for each in collector.run.records("decision")
            if _part(each) == part and "error" not in each
        ]
        latest = [each for each in records if _part(each) == _round(number)]
        export_round(collector, _round(number), latest, rows)
        for kind, mine in usable.items():
            decisions = [_decision(each) for each in records if each["decision"] == kind]
            if not decisions:
                continue
            result = _trained(number, kind, decisions, (mine, price, collector.seed))
            assert result.fitted is not None
            models[kind] = result.fitted.model
            _write(collector, result, simulated)
            results.append(result)
            collector.note(f"{_round(number)}: {kind}, {_words(result)}")
    return results


def _trained(
    number: int,
    kind: ModelKind,
    decisions: Sequence[LoggedDecision],
    given: tuple[Sequence[Situation], float, int],
) -> RoundResult:
    situations, price, seed = given
    fitted = fit_policy(kind, decisions, tuple(situations[0].rewards), price=price, seed=seed)
    return RoundResult(number, kind, fitted, replay(fitted.model, situations, seed))


def _write(collector: Collector, result: RoundResult, simulated: bool) -> None:
    """The model's file; its card says what it was learned from and whether it wins on the replay."""
    assert result.fitted is not None
    replayed = result.replayed
    card = {
        **result.fitted.model.card,
        "codenib": __version__,
        "round": result.number,
        "reward": REWARDS[result.kind],
        "cost": UNITS[result.kind],
        "replayed_rows": replayed.gain.n,
        "gain": replayed.gain.rounded(),
        "cost_ratio": replayed.ratio.rounded(),
        "changed": round(replayed.changed, 4),
        "wins": replayed.wins,
        **({"reranker": collector.reranker} if result.kind == "router" and collector.reranker else {}),
        "simulated": simulated and result.kind == "context",
    }
    model = msgspec.structs.replace(result.fitted.model, card=card)
    folder = collector.run.folder / "policies"
    text = msgspec.json.format(msgspec.json.encode(model), indent=1).decode() + "\n"
    for name in (f"{result.kind}-{_round(result.number)}.json", f"{result.kind}.json"):
        replace_file(folder / name, text)


def _decision(record: Record) -> LoggedDecision:
    return LoggedDecision(
        features=record["features"],
        default=record["default"],
        action=record["action"],
        propensity=record["propensity"],
        reward=record["reward"],
        cost=record["cost"],
        cluster=record["repo"],
    )


def _words(result: RoundResult) -> str:
    each = result.replayed
    verdict = "wins" if each.wins else "does not win"
    return (
        f"leaves the rules on {each.changed:.0%} of {each.gain.n} rows, {each.gain.value:+.3f} recall at "
        f"{each.ratio.value:.2f} of the cost: {verdict}"
    )


def _round(number: int) -> str:
    return f"round-{number}"


def _part(record: Record) -> str:
    return str(record["key"]).partition("|")[0]
