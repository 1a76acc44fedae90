"""C and C++ files of a checkout in, their facts out: clangd's index and its answers at every token.

Two steps. First clangd indexes every file that has a compile command, one after another in the order of
their paths: a header's part of the index is made by the first file that includes it, and clangd's own order
is random. Then other workers, with that index, open each file alone and are asked at every name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.cpp import database as cpp_database
from codenib.navigation.cpp.clangd.shards import VERSION
from codenib.navigation.cpp.clangd.symbols import SymbolTable
from codenib.navigation.cpp.database import TRUST, CompilationDatabase
from codenib.navigation.cpp.engine import CppEngine
from codenib.navigation.tools.locate import Toolbox
from codenib.units.languages import language_hint

# What the facts say depends on this code too: raise it when the same answers give other facts.
_REVISION = "16"


class CppBackend:
    """Facts of C and C++ by clangd."""

    group = "cpp"
    languages = frozenset({"c", "cpp"})
    stays = True
    caveat = ""
    reread_files: frozenset[str] = frozenset()

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools
        #: What the last facts are without.
        self.lacks: tuple[str, ...] = ()

    def identity(self) -> Mapping[str, str]:
        tool = self._tools.require("clangd")
        return {
            "backend": "clangd",
            "version": tool.version,
            "options": f"index {VERSION}, facts {_REVISION}",
        }

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The facts of `files`; raises `ProviderError` where clangd can read none of them."""
        tool = self._tools.require("clangd")
        engine = CppEngine(tool, root, _check, trusted=trusted)
        engine.on_progress = lambda stage, done, total: progress(f"facts of cpp: {stage}", done, total)
        try:
            engine.sync(files, files)
            yield from engine.differing(files, anew=True)[0].values()
            self.lacks = engine.lacks
        finally:
            engine.close()

    def engine(self, root: Path, *, trusted: bool) -> CppEngine:
        """The engine, to stay."""
        return CppEngine(self._tools.require("clangd"), root, _check, trusted=trusted)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """What the build reads decides how sources are compiled."""
        return "" if language_hint(path) in self.languages else cpp_database.configures(root, path)


def _check(database: CompilationDatabase, files: Sequence[str], table: SymbolTable) -> None:
    if not any(table.references.get(path) for path in files):
        raise ProviderError(
            f"clangd could index none of the files ({len(database.commands)} compile commands)", hint=TRUST
        )
