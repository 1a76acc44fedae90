"""Trajectories in, the paired effects of policies and the margin rule out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from codenib.evals.data.rows import LocalizeRow
from codenib.evals.metrics.bootstrap import Estimate, paired_difference, ratio_of_sums
from codenib.evals.reports.drawing import COLOURS, canvas, forest, optional_figure
from codenib.evals.reports.report import Report, with_interval
from codenib.evals.runs import Record
from codenib.evals.studies.context.agent import SIMULATED
from codenib.runtime.context.policies import POLICIES

CUTS = (1, 3, 5, 10)
MARGIN = 0.05  # the paper's ε
BASE = "grep_read"
RESAMPLES = 10_000
WARNING = (
    "SIMULATED: the answers come from a deterministic script, not from a language model. They show that the "
    "study works and how policies change what a plain reader spends; they are no evidence about any model."
)


@dataclass(frozen=True, slots=True)
class PolicyEffect:
    """A policy against grep_read on the same rows."""

    ratio: Estimate  # of trajectory tokens
    recall: Mapping[int, Estimate]  # change of AnswerRecall@k

    def meets(self, k: int = 5) -> bool:
        """The lower end of the paired interval clears the margin."""
        return self.recall[k].low >= -MARGIN


def effects(records: Sequence[Record], model: str, seed: int) -> dict[str, PolicyEffect]:
    """Every policy that has the baseline's rows."""
    by_policy = _by_policy(records, model)
    base = by_policy.get(BASE, {})
    found = {}
    for policy, mine in by_policy.items():
        shared = sorted(mine.keys() & base.keys())
        if policy == BASE or not shared:
            continue
        clusters = [base[row]["repo"] for row in shared]
        ratio = ratio_of_sums(
            [mine[row]["tokens"] for row in shared], [base[row]["tokens"] for row in shared], clusters,
            seed=seed, resamples=RESAMPLES,
        )  # fmt: skip
        changes = {
            k: paired_difference(
                [mine[row][f"answer_recall@{k}"] for row in shared],
                [base[row][f"answer_recall@{k}"] for row in shared],
                clusters, seed=seed, resamples=RESAMPLES,
            )
            for k in CUTS
        }  # fmt: skip
        found[policy] = PolicyEffect(ratio, changes)
    return found


def select(found: Mapping[str, PolicyEffect], k: int = 5) -> str:
    """The policy with the fewest tokens among those that keep the quality; grep_read keeps its own."""
    allowed = {BASE: 1.0} | {name: each.ratio.value for name, each in found.items() if each.meets(k)}
    return min(allowed, key=lambda name: (allowed[name], name))


@dataclass(frozen=True, slots=True)
class Trajectories:
    """What a report is made of: one record for each row, model and policy; figures go to `figures`."""

    rows: Sequence[LocalizeRow]
    records: Sequence[Record]
    models: Sequence[str]
    policies: Sequence[str]
    seed: int
    figures: Path


def make_report(trajectories: Trajectories, left_out: Sequence[str]) -> tuple[Report, Record]:
    """The report and its summary."""
    rows, models = trajectories.rows, trajectories.models
    simulated = SIMULATED in models
    report = Report(
        f"Context policies: tokens against answers{' (simulated agent)' if simulated else ''}",
        "An agent gets an issue and ordinary tools (grep, read, list), at most 16 turns, and answers "
        "with source "
        "locations. **grep_read** starts with the issue alone; **eager** adds the ten best-ranked functions; "
        "**compact** adds the same ones and rewrites the history once after the first successful read; "
        "**adaptive** chooses as it goes. **Trajectory tokens**: prompt and completion tokens of every "
        "invocation, as the provider reports them. **AnswerRecall@k**: the share of a row's target functions "
        "that overlap one of the first k locations of the answer; an answer without a usable "
        "location scores 0. "
        f"A policy *keeps the quality* when the lower end of the paired 95% interval of ΔAnswerRecall@5 to "
        f"grep_read is at least −{MARGIN}; among those, fewer tokens are better.",
        f"{len(rows)} rows of {len({row.cluster for row in rows})} repositories; models: "
        f"{', '.join(models)}; "
        "one trajectory per row, policy and model.",
        warning=WARNING if simulated else "",
    )
    report.left_out += [
        *left_out,
        "Repeated samples of a model: intervals are over repositories, not over a model's randomness.",
        "Cache hits, prefill, latency and billing: tokens are the provider's totals.",
    ]
    summary: Record = {"rows": len(rows), "table": {}, "selected": {}, "models": list(models)}
    for model in models:
        _model(report, summary, trajectories, model)
    report.certainty.append(
        f"Paired 95% percentile intervals from {RESAMPLES:,} draws of whole repositories "
        f"(seed {trajectories.seed})."
    )
    return report, summary


def _model(report: Report, summary: Record, trajectories: Trajectories, model: str) -> None:
    records, seed = trajectories.records, trajectories.seed
    label = "simulated agent" if model == SIMULATED else model
    report.heading(f"{label}: policies")
    found, by_policy = effects(records, model, seed), _by_policy(records, model)
    lines = []
    for policy in trajectories.policies:
        mine = list(by_policy.get(policy, {}).values())
        if not mine:
            continue
        effect = found.get(policy)
        cells = [
            f"{mean(each['tokens'] for each in mine):,.0f}",
            f"{mean(each['answer_recall@5'] for each in mine):.3f}",
            with_interval(effect.ratio) if effect else "1",
            with_interval(effect.recall[5], sign=True) if effect else None,
        ]
        kept = "–" if effect is None else "yes" if effect.meets() else "no"
        turns = f"{mean(each['turns'] for each in mine):.1f}"
        formats = f"{sum(each['answer_format'] > 0 for each in mine) / len(mine):.1%}"
        summary["table"][f"{label}, {policy}"] = cells
        lines.append([policy, *cells, kept, turns, formats])
    heads = ["policy", "mean tokens", "AnswerRecall@5", "tokens / grep_read", "ΔAnswerRecall@5"]
    report.table([*heads, "keeps the quality", "mean turns", "asked for the format"], lines)
    if not found:
        return
    chosen = {k: select(found, k) for k in CUTS}
    summary["selected"][model] = chosen[5]
    report.say(f"Selected by the rule: **{chosen[5]}**.")
    report.heading(f"{label}: sensitivity to the cutoff")
    report.table(
        ["policy", *(f"ΔAR@{k}" for k in CUTS), "least lower end"],
        [
            [
                policy,
                *(f"{each.recall[k].value:+.3f}" for k in CUTS),
                f"{min(each.recall[k].low for k in CUTS):+.3f}",
            ]
            for policy, each in found.items()
        ],
        f"Selected at each cutoff: {', '.join(f'@{k} {name}' for k, name in chosen.items())}.",
    )
    _draw(report, found, label, model, trajectories.figures)
    _slices(report, records, model, seed)


@optional_figure
def _draw(report: Report, found: Mapping[str, PolicyEffect], label: str, model: str, figures: Path) -> None:
    drawn = canvas(2, width=4.2, height=1.1 + 0.36 * len(found))
    colours = COLOURS[: len(found)]
    forest(drawn.panels[0], {name: each.ratio for name, each in found.items()}, zero=1.0, colours=colours)
    drawn.panels[0].set_title("tokens / grep_read", loc="left")
    recalls = {name: each.recall[5] for name, each in found.items()}
    forest(drawn.panels[1], recalls, zero=0.0, margin=-MARGIN, colours=colours)
    drawn.panels[1].set_title("Δ AnswerRecall@5", loc="left")
    if model == SIMULATED:
        drawn.figure.suptitle("simulated agent, no language model", fontsize=8, color="#D55E00")
    name = f"policies-{''.join(c if c.isalnum() else '-' for c in model)}"
    drawn.save(figures, name)
    caption = f"{label}: effects against grep_read with 95% intervals; the dashed line is the margin."
    report.figure(name, caption)


def _slices(report: Report, records: Sequence[Record], model: str, seed: int) -> None:
    languages = sorted({each["language"] for each in records if each["model"] == model})
    lines = []
    for language in languages:
        mine = [each for each in records if each["model"] == model and each["language"] == language]
        for policy, each in effects(mine, model, seed).items():
            row = [language, policy, each.ratio.n, with_interval(each.ratio)]
            lines.append([*row, with_interval(each.recall[5], sign=True)])
    if len(languages) > 1:
        report.heading("By language")
        note = "Descriptive: no routing by language follows from these intervals."
        report.table(["language", "policy", "rows", "tokens / grep_read", "ΔAnswerRecall@5"], lines, note)


def _by_policy(records: Sequence[Record], model: str) -> dict[str, dict[str, Record]]:
    found: dict[str, dict[str, Record]] = {}
    for each in records:
        if each["model"] == model:
            found.setdefault(each["policy"], {})[each["row"]] = each
    return {policy: found[policy] for policy in sorted(found, key=_place)}


def _place(policy: str) -> tuple[int, str]:
    """The order of reports: the baseline first, then what adds to it."""
    return (POLICIES.index(policy) if policy in POLICIES else len(POLICIES), policy)
