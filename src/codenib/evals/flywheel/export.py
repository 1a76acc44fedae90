"""The decisions of a round in, its data out: a line for each decision, and the folders of `trace export`.

export/round-N.jsonl            every decision with its alternatives, chance, outcome and cost
export/round-N/AIM/             the agent's runs of the round, as `codenib trace export --for AIM` writes them
export/round-N/outcomes.jsonl   what that command is given: the answers that the rows know
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from codenib.evals.data.rows import LocalizeRow
from codenib.evals.flywheel.collect import REWARDS, UNITS, Collector
from codenib.evals.runs import Record
from codenib.runtime.traces.export_dataset import ExportOptions, export_dataset
from codenib.runtime.traces.export_outcomes import GivenOutcome, KnownAnswer, read_outcomes
from codenib.runtime.traces.export_rows import AIMS
from codenib.runtime.traces.trace import read_trace

_EXPORTED = (
    "decision",
    "row",
    "repo",
    "features",
    "default",
    "action",
    "propensity",
    "model",
    "reward",
    "cost",
)


def export_round(
    collector: Collector, name: str, records: Sequence[Record], rows: Sequence[LocalizeRow]
) -> None:
    """Write what a round gave below the run's folder, in place of what is there."""
    folder = collector.run.folder
    lines = [
        json.dumps(
            {
                **{field: each[field] for field in _EXPORTED},
                "alternatives": list(collector.decisions[each["decision"]]),
                "reward_is": REWARDS[each["decision"]],
                "cost_is": UNITS[each["decision"]],
                "trace": each.get("trace", ""),
            },
            ensure_ascii=False,
        )
        for each in records
    ]
    replace_file(folder / "export" / f"{name}.jsonl", "".join(f"{line}\n" for line in lines))
    traced = {str(folder / each["trace"]): each["row"] for each in records if each.get("trace")}
    if traced:
        _export_runs(folder / "export" / name, traced, {row.id: row for row in rows})


def _export_runs(folder: Path, traced: dict[str, str], rows: dict[str, LocalizeRow]) -> None:
    """The training data of the round's runs; the folder appears whole, or not at all."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    outcomes = part / "outcomes.jsonl"
    lines = [_outcome(file, rows[row]) for file, row in traced.items()]
    replace_file(outcomes, "".join(f"{line}\n" for line in lines))
    traces = {file: read_trace(file) for file in traced}
    parquet = find_spec("pyarrow") is not None
    for aim in AIMS:
        options = ExportOptions(aim, outcomes=read_outcomes(outcomes), parquet=parquet)
        export_dataset(traces, part / aim, options)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def _outcome(file: str, row: LocalizeRow) -> str:
    answers = tuple(KnownAnswer(each.path, each.start_line, each.end_line) for each in row.targets)
    return msgspec.json.encode(GivenOutcome(Path(file).name, answers=answers)).decode()


def replace_file(file: Path, text: str) -> None:
    """Write a file in one step."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)
