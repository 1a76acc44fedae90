"""A pattern and members of a fleet in, the matching lines of all of them out, and whether these are all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from codenib.core.answers import RegexAnswer
from codenib.core.errors import CodenibError, InputError
from codenib.core.requests import PUBLISHED, RegexRequest
from codenib.fleet.search.answers import AskedRepository, FleetCoverage, FleetLine, FleetLines
from codenib.fleet.search.members import FleetMember
from codenib.fleet.search.ranked import is_behind
from codenib.fleet.search.summaries import SummaryCache
from codenib.fleet.search.workspaces import OpenWorkspaces
from codenib.views.trigram.pattern import compile_pattern

_NO_TIME = "the time was up"


class LineSearch:
    """Answers patterns from the published trigram views of many repositories."""

    def __init__(self, workspaces: OpenWorkspaces, summaries: SummaryCache) -> None:
        self._workspaces = workspaces
        self._summaries = summaries

    def search(self, request: RegexRequest, members: Sequence[FleetMember]) -> FleetLines:
        """The lines that a scan of every file of every repository would find, by repository and path.

        A repository whose trigrams exclude a match is not opened. `request.timeout_s` is for all together.
        """
        started = time.perf_counter()
        need = compile_pattern(
            request.pattern,
            ignore_case=request.ignore_case,
            literal=request.literal,
            multiline=request.multiline,
        ).need
        current = self._summaries.current(members)
        unavailable = dict(current.unavailable)
        possible = [
            member
            for member in sorted(members, key=lambda each: each.name)
            if member.name in current.summaries and current.summaries[member.name].may_match(need)
        ]
        asked: list[AskedRepository] = []
        items: list[FleetLine] = []
        notes: list[str] = []
        total = files = 0
        for member in possible:
            left_s = request.timeout_s - (time.perf_counter() - started)
            if left_s <= 0:
                unavailable[member.name] = _NO_TIME
                continue
            left = None if request.k is None else max(request.k - len(items), 0)
            one = replace(request, k=left, timeout_s=left_s, snapshot=PUBLISHED)
            try:
                answer, row = self._ask(member, one)
            except InputError:
                raise  # the pattern is wrong, wherever it is asked
            except (CodenibError, OSError) as error:
                unavailable[member.name] = error.message if isinstance(error, CodenibError) else str(error)
                continue
            asked.append(row)
            items += [FleetLine(member.name, match) for match in answer.items]
            total, files = total + answer.total, files + answer.files
            if not answer.complete:
                notes.append(f"{member.name}: {answer.reason}")
        coverage = FleetCoverage(
            repositories=len(members),
            asked=tuple(asked),
            excluded=len(current.summaries) - len(possible),
            unavailable=unavailable,
        )
        return FleetLines(
            items=tuple(items),
            total=total,
            files=files,
            truncated=total > len(items),
            complete=coverage.complete and not notes,
            coverage=coverage,
            seconds=time.perf_counter() - started,
            note="; ".join(notes),
        )

    def _ask(self, member: FleetMember, request: RegexRequest) -> tuple[RegexAnswer, AskedRepository]:
        began = time.perf_counter()
        with self._workspaces.borrow(member) as workspace:
            answer = workspace.searcher.regex(request)
            pinned = workspace.snapshots.of_snapshot(answer.snapshot.id)
        row = AskedRepository(
            name=member.name,
            snapshot=answer.snapshot,
            behind=is_behind(member, pinned),
            results=len(answer.items),
            seconds=time.perf_counter() - began,
        )
        return answer, row
