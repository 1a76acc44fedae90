"""A name and members of a fleet in, the declarations of all of them out, exact names first."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import numpy as np

from codenib.core.errors import CodenibError, InputError
from codenib.core.requests import PUBLISHED
from codenib.core.symbols import Symbol
from codenib.fleet.search.answers import (
    AskedRepository,
    FleetCoverage,
    FleetSymbol,
    FleetSymbols,
    RequiredVersion,
)
from codenib.fleet.search.members import FleetMember
from codenib.fleet.search.packages import ExportedPackage
from codenib.fleet.search.ranked import is_behind
from codenib.fleet.search.requirements import demands_on, judged, tags_of
from codenib.fleet.search.summaries import SummaryCache
from codenib.fleet.search.summary import short_hashes
from codenib.fleet.search.workspaces import OpenWorkspaces
from codenib.units.tokens import terms_of, words_of

_SEPARATORS = re.compile(r"::|[.#/:]")


class NameSearch:
    """Answers names from the published views of many repositories."""

    def __init__(self, workspaces: OpenWorkspaces, summaries: SummaryCache) -> None:
        self._workspaces = workspaces
        self._summaries = summaries

    def symbols(self, query: str, members: Sequence[FleetMember], *, k: int = 20) -> FleetSymbols:
        """Declarations whose name holds the last word of `query`, of repositories that have its words.

        What has no such word, or is only part of a longer word there, is not opened: `unlikely`.
        """
        started = time.perf_counter()
        words = [word for word in _SEPARATORS.split(query.strip()) if word]
        if not words:
            raise InputError("the name is empty", hint="codenib fleet symbols NAME")
        terms = [term for word in words_of(words[-1]) for term in terms_of(word)]
        hashes = short_hashes(terms)
        current = self._summaries.current(members)
        unavailable = dict(current.unavailable)
        rows: list[tuple[tuple[int, int, int], FleetSymbol]] = []
        asked: list[AskedRepository] = []
        left_out = total = 0
        for member in sorted(members, key=lambda each: each.name):
            summary = current.summaries.get(member.name)
            if summary is None:
                continue
            if not summary.left_out and not bool(np.all(summary.counts(hashes)[0] > 0)):
                left_out += 1
                continue
            began = time.perf_counter()
            try:
                with self._workspaces.borrow(member) as workspace:
                    answer = workspace.navigator.symbols(query, k, PUBLISHED)
                    pinned = workspace.snapshots.of_snapshot(answer.snapshot.id)
            except (CodenibError, OSError) as error:
                unavailable[member.name] = error.message if isinstance(error, CodenibError) else str(error)
                continue
            total += answer.total
            asked.append(
                AskedRepository(
                    name=member.name,
                    snapshot=answer.snapshot,
                    behind=is_behind(member, pinned),
                    results=answer.total,
                    seconds=time.perf_counter() - began,
                )
            )
            rows += [
                ((how_exact(each, words[-1]), place, len(asked)), FleetSymbol(member.name, each))
                for place, each in enumerate(answer.symbols)
            ]
        rows.sort(key=lambda row: row[0])
        items = tuple(item for _, item in rows[:k])
        coverage = FleetCoverage(
            repositories=len(members), asked=tuple(asked), unlikely=left_out, unavailable=unavailable
        )
        return FleetSymbols(items, total, total > len(items), coverage, time.perf_counter() - started)

    def definitions(
        self, query: str, members: Sequence[FleetMember], *, k: int = 20, asker: FleetMember | None = None
    ) -> FleetSymbols:
        """Where a name that code imports is declared: in the package that it begins with, else by name.

        `requests.Session` is sought in the repository whose manifest exports `requests`, and the items name
        the package. Where no repository exports it, declarations of exactly the last word are listed. For an
        `asker` the answer says which versions of the packages that repository asks for.
        """
        started = time.perf_counter()
        current = self._summaries.current(members)
        exported = [
            (member, package, rest)
            for member in sorted(members, key=lambda each: each.name)
            if member.name in current.summaries
            for package in current.summaries[member.name].packages
            if (rest := package.rest_of(query.strip())) is not None
        ]
        items: list[FleetSymbol] = []
        asked: dict[str, AskedRepository] = {}
        for member, package, rest in exported:
            answer = self.symbols(rest, [member], k=_MOST)
            asked.update((each.name, each) for each in answer.coverage.asked)
            items += _exact(answer.items, rest, package)
        if items:
            unique = {(each.repository, each.symbol.path, each.symbol.line): each for each in items}
            ranked = sorted(unique.values(), key=lambda each: _misplaced(each, query))
            coverage = FleetCoverage(
                repositories=len(members),
                asked=tuple(asked.values()),
                excluded=len(current.summaries) - len(asked),
                unavailable=current.unavailable,
            )
            declaring = {(each.repository, each.package) for each in ranked}
            exporters = [
                (member, package)
                for member, package, _ in exported
                if (member.name, str(package)) in declaring
            ]
            required, note = self._required(asker, exporters) if asker else ((), "")
            seconds = time.perf_counter() - started
            return FleetSymbols(
                tuple(ranked[:k]),
                len(ranked),
                len(ranked) > k,
                coverage,
                seconds,
                note=note,
                required=required,
            )
        answer = self.symbols(_last(query), members, k=_MOST)
        exact = [each for each in answer if each.symbol.name == _last(query)]
        note = "by name: no repository of these exports a package that the name begins with"
        if exported:
            packages = ", ".join(sorted({f"{package} of {member.name}" for member, package, _ in exported}))
            note = f"by name: {packages} does not declare it"
        seconds = time.perf_counter() - started
        return FleetSymbols(tuple(exact[:k]), len(exact), len(exact) > k, answer.coverage, seconds, note=note)

    def _required(
        self, asker: FleetMember, exporters: Sequence[tuple[FleetMember, ExportedPackage]]
    ) -> tuple[tuple[RequiredVersion, ...], str]:
        """Which versions of the packages a repository asks for, and of which it asks for none."""
        pinned = self._workspaces.pin(asker)
        required: list[RequiredVersion] = []
        unasked = []
        for member, package in exporters:
            demands = demands_on(package, pinned)
            tags = tags_of(member) if demands else None
            required += [
                judged(demand, package, tags, asker=asker.name, exporter=member.name) for demand in demands
            ]
            if not demands and member != asker:
                unasked.append(package.name)
        note = f"no manifest of {asker.name} that is read asks for {', '.join(unasked)}" if unasked else ""
        return tuple(required), note


_MOST = 1000  # declarations of a name in one repository that are looked at


def _exact(items: Sequence[FleetSymbol], rest: str, package: ExportedPackage) -> list[FleetSymbol]:
    """Those that are called so and stand in the package."""
    name = _last(rest)
    return [
        FleetSymbol(each.repository, each.symbol, str(package))
        for each in items
        if each.symbol.name == name and package.has(each.symbol.path)
    ]


def _misplaced(item: FleetSymbol, query: str) -> tuple[int, int, str, int]:
    """How many words of the name neither its path nor its outer names have; then how deep it is."""
    words = [word.lower() for word in _SEPARATORS.split(query) if word][:-1]
    around = f"{item.symbol.path}/{item.symbol.qualified}".lower()
    missing = sum(word not in around for word in words)
    return missing, item.symbol.qualified.count("."), item.symbol.path, item.symbol.line


def _last(query: str) -> str:
    return next((word for word in reversed(_SEPARATORS.split(query.strip())) if word), "")


def how_exact(symbol: Symbol, name: str) -> int:
    """0 for the very name, 1 in another case, 2 for a beginning, 3 for a part."""
    own = symbol.name
    if own == name:
        return 0
    if own.lower() == name.lower():
        return 1
    return 2 if own.lower().startswith(name.lower()) else 3
