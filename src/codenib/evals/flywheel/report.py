"""The rounds of a run in, its report, summary and figure out: quality and cost by round."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codenib.evals.flywheel.collect import REWARDS, UNITS
from codenib.evals.flywheel.loop import RoundResult
from codenib.evals.flywheel.replay import MARGIN, RESAMPLES
from codenib.evals.flywheel.rows import SplitRows
from codenib.evals.metrics.bootstrap import Estimate
from codenib.evals.reports.drawing import COLOURS, MARKERS, canvas, optional_figure
from codenib.evals.reports.report import Report
from codenib.evals.runs import Record
from codenib.learning.policies.offpolicy import PolicyEstimate
from codenib.learning.policies.worlds import ROWS, coverage
from codenib.planner.model import ModelKind

SIMULATED = (
    "SIMULATED: the agent is a deterministic script, not a language model. Its runs show that the loop "
    "works; "
    "they are no evidence about any model, and its context policy cannot be activated."
)
_WORLDS = 100


def make_report(
    results: Sequence[RoundResult], split: SplitRows, figures: Path, *, simulated: bool
) -> tuple[Report, Record]:
    """The report and its summary."""
    learned = sum(map(len, split.rounds))
    repos = {row.cluster for part in (*split.rounds, split.replay) for row in part}
    apart = not {row.cluster for row in split.replay} & {row.cluster for part in split.rounds for row in part}
    report = Report(
        "Flywheel: what policies learn from traces, round by round",
        "Each round collects decisions (by the last policy, or with a known chance any action), fits small "
        "linear "
        "models of every action's value and cost on all decisions so far, and replays them on rows that "
        "nothing was "
        "learned from, where every action was run. **router** chooses how a search is routed; **context** "
        "chooses "
        "what an agent's first prompt holds and whether its history is rewritten. *rules* is CodeNib "
        "without a "
        f"model. A policy **wins** when the lower end of its gain is at least −{MARGIN} with a cost below "
        f"the "
        "rules' at both ends, or above 0 at no more cost.",
        f"{learned} rows to learn from in {len(split.rounds)} rounds, {len(split.replay)} to replay, of "
        f"{len(repos)} "
        f"repositories; the replay is {'of other repositories' if apart else 'the latest part of each'}.",
        warning=SIMULATED if simulated else "",
    )
    summary: Record = {"rows": learned, "replayed": len(split.replay), "rounds": [], "wins": {}}
    for kind in dict.fromkeys(each.kind for each in results):
        _decision(report, summary, [each for each in results if each.kind == kind], kind)
    _draw(report, results, figures)
    held = {name: each.inside for name, each in coverage(range(_WORLDS)).items()}
    summary["worlds"] = held
    report.certainty += [
        f"Gains and ratios: 95% percentile intervals from {RESAMPLES:,} draws of whole repositories, of "
        f"rows where "
        "there is one repository.",
        f"*estimated* is the doubly robust estimate from one random action a row. In {_WORLDS} simulated "
        f"worlds of "
        f"{ROWS} rows its interval holds the true value in {held['DR']} (IPS {held['IPS']}, SNIPS "
        f"{held['SNIPS']}).",
    ]
    report.left_out.append("A reranker as an action of the router: none is part of the package.")
    return report, summary


def _decision(report: Report, summary: Record, results: Sequence[RoundResult], kind: ModelKind) -> None:
    report.heading(f"{kind}: {REWARDS[kind]} and {UNITS[kind]}")
    lines = []
    for each in results:
        replayed, fitted = each.replayed, each.fitted
        log = _interval(fitted.gain, "+.3f") if fitted and fitted.gain else None
        lines.append(
            [
                f"round {each.number}" if each.number else "rules",
                fitted.model.card["decisions"] if fitted else None,
                f"{replayed.changed:.0%}",
                _interval(replayed.reward),
                _interval(replayed.estimated),
                f"{replayed.cost.value:,.0f}",
                _interval(replayed.gain, "+.3f") if fitted else None,
                _interval(replayed.ratio) if fitted else None,
                log,
                ("yes" if replayed.wins else "no") if fitted else None,
            ]
        )
        summary["rounds"].append(
            {
                "round": each.number,
                "decision": kind,
                "model": fitted.model.name if fitted else "",
                "changed": round(replayed.changed, 4),
                "reward": replayed.reward.rounded(),
                "estimated": replayed.estimated.rounded(),
                "cost": replayed.cost.rounded(1),
                "gain": replayed.gain.rounded(),
                "cost_ratio": replayed.ratio.rounded(),
                "wins": replayed.wins,
            }
        )
    summary["wins"][kind] = bool(results) and results[-1].replayed.wins
    heads = [
        "",
        "decisions",
        "leaves the rules",
        REWARDS[kind],
        "estimated",
        UNITS[kind],
        "gain",
        "cost / rules",
    ]
    report.table([*heads, "gain on the log", "wins"], lines)
    last = results[-1]
    if last.fitted is None:
        report.say("Nothing was learned: no decision was recorded.")
    elif last.replayed.wins:
        report.say(
            f"`{last.fitted.model.name}` wins: `codenib policy use policies/{kind}.json` activates it."
        )
    else:
        report.say(
            f"`{last.fitted.model.name}` does not win on the replay: it is not activated, the rules stay."
        )


def _interval(each: Estimate | PolicyEstimate, style: str = ".3f") -> str:
    return f"{each.value:{style}} [{each.low:{style}}, {each.high:{style}}]"


@optional_figure
def _draw(report: Report, results: Sequence[RoundResult], figures: Path) -> None:
    """Quality and cost by round; round 0 is the rules."""
    drawn = canvas(2, width=3.9, height=3.0)
    quality, cost = drawn.panels
    kinds = list(dict.fromkeys(each.kind for each in results))
    most = max(each.number for each in results)
    for number, kind in enumerate(kinds):
        mine = [each for each in results if each.kind == kind]
        at = [each.number + 0.06 * (number - (len(kinds) - 1) / 2) for each in mine]
        style = {
            "marker": MARKERS[number],
            "color": COLOURS[number],
            "markersize": 5,
            "linewidth": 1.2,
            "capsize": 2,
        }
        label = f"{kind}: {REWARDS[kind]}"
        _bars(quality, at, [each.replayed.reward for each in mine], {**style, "label": label})
        _bars(cost, at, [each.replayed.ratio for each in mine], {**style, "label": f"{kind}: {UNITS[kind]}"})
        quality.axhline(mine[0].replayed.reward.value, color=COLOURS[number], linewidth=0.8, linestyle=":")
    cost.axhline(1.0, color="#6B6B6B", linewidth=0.9, linestyle=":")
    for panel, title in ((quality, "quality (recall)"), (cost, "cost / rules")):
        panel.set_title(title, loc="left")
        panel.set_xticks(range(most + 1), ["rules", *(str(each) for each in range(1, most + 1))])
        panel.set_xlabel("round")
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22))
    drawn.save(figures, "rounds")
    report.figure("rounds", "Quality and cost on the replay by round, with 95% intervals; dotted: the rules.")


def _bars(panel: Any, at: Sequence[float], values: Sequence[Estimate], style: dict[str, Any]) -> None:
    below = [each.value - each.low for each in values]
    above = [each.high - each.value for each in values]
    panel.errorbar(at, [each.value for each in values], yerr=[below, above], **style)
