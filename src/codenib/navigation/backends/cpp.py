"""C and C++ files of a checkout in, their facts out: clangd's index and its answers at every token.

Two steps. First clangd indexes every file of the compilation database, one after another in the order of
their paths: a header's part of the index is made by the first file that includes it, and clangd's own order
is random. Then other clangds, with that index, open each file alone and are asked at every name.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.backends.clangd_index import VERSION, read_shards
from codenib.navigation.backends.clangd_session import Session
from codenib.navigation.backends.compilation import Command, database_of
from codenib.navigation.backends.cpp_answers import Asker, FileAnswers
from codenib.navigation.backends.cpp_facts import Assembly
from codenib.navigation.backends.cpp_universe import Universe
from codenib.navigation.tools import Tool, Toolbox

_OPTIONS = (
    "--background-index",
    "--background-index-priority=normal",
    "--limit-references=0",
    "--limit-results=0",
    "--clang-tidy=false",
    "--pch-storage=memory",
    "--log=error",
    "-j=1",
)
# Otherwise clangd adds what an opened file includes to its index while it already answers.
_ONE_AT_A_TIME = "--sync"
# What the facts say depends on this code too: raise it when the same answers give other facts.
_REVISION = "1"
# Below these the database is of another build or another tree, and most answers would be guesses.
_LEAST_RESOLVED = 0.5
_SHARDS = Path(".cache", "clangd", "index")
_WORKERS = 2
# Files of one clangd process. Each reads the index anew: 0.2 CPU s on half of libuv, 1.1 on leveldb.
_BATCH = 64
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".ixx", ".cppm")


@dataclass(frozen=True, slots=True)
class Quality:
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
        root = root.resolve()
        with tempfile.TemporaryDirectory(prefix="codenib-cpp-") as folder:
            work = Path(folder).resolve()
            commands = database_of(root, work, trusted=trusted)
            total = len(commands) + 2 * len(files)
            run = _Run(tool, root, work, lambda done: progress("facts of cpp", done, total))
            run.index(commands)
            universe = Universe(root, files)
            universe.add_shards(read_shards(work / _SHARDS))
            _check(quality(commands, root, files, universe))
            answers = run.ask(files, commands, universe)
        assembly = Assembly(universe, answers)
        for at, answer in enumerate(answers):
            yield assembly.line(answer)
            progress("facts of cpp", len(commands) + len(files) + at + 1, total)


class _Run:
    """Two passes of clangd over one checkout."""

    def __init__(self, tool: Tool, root: Path, work: Path, done: Callable[[int], None]) -> None:
        self._root = root
        self._work = work
        self._command = (*tool.command, *_OPTIONS, f"--compile-commands-dir={work}")
        self._done = done
        self._count = 0
        self._lock = threading.Lock()

    def index(self, commands: Sequence[Command]) -> None:
        with self._session("index") as session:
            for command in commands:
                rounds = session.index_rounds
                session.compile(command.file, command.directory, command.arguments)
                session.await_index(rounds)
                self._step()

    def ask(self, files: Sequence[str], commands: Sequence[Command], universe: Universe) -> list[FileAnswers]:
        """The answers of every file, in the order of `files`."""
        batches = _batches(files, {command.file for command in commands}, self._root, universe)
        with ThreadPoolExecutor(_WORKERS) as pool:
            parts = list(
                pool.map(lambda pair: self._ask_batch(pair[0], pair[1], universe), enumerate(batches))
            )
        answers = {answer.path: answer for part in parts for answer in part}
        return [answers[file] for file in files]

    def _ask_batch(self, number: int, batch: Sequence[str], universe: Universe) -> list[FileAnswers]:
        with self._session(f"ask-{number}", _ONE_AT_A_TIME) as session:
            asker = Asker(session, self._root, universe.references)
            session.wake()
            found = []
            for path in batch:
                found.append(asker.ask(path))
                self._step()
        return found

    def _session(self, name: str, *more: str) -> Session:
        return Session((*self._command, *more), self._root, self._work / f"{name}.log")

    def _step(self) -> None:
        with self._lock:
            self._count += 1
            self._done(self._count)


def _batches(
    files: Sequence[str], compiled: Collection[str], root: Path, universe: Universe
) -> list[list[str]]:
    """Files that may share a clangd. It remembers what it once opened: a header is then read as its last
    includer reads it, and a file outside the database defines symbols. So neither comes before the others."""
    classes: dict[int, list[str]] = {0: [], 1: [], 2: []}
    for path in files:
        kind = 0 if str(root / path) in compiled else 1 if path in universe.references else 2
        classes[kind].append(path)
    sizes = {0: _BATCH, 1: _BATCH, 2: _BATCH // 4}
    return [
        paths[at : at + sizes[kind]]
        for kind, paths in classes.items()
        for at in range(0, len(paths), sizes[kind])
    ]


def quality(commands: Sequence[Command], root: Path, files: Sequence[str], universe: Universe) -> Quality:
    """How much of the checkout the database and the index cover."""
    inside = {str(root / path) for path in files}
    compiled = {command.file for command in commands} & inside
    sources = [path for path in files if path.endswith(_SOURCES)]
    covered = sum(1 for path in sources if str(root / path) in compiled)
    indexed = sum(1 for path in files if universe.references.get(path))
    return Quality(len(commands), len(compiled) / max(1, len(commands)), covered / max(1, len(sources)),
                   indexed / max(1, len(files)))  # fmt: skip


def _check(found: Quality) -> None:
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
