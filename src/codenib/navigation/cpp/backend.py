"""C and C++ files of a checkout in, their facts out: clangd's index and its answers at every token.

Two steps. First clangd indexes every file of the compilation database, one after another in the order of
their paths: a header's part of the index is made by the first file that includes it, and clangd's own order
is random. Then other workers, with that index, open each file alone and are asked at every name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.cpp import database as cpp_database
from codenib.navigation.cpp.clangd.shards import VERSION
from codenib.navigation.cpp.clangd.symbols import SymbolTable
from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.database import CompilationDatabase
from codenib.navigation.cpp.engine import CppEngine
from codenib.navigation.tools.locate import Toolbox
from codenib.units.languages import language_hint

# What the facts say depends on this code too: raise it when the same answers give other facts.
_REVISION = "3"
# Below these the database is of another build or another tree, and most answers would be guesses.
_LEAST_RESOLVED = 0.5
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".ixx", ".cppm")


@dataclass(frozen=True, slots=True)
class DatabaseFit:
    """How well the database fits the checkout."""

    entries: int
    resolved: float  # entries whose file is in the checkout
    source_coverage: float  # source files (no headers) with an entry
    graph_coverage: float  # files that the index has references of

    def __str__(self) -> str:
        return (
            f"{self.entries} entries, {self.resolved:.0%} of them in the checkout; of the source files "
            f"{self.source_coverage:.0%} compiled, of all files {self.graph_coverage:.0%} indexed"
        )


class CppBackend:
    """Facts of C and C++ by clangd."""

    group = "cpp"
    languages = frozenset({"c", "cpp"})
    stays = True
    caveat = ""
    reread_files: frozenset[str] = frozenset()

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

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
        """The facts of `files`; raises `ProviderError` without a database, or with one of another tree."""
        tool = self._tools.require("clangd")
        engine = CppEngine(
            tool,
            root,
            _check,
            trusted=trusted,
            note=lambda done, total: progress("facts of cpp", done, total),
        )
        try:
            engine.sync(files, files)
            yield from engine.differing(files, anew=True)[0].values()
        finally:
            engine.close()

    def engine(self, root: Path, *, trusted: bool) -> CppEngine:
        """The engine, to stay."""
        return CppEngine(self._tools.require("clangd"), root, _check, trusted=trusted)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """What the build reads decides how sources are compiled."""
        return "" if language_hint(path) in self.languages else cpp_database.configures(root, path)


def measure_fit(
    commands: Sequence[CompileCommand], root: Path, files: Sequence[str], table: SymbolTable
) -> DatabaseFit:
    """How much of the checkout the database and the index cover."""
    inside = {str(root / path) for path in files}
    compiled = {command.file for command in commands} & inside
    sources = [path for path in files if path.endswith(_SOURCES)]
    covered = sum(1 for path in sources if str(root / path) in compiled)
    indexed = sum(1 for path in files if table.references.get(path))
    return DatabaseFit(len(commands), len(compiled) / max(1, len(commands)), covered / max(1, len(sources)),
                   indexed / max(1, len(files)))  # fmt: skip


def _check(database: CompilationDatabase, files: Sequence[str], table: SymbolTable) -> None:
    found = measure_fit(database.commands, table.root, files, table)
    reason = ""
    if found.entries == 0:
        reason = "it has no entries"
    elif found.resolved < _LEAST_RESOLVED:
        reason = "most of its files are not in the checkout"
    elif found.graph_coverage == 0:
        reason = "clangd could index nothing with it"
    if reason:
        raise ProviderError(f"the compilation database does not fit: {reason} ({found})",
                            hint="configure the build again, then codenib index --views graph")  # fmt: skip
