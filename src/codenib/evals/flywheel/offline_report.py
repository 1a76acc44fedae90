"""What was learned from recorded runs in, its report, its summary and a table for the terminal out."""

from __future__ import annotations

from collections.abc import Sequence

from codenib.evals.flywheel.collect import UNITS
from codenib.evals.flywheel.offline import LEAST_CHANCES, OfflinePolicy
from codenib.evals.flywheel.recorded import LATEST, RecordedRuns
from codenib.evals.reports.report import Report, table, with_interval
from codenib.evals.runs import Record

SCRIPTED = (
    "SIMULATED: a script played the model in some of these runs. What they say of a context is no evidence "
    "about any model, and such a policy cannot be activated."
)


def report_offline(results: Sequence[OfflinePolicy], recorded: RecordedRuns) -> tuple[Report, Record]:
    """The report and its summary."""
    card = recorded.card()
    repositories = ", ".join(f"{name} ({count})" for name, count in card["repositories"].items())
    report = Report(
        "Flywheel: policies from recorded runs",
        "Small linear models of what each action gives and costs, fitted on decisions that chance had "
        f"a part in, and compared with the rules on the latest {LATEST:.0%} of each repository's issues, "
        "which nothing was learned from. **router** chooses how the candidates of an issue are searched "
        "for, **context** what the first prompt holds and whether the history is rewritten.",
        f"{card['runs']} runs of {repositories}, {card['first']} to {card['last']}, "
        f"judged by `{recorded.measure}`; digest {card['digest']}.",
        warning=SCRIPTED if recorded.simulated else "",
    )
    summary: Record = {**card, "measure": recorded.measure, "decisions": [], "wins": {}}
    for each in results:
        report.heading(each.kind)
        summary["decisions"].append(_summary(each))
        summary["wins"][each.kind] = bool(each.measured and each.measured.wins)
        if each.measured is None or each.model is None:
            report.say(f"Nothing was learned: {each.refused}. The rules stay.")
        else:
            report.table(_HEADS, [_cells(each)])
            verdict = "wins" if each.measured.wins else "does not win: the rules stay"
            use = f": `codenib policy use policies/{each.kind}.json` activates it"
            report.say(f"`{each.model.name}` {verdict}{use if each.measured.wins else ''}.")
        report.left_out += [f"{each.kind}: {count} runs, {why}." for why, count in each.left_out.items()]
    report.certainty += [
        "*replay*: every action was run on the recorded snapshots; intervals by redrawing. *doubly robust "
        "estimate*: from the probabilities in the traces, corrected by what the actions taken gave; runs of "
        "one issue are drawn together. It holds for runs like these: same repositories, model and tools.",
        f"An estimate is refused where chance gives an action fewer than {LEAST_CHANCES:g} later runs.",
    ]
    return report, summary


def offline_table(results: Sequence[OfflinePolicy]) -> str:
    """A line for each decision."""
    lines = [_cells(each) if each.measured else [each.kind, f"refused: {each.refused}"] for each in results]
    return table(_HEADS, [[*line, *[""] * (len(_HEADS) - len(line))] for line in lines])


_HEADS = ["decision", "measured by", "runs", "later", "leaves the rules", "gain", "cost / rules", "wins"]


def _cells(each: OfflinePolicy) -> list[object]:
    assert each.measured is not None
    measured = each.measured
    return [
        each.kind,
        f"{measured.by} of {measured.reward} and {UNITS[each.kind]}",
        each.used,
        measured.n,
        f"{measured.changed:.0%}",
        with_interval(measured.gain, sign=True),
        with_interval(measured.ratio, 2),
        "yes" if measured.wins else "no",
    ]


def _summary(each: OfflinePolicy) -> Record:
    record: Record = {
        "decision": each.kind, "used": each.used, "left_out": dict(each.left_out), "refused": each.refused
    }  # fmt: skip
    if each.measured is None or each.model is None:
        return record
    measured = each.measured
    return {
        **record,
        "model": each.model.name,
        "measured_by": measured.by,
        "reward": measured.reward,
        "later": measured.n,
        "changed": round(measured.changed, 4),
        "gain": measured.gain.rounded(),
        "cost_ratio": measured.ratio.rounded(),
        "wins": measured.wins,
    }
