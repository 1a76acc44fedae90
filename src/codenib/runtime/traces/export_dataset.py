"""Traces in, a folder of training data out: rows in splits, data card, schema, and the traces themselves.

FORM/SPLIT.jsonl, .parquet   the rows; FORM is messages, pairs or decisions
traces/RUN.jsonl             each run without secrets, which `codenib trace replay` runs again
README.md, card.json         the data card; its head names the files for loaders of datasets
schema.json                  the JSON schema of the rows
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from codenib import __version__
from codenib.core.errors import InputError
from codenib.runtime.traces.export_card import DataCard, render_card
from codenib.runtime.traces.export_decisions import decision_rows
from codenib.runtime.traces.export_outcomes import GivenOutcome, outcome_of
from codenib.runtime.traces.export_pairs import candidate_pairs, compaction_rows, message_rows, run_pairs
from codenib.runtime.traces.export_parquet import check_parquet, write_parquet
from codenib.runtime.traces.export_rows import FORMS, ROWS, Aim, DecisionRow, Form, TrainingRow, rows_schema
from codenib.runtime.traces.export_runs import ExportRun, about_run, answer_of, masked_events
from codenib.runtime.traces.export_split import SPLITS, Split, SplitPlan, split_runs
from codenib.runtime.traces.trace import Event


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What the user says about an export. `consent` is who lets these runs be used, in their words."""

    aim: Aim
    outcomes: Mapping[str, GivenOutcome] = field(default_factory=dict)
    consent: str = ""
    source: bool = True
    answered_only: bool = False
    parquet: bool = True


def export_dataset(
    traces: Mapping[str, Sequence[Event]], out: str | Path, options: ExportOptions
) -> DataCard:
    """Write the training data of an aim into the empty or new folder `out`; `traces` are by file."""
    if options.parquet:
        check_parquet()
    runs, copies = read_runs(traces, options)
    plan = split_runs(runs)
    target = _new_folder(Path(out))
    with _part_of(target) as folder:
        return _write_dataset(folder, runs, plan, options, copies)


def _write_dataset(
    folder: Path, runs: Sequence[ExportRun], plan: SplitPlan, options: ExportOptions, copies: int
) -> DataCard:
    counts: dict[str, dict[str, int]] = {}
    duplicates = 0
    for form in FORMS[options.aim]:
        rows, dropped = _unlike(_rows(form, runs, options))
        duplicates += dropped
        by_split: dict[Split, list[TrainingRow]] = {split: [] for split in SPLITS}
        for row in rows:
            by_split[plan.of_run[row.about.run]].append(row)
        counts[form] = {split: len(by_split[split]) for split in SPLITS}
        _write(folder / form, by_split, ROWS[form], options)
    if options.source:
        for run in runs:
            _write_lines(folder / "traces" / f"{run.about.run}.jsonl", run.events)
    card = _card(runs, options, counts, plan.rule, (copies, duplicates))
    (folder / "schema.json").write_bytes(msgspec.json.format(msgspec.json.encode(rows_schema(options.aim))))
    (folder / "card.json").write_bytes(msgspec.json.format(msgspec.json.encode(card)))
    (folder / "README.md").write_text(render_card(card), encoding="utf-8")
    return card


@contextmanager
def _part_of(target: Path) -> Iterator[Path]:
    """A folder beside `target` to write into; it takes its place when all is written, and goes otherwise.

    What a killed export left there is removed first.
    """
    target = target.resolve()
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        yield part
        if target == Path.cwd():  # somebody stands in it
            for each in sorted(part.iterdir()):
                each.rename(target / each.name)
        else:
            target.rmdir()  # empty
            part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def read_runs(traces: Mapping[str, Sequence[Event]], options: ExportOptions) -> tuple[list[ExportRun], int]:
    """Each run once, oldest first, and how many were copies."""
    found: dict[str, ExportRun] = {}
    copies = 0
    for file, given in traces.items():
        events, masked = masked_events(given)
        about, answer = about_run(events, options.consent), answer_of(events)
        outcome = outcome_of(options.outcomes, _names(file, about.run), answer)
        if options.answered_only and not outcome.answered:
            continue
        copies += about.run in found
        run = ExportRun(events, about, outcome, file, masked=masked, source=options.source)
        found.setdefault(about.run, run)
    if not found:
        raise InputError(
            "no run is left to export", hint="codenib trace export FILE… without --answered-only"
        )
    _check_named(options.outcomes, list(found.values()))
    return sorted(found.values(), key=lambda run: (run.about.started, run.about.run)), copies


def _check_named(outcomes: Mapping[str, GivenOutcome], runs: Sequence[ExportRun]) -> None:
    """Refuse outcomes of which none is of these runs, and one that is of several."""
    named: dict[str, list[str]] = {}
    for run in runs:
        if given := given_outcome(run, outcomes):
            named.setdefault(given.trace, []).append(run.file)
    if outcomes and not named:
        first = next(iter(outcomes))
        raise InputError(
            f"no outcome is of these runs: the first names {first}", hint=f'{{"trace": "{runs[0].file}", …}}'
        )
    for trace, files in named.items():
        if len(files) > 1:
            raise InputError(
                f"the outcome of {trace} could be that of {' or '.join(files[:2])}",
                hint=f'{{"trace": "{files[0]}", …}}',
            )


def given_outcome(run: ExportRun, outcomes: Mapping[str, GivenOutcome]) -> GivenOutcome | None:
    """What the user gave for a run, by any of its names."""
    return next((outcomes[name] for name in _names(run.file, run.about.run) if name in outcomes), None)


def _names(file: str, run: str) -> tuple[str, ...]:
    """How a line of outcomes may name a run."""
    return file, Path(file).name, Path(file).stem, run


def _rows(form: Form, runs: Sequence[ExportRun], options: ExportOptions) -> Iterator[TrainingRow]:
    if form == "pairs" and options.aim == "tools":
        yield from run_pairs(runs)
        return
    for run in runs:
        if form == "decisions":
            yield from decision_rows(run, options.aim)
        elif form == "messages":
            yield from compaction_rows(run) if options.aim == "compaction" else message_rows(run)
        else:
            yield from candidate_pairs(run, given_outcome(run, options.outcomes))


def _unlike(rows: Iterable[TrainingRow]) -> tuple[list[TrainingRow], int]:
    """Rows without those that a trainer would see twice. Decisions of different runs are never the same."""
    found: dict[bytes, TrainingRow] = {}
    total = 0
    for row in rows:
        total += 1
        if isinstance(row, DecisionRow):
            key = msgspec.json.encode((row.about.run, row.choice, row.step))
        else:
            content = msgspec.to_builtins(row)
            for name in ("about", "outcome", "step", "rejected_run", "why"):
                content.pop(name, None)
            key = msgspec.json.encode(content)
        found.setdefault(key, row)
    return list(found.values()), total - len(found)


def _new_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"{folder} is not empty", hint="--out a new folder")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}", hint="--out FOLDER") from error
    return folder


def _write(
    folder: Path,
    by_split: Mapping[Split, Sequence[TrainingRow]],
    kind: type[msgspec.Struct],
    options: ExportOptions,
) -> None:
    """A split without rows has no file: loaders refuse empty ones."""
    for split, rows in by_split.items():
        if rows:
            _write_lines(folder / f"{split}.jsonl", rows)
            if options.parquet:
                write_parquet(folder / f"{split}.parquet", rows, kind)


def _write_lines(file: Path, values: Iterable[msgspec.Struct]) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("wb") as stream:
        for value in values:
            stream.write(msgspec.json.encode(value) + b"\n")


def _card(
    runs: Sequence[ExportRun],
    options: ExportOptions,
    counts: Mapping[str, Mapping[str, int]],
    rule: str,
    dropped: tuple[int, int],
) -> DataCard:
    names = {name for run in runs for name in (run.file, Path(run.file).name, Path(run.file).stem)}
    names |= {run.about.run for run in runs}
    started = sorted(run.about.started for run in runs if run.about.started)
    return DataCard(
        aim=options.aim,
        codenib=__version__,
        rows=counts,
        split_rule=rule,
        runs=len(runs),
        copies_dropped=dropped[0],
        duplicates_dropped=dropped[1],
        masked_runs=sum(run.masked for run in runs),
        source=options.source,
        parquet=options.parquet,
        consent=options.consent,
        first=started[0] if started else "",
        last=started[-1] if started else "",
        undated=len(runs) - len(started),
        repositories=dict(Counter(run.about.repository for run in runs)),
        licences=dict(Counter(run.about.license or "unknown" for run in runs)),
        models=dict(Counter(f"{run.about.provider}:{run.about.model}" for run in runs)),
        policies=dict(Counter(run.about.policy for run in runs)),
        answered=sum(run.outcome.answered for run in runs),
        with_outcome=sum(_has_outcome(run) for run in runs),
        outcomes_without_trace=sum(name not in names for name in options.outcomes),
    )


def _has_outcome(run: ExportRun) -> bool:
    given = run.outcome
    return any(each is not None for each in (given.tests_passed, given.patch_accepted, given.recall))
