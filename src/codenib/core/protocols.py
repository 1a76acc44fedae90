"""The seams: what a view needs of its sources, and what the compiler needs of a view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

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
    """Derived records of blobs. Every record that a builder's derivers name is there before it is called."""

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

    def derivers(self) -> Sequence[Deriver]: ...

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
