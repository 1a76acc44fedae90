"""Many repositories in, answers to questions over them out: `codenib.fleet.Fleet`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Self

from codenib.core.answers import Passage
from codenib.core.errors import InputError
from codenib.core.requests import PUBLISHED, RegexRequest, ResultLevel, Tests
from codenib.core.text.globs import path_filter
from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.fleet.search.answers import FleetAnswer, FleetLines, FleetSymbols
from codenib.fleet.search.lines import LineSearch
from codenib.fleet.search.members import FleetMember
from codenib.fleet.search.names import NameSearch
from codenib.fleet.search.ranked import FleetRequest, RankedSearch
from codenib.fleet.search.summaries import SummaryCache
from codenib.fleet.search.workspaces import DEFAULT_BYTES, OpenWorkspaces

#: Gives the repositories that there are now.
ListMembers = Callable[[], Sequence[FleetMember]]


class Fleet:
    """The repositories of a catalogue, asked as one. Nothing is built: answers are from what is published.

    Every method takes `repos`, globs of names, and `allowed`, the names that the caller may know of (None:
    all). What is not allowed takes no part: not in results, counts, statistics or errors, and no file of it
    is read. Any number of threads may ask.
    """

    def __init__(
        self,
        members: ListMembers | Sequence[FleetMember] | None = None,
        *,
        memory_bytes: int = DEFAULT_BYTES,
        views: frozenset[ViewKind] | None = None,
    ) -> None:
        """Without `members`, those of the catalogue of this home; `memory_bytes` is for open views.

        With `views` no other view answers.
        """
        self._members = _listed(members)
        self.workspaces = OpenWorkspaces(memory_bytes, views)
        # A summary is of all views, whoever asks first, and is written for others: nothing stays open for it.
        self._whole = self.workspaces if views is None else OpenWorkspaces(0)
        self.summaries = SummaryCache(self._whole.pin)
        self._ranked = RankedSearch(self.workspaces, self.summaries)
        self._lines = LineSearch(self.workspaces, self.summaries)
        self._names = NameSearch(self.workspaces, self.summaries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the open views."""
        self.workspaces.close()
        self._whole.close()

    def members(
        self, repos: Sequence[str] = (), allowed: Collection[str] | None = None
    ) -> tuple[FleetMember, ...]:
        """The repositories that a question is about; an InputError when there is none."""
        accepts = path_filter(repos) or (lambda name: True)
        known = [each for each in self._members() if allowed is None or each.name in allowed]
        chosen = tuple(each for each in known if accepts(each.name))
        if not known:
            raise InputError("the fleet has no repository", hint="codenib fleet add URL|PATH")
        if not chosen:
            raise InputError(
                f"no repository of the fleet is called {', '.join(repos)}", hint="codenib fleet list"
            )
        return chosen

    def search(
        self, query: str, *, k: int = 10, level: ResultLevel = "unit", paths: Sequence[str] = (),
        tests: Tests | None = None, ask: int | None = None, repos: Sequence[str] = (),
        allowed: Collection[str] | None = None,
    ) -> FleetAnswer:  # fmt: skip
        """Places in the repositories that most likely have what `query` is about, best first.

        `ask` repositories are opened, those whose summaries fit best; without a number as many as may be
        meant, eight at most.
        """
        request = FleetRequest(query, k=k, level=level, paths=paths, tests=tests, ask=ask)
        return self.ask(request, repos=repos, allowed=allowed)

    def ask(
        self, request: FleetRequest, *, repos: Sequence[str] = (), allowed: Collection[str] | None = None
    ) -> FleetAnswer:
        """As `search`, for a request."""
        return self._ranked.search(request, self.members(repos, allowed))

    def regex(
        self, pattern: str, *, k: int | None = 100, ignore_case: bool = False, literal: bool = False,
        multiline: bool = False, paths: Sequence[str] = (), context: int = 0, timeout_s: float = 10.0,
        repos: Sequence[str] = (), allowed: Collection[str] | None = None,
    ) -> FleetLines:  # fmt: skip
        """Lines that match `pattern` in any repository, by repository and path; `complete` says if all."""
        request = RegexRequest(
            pattern, k=k, ignore_case=ignore_case, literal=literal, multiline=multiline, paths=paths,
            context=context, timeout_s=timeout_s,
        )  # fmt: skip
        return self._lines.search(request, self.members(repos, allowed))

    def symbols(
        self, name: str, *, k: int = 20, repos: Sequence[str] = (), allowed: Collection[str] | None = None
    ) -> FleetSymbols:
        """Declarations by name in any repository, exact names first."""
        return self._names.symbols(name, self.members(repos, allowed), k=k)

    def definitions(
        self, name: str, *, k: int = 20, asker: str = "", repos: Sequence[str] = (),
        allowed: Collection[str] | None = None,
    ) -> FleetSymbols:  # fmt: skip
        """Where a name that code imports (`requests.Session`) is declared, by the packages' own manifests.

        With `asker`, the name of a repository, the answer says which version of the package that one asks
        for, and whether it is what is there.
        """
        chosen = self.members(repos, allowed)
        one = self._member(asker, allowed) if asker else None
        return self._names.definitions(name, chosen, k=k, asker=one)

    def read(
        self, name: str, path: str, start: int | None = None, end: int | None = None,
        *, allowed: Collection[str] | None = None,
    ) -> Passage:  # fmt: skip
        """Lines of a file of one repository, by its exact name, as what is published of it has them."""
        member = self._member(name, allowed)
        with self.workspaces.borrow(member) as workspace:
            return workspace.reader.read(path, (start, end), PUBLISHED)

    def _member(self, name: str, allowed: Collection[str] | None) -> FleetMember:
        member = next((each for each in self.members(allowed=allowed) if each.name == name), None)
        if member is None:
            raise InputError(f"no repository of the fleet is called {name}", hint="codenib fleet list")
        return member


#: Whether a repository of a catalogue takes part.
AcceptsEntry = Callable[[Catalogue, RepositoryEntry], bool]


def _every(catalogue: Catalogue, entry: RepositoryEntry) -> bool:
    return True


def catalogue_members(catalogue: Catalogue, accepts: AcceptsEntry = _every) -> tuple[FleetMember, ...]:
    """The repositories of a catalogue that `accepts` takes, with where each is read."""
    return tuple(
        FleetMember(entry.name, catalogue.mirror_of(entry))
        for entry in catalogue.entries
        if accepts(catalogue, entry)
    )


def _listed(members: ListMembers | Sequence[FleetMember] | None) -> ListMembers:
    if members is None:
        return CatalogueMembers()
    if callable(members):
        return members
    fixed = tuple(members)
    return lambda: fixed


class CatalogueMembers:
    """The members of this home's catalogue that `accepts` takes, read again when its file changed."""

    def __init__(self, accepts: AcceptsEntry = _every) -> None:
        self._accepts = accepts
        self._stamp: tuple[int, int, int] | None = None
        self._last: tuple[FleetMember, ...] = ()

    def __call__(self) -> tuple[FleetMember, ...]:
        stamp = _stamp(Catalogue.file())
        if stamp is None or stamp != self._stamp:
            self._last = catalogue_members(Catalogue.open(), self._accepts)
            self._stamp = stamp
        return self._last


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        now = os.stat(file)  # noqa: PTH116 - asked by every question
    except OSError:
        return None
    return now.st_ino, now.st_size, now.st_mtime_ns
