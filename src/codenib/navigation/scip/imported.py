"""A SCIP file that was made elsewhere as a backend: its documents are the files that it covers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from codenib.core.errors import InputError, ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.scip.facts import lower
from codenib.navigation.scip.wire import ScipIndex, read_index


class ScipFile:
    """An imported index; it fits the snapshot that it was imported for and no other."""

    group = "scip"
    languages: frozenset[str] = frozenset()  # whatever its documents are

    def __init__(self, file: Path) -> None:
        self._file = file

    @cached_property
    def index(self) -> ScipIndex:
        """The whole index."""
        try:
            return read_index(self._file.read_bytes(), self._file.name)
        except OSError as error:
            raise InputError(f"cannot read {self._file}: {error}", hint="codenib import-scip FILE") from error

    @cached_property
    def paths(self) -> frozenset[str]:
        """The files that it has documents of."""
        return frozenset(document.path for document in self.index.documents)

    def identity(self) -> Mapping[str, str]:
        digest = hashlib.sha256(self._file.read_bytes()).hexdigest()[:12]
        made_by = f"SCIP file by {self.index.tool}"
        return {"backend": made_by, "version": self.index.version, "options": digest}

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        def read(path: str) -> bytes | None:
            place = root / path
            return place.read_bytes() if place.is_file() else None

        try:
            for done, line in enumerate(lower(self.index, read, files), 1):
                progress("facts of scip", done, len(files))
                yield line
        except InputError as error:
            raise ProviderError(error.message, hint=error.hint) from error
