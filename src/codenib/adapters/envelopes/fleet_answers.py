"""Answers of many repositories in, their JSON values out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from codenib.adapters.envelopes.envelope import Envelope, SnapshotId, rounded, snapshot_id
from codenib.fleet.search.answers import (
    FleetAnswer,
    FleetCoverage,
    FleetEvidence,
    FleetLines,
    FleetSymbols,
)


class AskedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A repository that was asked: which state answered, and whether a newer commit is there (null: unknown).

    `relevance` is how likely its summary made it, 1 for the best; `best` the score of its best result;
    `likelihood` how likely both make it; `called` the name of it that the query says and `words` those of the
    query that spoke most for it; `results` how many of the items are its own.
    """

    name: str
    snapshot: SnapshotId
    behind: bool | None
    relevance: float
    likelihood: float
    called: str
    words: tuple[str, ...]
    best: float
    results: int
    seconds: float


class FleetCoverageItem(msgspec.Struct, frozen=True, kw_only=True):
    """Which of the repositories in question were asked.

    `unlikely` were left out since others fit better, `next_likely` are the first of them; `excluded` cannot
    have a result; `unavailable` could not be asked, by name with the reason. `complete`: nothing is missing
    from the answer for want of asking.
    """

    repositories: int
    asked: tuple[AskedItem, ...]
    unlikely: int
    next_likely: tuple[str, ...]
    excluded: int
    unavailable: Mapping[str, str]
    complete: bool


class FleetPlaceItem(msgspec.Struct, frozen=True, kw_only=True):
    """A ranked place. `score` is how likely its repository is meant, less for each further place of it."""

    repository: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    kind: str
    level: str
    language: str
    score: float
    marks: tuple[str, ...]
    matched: tuple[str, ...]


class FleetSearchReply(Envelope[FleetPlaceItem], kw_only=True, frozen=True):
    """`fleet search`. `total` counts the matches in the repositories that were asked."""

    coverage: FleetCoverageItem
    note: str


class FleetLineItem(msgspec.Struct, frozen=True, kw_only=True):
    """A matching line, as `regex` gives it, with its repository."""

    repository: str
    path: str
    line: int
    column: int
    end_column: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class FleetRegexReply(Envelope[FleetLineItem], kw_only=True, frozen=True):
    """`fleet regex`. `complete`: every repository was searched, or its trigrams exclude a match; otherwise
    `total` is a lower bound.
    """

    files: int
    complete: bool
    coverage: FleetCoverageItem
    note: str


class FleetSymbolItem(msgspec.Struct, frozen=True, kw_only=True):
    """A declaration with its repository, and the package that exports it where a manifest tells."""

    repository: str
    path: str
    line: int
    end_line: int
    name: str
    qualified: str
    kind: str
    package: str


class RequiredVersionItem(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of `repository` asks for of a package, and what its exporter's manifest states.

    `fits`: null where it is not known. `tags`: the newest of the exporter's clone that fit, `fitting` how
    many do, null where they could not be read.
    """

    repository: str
    manifest: str
    package: str
    wanted: str
    locked: bool
    exporter: str
    stated: str
    fits: bool | None
    tags: tuple[str, ...]
    fitting: int | None


class FleetSymbolsReply(Envelope[FleetSymbolItem], kw_only=True, frozen=True):
    """`fleet symbols`"""

    coverage: FleetCoverageItem
    note: str
    required: tuple[RequiredVersionItem, ...]


class FleetNameItem(msgspec.Struct, frozen=True):
    """A repository that may be asked."""

    name: str


def fleet_regex_reply(answer: FleetLines) -> FleetRegexReply:
    items = tuple(
        FleetLineItem(
            repository=item.repository,
            path=item.match.path,
            line=item.match.line,
            column=item.match.column,
            end_column=item.match.end_column,
            text=item.match.text,
            before=item.match.before,
            after=item.match.after,
        )
        for item in answer.items
    )
    return FleetRegexReply(
        items=items,
        total=answer.total,
        truncated=answer.truncated or not answer.complete,
        snapshot=None,
        freshness=None,
        provider="trigram",
        seconds=rounded(answer.seconds),
        files=answer.files,
        complete=answer.complete,
        coverage=coverage_item(answer.coverage),
        note=answer.note,
    )


def fleet_symbols_reply(answer: FleetSymbols) -> FleetSymbolsReply:
    items = tuple(
        FleetSymbolItem(
            repository=item.repository,
            path=item.symbol.path,
            line=item.symbol.line,
            end_line=item.symbol.end_line,
            name=item.symbol.name,
            qualified=item.symbol.qualified,
            kind=item.symbol.kind,
            package=item.package,
        )
        for item in answer.items
    )
    return FleetSymbolsReply(
        items=items,
        total=answer.total,
        truncated=answer.truncated,
        snapshot=None,
        freshness=None,
        provider="fleet",
        seconds=rounded(answer.seconds),
        coverage=coverage_item(answer.coverage),
        note=answer.note,
        required=tuple(
            RequiredVersionItem(
                repository=each.repository,
                manifest=each.manifest,
                package=each.package,
                wanted=each.wanted,
                locked=each.locked,
                exporter=each.exporter,
                stated=each.stated,
                fits=each.fits,
                tags=each.tags,
                fitting=each.fitting,
            )
            for each in answer.required
        ),
    )


def fleet_search_reply(answer: FleetAnswer) -> FleetSearchReply:
    return FleetSearchReply(
        items=tuple(map(_place, answer.items)),
        total=answer.total,
        truncated=answer.truncated,
        snapshot=None,
        freshness=None,
        provider="fleet",
        seconds=rounded(answer.seconds),
        coverage=coverage_item(answer.coverage),
        note=answer.note,
    )


def _place(item: FleetEvidence) -> FleetPlaceItem:
    place = item.place
    return FleetPlaceItem(
        repository=item.repository,
        path=place.path,
        start_line=place.start_line,
        end_line=place.end_line,
        symbol=place.symbol,
        kind=place.kind,
        level=place.level,
        language=place.language,
        score=item.score,
        marks=place.marks,
        matched=place.matched,
    )


def coverage_item(coverage: FleetCoverage) -> FleetCoverageItem:
    """Whom an answer is from."""
    asked = tuple(
        AskedItem(
            name=each.name,
            snapshot=snapshot_id(each.snapshot),
            behind=each.behind,
            relevance=each.relevance,
            likelihood=each.likelihood,
            called=each.called,
            words=each.words,
            best=each.best,
            results=each.results,
            seconds=rounded(each.seconds),
        )
        for each in coverage.asked
    )
    return FleetCoverageItem(
        repositories=coverage.repositories,
        asked=asked,
        unlikely=coverage.unlikely,
        next_likely=coverage.next_likely,
        excluded=coverage.excluded,
        unavailable=coverage.unavailable,
        complete=coverage.complete,
    )
