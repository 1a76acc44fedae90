"""The seams: what a view needs of its sources, and what the compiler needs of a view."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from codenib.core.facts import WireNode
from codenib.core.reranking import RerankerIdentity
from codenib.core.source import BlobUnits, Delta, SourceFile, SourceSnapshot
from codenib.core.surfaces import ChangedNames
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind


class Progress(Protocol):
    """Told of long work: what stage, how many of how many."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


class BlobReader(Protocol):
    """Bytes of blobs by digest; the only way that source text enters a builder."""

    def read(self, digests: Sequence[str]) -> Iterator[bytes | None]:
        """The bytes of each digest, in order; None where the object is missing."""
        ...


class Deriver(Protocol):
    """A pure function of a blob whose result is cached by (blob digest, language hint, version)."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def derive(self, data: bytes, units: BlobUnits) -> bytes:
        """The record of a blob that is not skipped. Same input, same bytes."""
        ...


class Records(Protocol):
    """Derived records of blobs. Every record of a view's derivers is there before its builder is called."""

    def fetch(self, deriver: str, files: Sequence[SourceFile]) -> Iterator[bytes]:
        """The record of each file, in order; empty for a skipped blob."""
        ...

    def units(self, files: Sequence[SourceFile]) -> Iterator[BlobUnits]:
        """The units of each file, in order."""
        ...

    def blobs(self, files: Sequence[SourceFile]) -> Iterator[bytes]:
        """The text of each file in UTF-8, in order; empty for a skipped blob."""
        ...


class ViewBuilder(Protocol):
    """Builds one kind of view from blobs and their records; never sees a path on disk but `out`."""

    @property
    def kind(self) -> ViewKind: ...

    def profile(self) -> ArtifactProfile: ...

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        """Write a complete artifact into the empty folder `out`."""
        ...


#: Publishes what a function writes into the folder that it is given.
PublishEarly = Callable[[Callable[[Path], ViewFacts]], None]


class ViewMaintainer(ViewBuilder, Protocol):
    """A builder that can also turn the artifact of one snapshot into that of the next."""

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        """Write what `build` would have written; raise `CannotMaintain` rather than guess."""
        ...

    def differences(self, left: Path, right: Path) -> Iterable[str]:
        """What the two artifacts would answer differently, a line each; empty when they are equal."""
        ...


class ViewChoice(Protocol):
    """One kind of view as one repository gets it. Cheap: only a builder loads heavy libraries."""

    def settle(self, snapshot: SourceSnapshot) -> None:
        """Look again at all that decides the view beside its sources: options, tools, languages."""
        ...

    def profile(self) -> ArtifactProfile:
        """The profile that the view built now would have."""
        ...

    def builder(self) -> ViewMaintainer:
        """The builder of the view as it was settled."""
        ...

    def rebuilder(self, published: Path, scratch: Path) -> AbstractContextManager[ViewMaintainer]:
        """A builder that reuses nothing of earlier builds, to compare with the artifact at `published`.

        It may write what it needs into the folder `scratch`.
        """
        ...


class FactBackend(Protocol):
    """Makes the facts of one group of languages by driving an engine over a checkout."""

    @property
    def group(self) -> str: ...

    @property
    def languages(self) -> frozenset[str]: ...

    def identity(self) -> Mapping[str, str]:
        """Backend, version and options; raises `ProviderError` with the command that installs it."""
        ...

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The line of each file (core/facts.py) of the checkout at `root`; `files` are of its languages.

        Raises `ProviderError` when the engine fails or the result would be less than it claims. No code of
        the repository runs unless it is `trusted`.
        """
        ...


class Reranker(Protocol):
    """Reads a query together with documents. Opening one fails before any work; scoring only if it breaks."""

    @property
    def identity(self) -> RerankerIdentity: ...

    def scores(self, query: str, documents: Sequence[str]) -> list[float]:
        """A score for each document, higher is better; NaN where memory did not suffice for that one.

        The same query and documents give the same scores, as far as the model itself is deterministic.
        """
        ...


#: Opens the reranker that a spec names; None for `none`. A wrong spec fails here.
OpenReranker = Callable[[str], Reranker | None]


class Engine(Protocol):
    """A backend's engine that reads a checkout and stays while the checkout is edited."""

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        """`files` are there now; `changed` are those that changed, came or went since the last time."""
        ...

    @property
    def requests(self) -> int:
        """How many it has answered."""
        ...

    @property
    def resident_bytes(self) -> int:
        """How much memory it takes."""
        ...

    @property
    def alive(self) -> bool: ...

    def close(self) -> None: ...


@runtime_checkable
class DifferenceEngine(Engine, Protocol):
    """An engine that knows itself which files' facts an edit changes."""

    @property
    def settled(self) -> bool:
        """Whether nothing changed since `differing` was asked last."""
        ...

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[Mapping[str, bytes], frozenset[str]]:
        """The lines that differ from those given last (`anew`: all lines); and the files with equal lines."""
        ...


@runtime_checkable
class ReportingEngine(Protocol):
    """An engine that says what it has done while it answers."""

    on_progress: Progress | None


@runtime_checkable
class EarlyMaintainer(Protocol):
    """A maintainer that may have some of the next view long before all of it."""

    publish_early: PublishEarly | None


@runtime_checkable
class EarlyEngine(Protocol):
    """An engine that can answer for edited files before it has followed what the edit means to others."""

    def early(self) -> tuple[Mapping[str, bytes], frozenset[str]]:
        """The lines of the edited files alone, and the other files whose lines may differ.

        Both are empty where following the edit takes no longer. `differing` is asked afterwards.
        """
        ...


@runtime_checkable
class SurfaceEngine(Engine, Protocol):
    """An engine that answers for single files; what an edit changes is found by comparing files' surfaces.

    A surface is what other files see of a file: a digest of each name's type. Equal digests before and after
    an edit leave all other files' facts as they are.
    """

    @property
    def rules(self) -> SurfaceRules: ...

    def lines(
        self, paths: Sequence[str], within: Mapping[str, Sequence[tuple[int, int]]] | None = None
    ) -> Iterator[bytes]:
        """The line of each file, as `FactBackend.produce` gives it for the whole checkout.

        Of a file in `within` only the occurrences on these lines (first and last, from 0) are there.
        """
        ...

    def nodes(self, paths: Sequence[str]) -> Mapping[str, list[WireNode]]:
        """The declarations of each file, as its line has them."""
        ...

    def surfaces(
        self,
        paths: Sequence[str],
        touched: Sequence[str] = (),
        entries: Mapping[str, Sequence[str]] | None = None,
        implicit: Sequence[str] = (),
    ) -> Mapping[str, Mapping[str, str]]:
        """The digest of each name of each file.

        Where a function's type follows from its body, it counts as changed when the body has a name of
        `touched`; a name whose type has a class of `implicit` counts as changed too. Of a file in `entries`
        only these names are looked at, with the names around them (`Class.method`).
        """
        ...


class SurfaceRules(Protocol):
    """What one language says about names in source text, for engines whose surfaces are compared."""

    @property
    def self_references(self) -> frozenset[str]:
        """Words by which the code of a class refers to it or to its construction."""
        ...

    def compare(
        self,
        before: Mapping[str, Mapping[str, str]],
        after: Mapping[str, Mapping[str, str]],
        subclasses: Callable[[str], Collection[str]],
    ) -> ChangedNames:
        """The names that differ between surfaces; `subclasses` gives a class's name and those below it."""
        ...

    def keyword_arguments(self, names: Collection[str]) -> re.Pattern[bytes] | None:
        """What finds a call that passes one of these parameters by name; None when there are no names."""
        ...

    def module_name(self, path: str) -> str:
        """The last part of the name by which other files import a file."""
        ...

    def may_import_unnamed(self, path: str, text: bytes, module: str) -> bool:
        """Whether the file `path` with this `text` may import from `module` without writing its name."""
        ...

    def imports_all_names(self, text: bytes) -> bool:
        """Whether a file takes every name of some module."""
        ...


@runtime_checkable
class AnnotatedSource(Protocol):
    """A backend or engine that says what its last facts are without, where that leaves them of use."""

    @property
    def lacks(self) -> Sequence[str]: ...


@runtime_checkable
class ResidentBackend(FactBackend, Protocol):
    """A backend whose engine can stay and follow edits."""

    @property
    def stays(self) -> bool:
        """Whether the engine of a build is worth keeping for the updates after it."""
        ...

    @property
    def caveat(self) -> str:
        """What an update that was followed may miss; empty when nothing is known of."""
        ...

    @property
    def reread_files(self) -> frozenset[str]:
        """Names of files other than sources that the engine reads again by itself when they change."""
        ...

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """Why a change of this file is more than the engine can follow; empty when it is not."""
        ...

    def engine(self, root: Path, *, trusted: bool) -> DifferenceEngine | SurfaceEngine:
        """Start the engine on the checkout at `root`; `sync` comes first."""
        ...
