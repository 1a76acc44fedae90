"""A name and members of a fleet in, the declarations of all of them out, exact names first."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import numpy as np

from codenib.core.errors import CodenibError, InputError
from codenib.core.requests import PUBLISHED
from codenib.core.symbols import Symbol
from codenib.fleet.search.answers import AskedRepository, FleetCoverage, FleetSymbol, FleetSymbols
from codenib.fleet.search.members import FleetMember
from codenib.fleet.search.ranked import is_behind
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


def how_exact(symbol: Symbol, name: str) -> int:
    """0 for the very name, 1 in another case, 2 for a beginning, 3 for a part."""
    own = symbol.name
    if own == name:
        return 0
    if own.lower() == name.lower():
        return 1
    return 2 if own.lower().startswith(name.lower()) else 3
