"""The seams: what a view needs of its sources, and what the compiler needs of a view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from codenib.core.facts import WireNode
from codenib.core.reranking import RerankerIdentity
from codenib.core.source import BlobUnits, Delta, SourceFile, SourceSnapshot
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
        """The bytes of each file, in order; empty for a skipped blob."""
        ...


class ViewBuilder(Protocol):
    """Builds one kind of view from blobs and their records; never sees a path on disk but `out`."""

    @property
    def kind(self) -> ViewKind: ...

    def profile(self) -> ArtifactProfile: ...

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        """Write a complete artifact into the empty folder `out`."""
        ...


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


class Engine(Protocol):
    """A backend's engine that holds a checkout and follows its edits."""

    @property
    def whole(self) -> bool:
        """Whether it keeps its own account of what an edit touches: then `differing` is what to ask."""
        ...

    @property
    def settled(self) -> bool:
        """Whether nothing changed since `differing` was asked last."""
        ...

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[Mapping[str, bytes], frozenset[str]]:
        """The lines that differ from those given last, or all; and the files whose lines do not."""
        ...

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        """`files` are there now; `changed` are those that changed, came or went since the last time."""
        ...

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
        held: Sequence[str] = (),
    ) -> Mapping[str, Mapping[str, str]]:
        """What other files see of each: a digest by name. Equal digests leave all other files' facts alone.

        Where a function's body shows through, it counts as changed when it has a name of `touched`, and a
        name whose type has a class of `held` does.
        Of a file in `entries` only these names, with the names around them (`Class.method`), are looked at.
        """
        ...

    def imports(self, paths: Sequence[str]) -> Mapping[str, list[str]]:
        """What each imports, where the project's configuration leaves files out; else nothing."""
        ...

    def apart(self) -> frozenset[str]:
        """Of the files that the project's configuration leaves out, those that it imports all the same."""
        ...

    @property
    def requests(self) -> int:
        """How many it has answered."""
        ...

    @property
    def resident_bytes(self) -> int:
        """What it holds in memory."""
        ...

    @property
    def alive(self) -> bool: ...

    def close(self) -> None: ...


@runtime_checkable
class KnowingBackend(FactBackend, Protocol):
    """A backend that knows what its engine reads beside sources."""

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """Why a change of this file is more than the engine can follow; empty when it is not."""
        ...


@runtime_checkable
class RereadingBackend(KnowingBackend, Protocol):
    """A backend whose engine follows changes of other files than sources too."""

    def rereads(self, path: str) -> bool:
        """Whether the engine looks at this file again by itself, so that a change of it is to be followed."""
        ...


@runtime_checkable
class FollowingBackend(KnowingBackend, Protocol):
    """A backend whose engine can stay and follow edits."""

    @property
    def stays(self) -> bool:
        """Whether the engine of a build is worth keeping for the updates after it."""
        ...

    @property
    def caveat(self) -> str:
        """What an update that was followed may miss; empty when nothing is known of."""
        ...

    def engine(self, root: Path, *, trusted: bool) -> Engine:
        """Start the engine on the checkout at `root`; `sync` comes first."""
        ...
