"""Answers of search, plan, regex, read, units, explore, map and history in, their JSON values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from codenib.adapters.envelopes.envelope import (
    Envelope,
    UtcTime,
    freshness_of,
    rounded,
    snapshot_id,
    utc,
)
from codenib.core.answers import (
    Answer,
    Coverage,
    Evidence,
    Explanation,
    LineMatch,
    MeasuredStep,
    Passage,
    Plan,
    PlanStep,
    RegexAnswer,
    SnapshotRef,
)
from codenib.core.context import (
    Block,
    ContextPack,
    Declaration,
    FileOverview,
    FolderRest,
    Module,
    ModuleAnswer,
    ModuleUse,
    Overview,
    Related,
    RepoMap,
)
from codenib.core.history import BlameAnswer, Companion, HistoryAnswer, Touch
from codenib.core.requests import SnapshotRequest
from codenib.core.source import SourceUnit
from codenib.serving.search.searcher import PlanExplanation
from codenib.serving.workspace import Workspace


class SearchReply(Envelope[Evidence], kw_only=True, frozen=True):
    """`search`. `without` names views that it could not use; `note` says why, and what helps.

    `steps` are what was done and how long each took; with `--explain`, `explained` says of each item why it
    stands where it does.
    """

    plan: Plan
    coverage: Coverage
    note: str
    without: tuple[str, ...]
    steps: tuple[MeasuredStep, ...] = ()
    explained: tuple[Explanation, ...] = ()


class BatchReply(SearchReply, kw_only=True, frozen=True):
    """A line of `search --batch`: the answer to the row of this id."""

    id: str | int


class PlanReply(Envelope[PlanStep], kw_only=True, frozen=True):
    """`plan`: its steps in order; `words` is the same as a sentence, `signals` what the query was read as."""

    plan: Plan
    words: str
    signals: Mapping[str, Any]
    costs_ms: Mapping[str, float]


class RegexReply(Envelope[LineMatch], kw_only=True, frozen=True):
    """`regex`. `total` is a lower bound unless `complete`."""

    files: int
    complete: bool
    scanned_all: bool
    candidates: int
    note: str
    coverage: Coverage


class Lines(msgspec.Struct, frozen=True):
    """Lines of a file; `lines` counts all that it has."""

    path: str
    start_line: int
    end_line: int
    lines: int
    language: str
    text: str


class ReadReply(Envelope[Lines], kw_only=True, frozen=True):
    """`read`: the one stretch that was asked for."""


class FolderEntry(msgspec.Struct, frozen=True):
    """A file of a folder, or a folder in it, which ends with a slash, with how many files are below it."""

    path: str
    kind: Literal["folder", "file"]
    files: int


class FolderReply(Envelope[FolderEntry], kw_only=True, frozen=True):
    """`read FOLDER`: what the folder holds."""


class UnitItem(msgspec.Struct, frozen=True):
    """A source unit."""

    path: str
    start_line: int
    end_line: int
    level: str
    kind: str
    symbol: str
    language: str


class UnitsReply(Envelope[UnitItem], kw_only=True, frozen=True):
    """`units`"""


class ExploreReply(Envelope[Block], kw_only=True, frozen=True):
    """`explore`: `text` is the pack; `omitted` of the `total` units that match are not in `items`."""

    plan: Plan
    tokenizer: str
    tokens: int
    max_tokens: int
    omitted: int
    coverage: Coverage
    related: tuple[Related, ...]
    folders: tuple[str, ...]
    text: str
    note: str


class MapReply(Envelope[Declaration], kw_only=True, frozen=True):
    """`map`: `text` is the map."""

    tokenizer: str
    tokens: int
    max_tokens: int
    ranked_by: tuple[str, ...]
    text: str


class OverviewReply(Envelope[FileOverview], kw_only=True, frozen=True):
    """`overview`: the longest files below `folder`; `rest` counts those that are not listed.

    `unmeasured` files are in no view. What is null is not known, which is not none.
    """

    folder: str
    lines: int
    rest: tuple[FolderRest, ...]
    unmeasured: int
    note: str


class ModulesReply(Envelope[Module], kw_only=True, frozen=True):
    """`modules`: the busiest folders and files, and their `uses` of each other, of `total_uses`.

    `cycle` of an item numbers the ring that it is part of; 0: none. `backends` resolved the uses: files of
    other languages have none here.
    """

    uses: tuple[ModuleUse, ...]
    total_uses: int
    opened: tuple[str, ...]
    cycles: int
    backends: Mapping[str, str]
    note: str


class CommitItem(msgspec.Struct, frozen=True):
    """A commit that changed the lines asked for; `lines` are where they stood after it."""

    commit: str
    author: str
    committed: UtcTime
    authored: UtcTime
    subject: str
    message: str
    path: str
    old_path: str
    lines: tuple[tuple[int, int], ...]
    added: int
    removed: int


class HistoryReply(Envelope[CommitItem], kw_only=True, frozen=True):
    """`history`"""

    path: str
    start_line: int
    end_line: int
    complete: bool
    uncommitted: int
    commits: int
    reachable: int
    together: tuple[Companion, ...]
    note: str


class BlameItem(msgspec.Struct, frozen=True):
    """Lines that one commit changed last; no commit where none did, or none is known."""

    start_line: int
    end_line: int
    commit: str | None
    author: str
    committed: UtcTime | None
    subject: str


class BlameReply(Envelope[BlameItem], kw_only=True, frozen=True):
    """`blame`. `unknown` lines are older than what the view holds; `uncommitted` ones are in no commit."""

    path: str
    uncommitted: int
    unknown: int
    note: str


def blame_reply(answer: BlameAnswer) -> BlameReply:
    return BlameReply(
        items=tuple(
            BlameItem(
                start_line=run.start_line,
                end_line=run.end_line,
                commit=run.commit or None,
                author=run.author,
                committed=utc(run.committed) if run.commit else None,
                subject=run.subject,
            )
            for run in answer.items
        ),
        total=len(answer.items),
        truncated=False,
        snapshot=snapshot_id(answer.snapshot),
        freshness=freshness_of(answer.snapshot, answer.refreshed),
        provider="git",
        seconds=rounded(answer.seconds),
        path=answer.path,
        uncommitted=answer.uncommitted,
        unknown=answer.unknown,
        note=answer.note,
    )


def search_reply(answer: Answer) -> SearchReply:
    return SearchReply(
        items=answer.items,
        total=answer.total,
        truncated=answer.truncated,
        snapshot=snapshot_id(answer.snapshot),
        freshness=freshness_of(answer.snapshot, answer.refreshed),
        provider=answer.plan.route,
        seconds=rounded(answer.seconds),
        plan=answer.plan,
        coverage=answer.coverage,
        note=answer.note,
        without=answer.without,
        steps=answer.steps,
        explained=answer.explained,
    )


def batch_reply(row: str | int, answer: Answer) -> BatchReply:
    reply = search_reply(answer)
    return BatchReply(id=row, **{name: getattr(reply, name) for name in reply.__struct_fields__})


def plan_reply(explained: PlanExplanation, seconds: float) -> PlanReply:
    return PlanReply(
        items=explained.steps,
        total=len(explained.steps),
        truncated=False,
        snapshot=snapshot_id(explained.snapshot),
        freshness=freshness_of(explained.snapshot, explained.refreshed),
        provider="planner",
        seconds=rounded(seconds),
        plan=explained.plan,
        words=explained.words,
        signals=msgspec.to_builtins(explained.signals),
        costs_ms=explained.costs_ms,
    )


def regex_reply(answer: RegexAnswer) -> RegexReply:
    return RegexReply(
        items=answer.items,
        total=answer.total,
        truncated=answer.truncated,
        snapshot=snapshot_id(answer.snapshot),
        freshness=freshness_of(answer.snapshot, answer.refreshed),
        provider=answer.provider,
        seconds=rounded(answer.seconds),
        files=answer.files,
        complete=answer.complete,
        scanned_all=answer.scanned_all,
        candidates=answer.candidates,
        note=answer.reason,
        coverage=answer.coverage,
    )


def read_reply(passage: Passage, seconds: float) -> ReadReply:
    lines = Lines(
        path=passage.path,
        start_line=passage.start_line,
        end_line=passage.end_line,
        lines=passage.lines,
        language=passage.language,
        text=passage.text,
    )
    return ReadReply(
        items=(lines,),
        total=1,
        truncated=False,
        snapshot=snapshot_id(passage.snapshot),
        freshness=freshness_of(passage.snapshot),
        provider="snapshot",
        seconds=rounded(seconds),
    )


def folder_entries(workspace: Workspace, path: str, snapshot: SnapshotRequest) -> list[FolderEntry]:
    """What a folder holds: its folders with how many files are below them, then its files."""
    folder = workspace.reader.relative(path).strip("/")
    start = "" if folder in ("", ".") else f"{folder}/"
    below = [file for file in workspace.reader.files(snapshot) if file.startswith(start)]
    counts: dict[str, int] = {}
    for file in below:
        first, slash, _ = file[len(start) :].partition("/")
        name = f"{start}{first}{slash}"
        counts[name] = counts.get(name, 0) + 1
    ordered = sorted(counts.items(), key=lambda entry: (not entry[0].endswith("/"), entry[0]))
    return [FolderEntry(name, "folder" if name.endswith("/") else "file", often) for name, often in ordered]


def folder_reply(entries: Sequence[FolderEntry], ref: SnapshotRef, seconds: float) -> FolderReply:
    return FolderReply(
        items=tuple(entries),
        total=len(entries),
        truncated=False,
        snapshot=snapshot_id(ref),
        freshness=freshness_of(ref),
        provider="snapshot",
        seconds=rounded(seconds),
    )


def units_reply(units: Sequence[SourceUnit], ref: SnapshotRef, seconds: float) -> UnitsReply:
    items = tuple(
        UnitItem(
            path=unit.span.path,
            start_line=unit.span.start_line,
            end_line=unit.span.end_line,
            level=unit.level.name,
            kind=unit.kind,
            symbol=unit.symbol,
            language=unit.language,
        )
        for unit in units
    )
    return UnitsReply(
        items=items,
        total=len(items),
        truncated=False,
        snapshot=snapshot_id(ref),
        freshness=freshness_of(ref),
        provider="units",
        seconds=rounded(seconds),
    )


def explore_reply(pack: ContextPack) -> ExploreReply:
    return ExploreReply(
        items=pack.blocks,
        total=pack.total,
        truncated=pack.omitted > 0,
        snapshot=snapshot_id(pack.snapshot),
        freshness=freshness_of(pack.snapshot, pack.refreshed),
        provider=pack.plan.route,
        seconds=rounded(pack.seconds),
        plan=pack.plan,
        tokenizer=pack.tokenizer,
        tokens=pack.tokens,
        max_tokens=pack.max_tokens,
        omitted=pack.omitted,
        coverage=pack.coverage,
        related=pack.related,
        folders=pack.folders,
        text=pack.text,
        note=pack.note,
    )


def map_reply(drawn: RepoMap) -> MapReply:
    return MapReply(
        items=drawn.declarations,
        total=drawn.total,
        truncated=drawn.omitted > 0,
        snapshot=snapshot_id(drawn.snapshot),
        freshness=freshness_of(drawn.snapshot, drawn.refreshed),
        provider=", ".join(drawn.ranked_by),
        seconds=rounded(drawn.seconds),
        tokenizer=drawn.tokenizer,
        tokens=drawn.tokens,
        max_tokens=drawn.max_tokens,
        ranked_by=drawn.ranked_by,
        text=drawn.text,
    )


def overview_reply(answer: Overview) -> OverviewReply:
    return OverviewReply(
        items=answer.items,
        total=answer.total,
        truncated=answer.truncated,
        snapshot=snapshot_id(answer.snapshot),
        freshness=freshness_of(answer.snapshot, answer.refreshed),
        provider="views",
        seconds=rounded(answer.seconds),
        folder=answer.folder,
        lines=answer.lines,
        rest=answer.rest,
        unmeasured=answer.unmeasured,
        note=answer.note,
    )


def modules_reply(answer: ModuleAnswer) -> ModulesReply:
    return ModulesReply(
        items=answer.items,
        total=answer.total,
        truncated=answer.truncated,
        snapshot=snapshot_id(answer.snapshot),
        freshness=freshness_of(answer.snapshot, answer.refreshed),
        provider="static" if answer.backends else "syntactic",
        seconds=rounded(answer.seconds),
        uses=answer.uses,
        total_uses=answer.total_uses,
        opened=answer.opened,
        cycles=answer.cycles,
        backends=answer.backends,
        note=answer.note,
    )


def history_reply(answer: HistoryAnswer) -> HistoryReply:
    return HistoryReply(
        items=tuple(map(_commit_item, answer.items)),
        total=answer.total,
        truncated=answer.truncated,
        snapshot=snapshot_id(answer.snapshot),
        freshness=freshness_of(answer.snapshot, answer.refreshed),
        provider="git",
        seconds=rounded(answer.seconds),
        path=answer.path,
        start_line=answer.start_line,
        end_line=answer.end_line,
        complete=answer.complete,
        uncommitted=answer.uncommitted,
        commits=answer.commits,
        reachable=answer.reachable,
        together=answer.together,
        note=answer.note,
    )


def _commit_item(touch: Touch) -> CommitItem:
    return CommitItem(
        commit=touch.commit,
        author=touch.author,
        committed=utc(touch.committed),
        authored=utc(touch.authored),
        subject=touch.subject,
        message=touch.message,
        path=touch.path,
        old_path=touch.old_path,
        lines=touch.lines,
        added=touch.added,
        removed=touch.removed,
    )
