"""A checkout with its compile commands in; clangd's index of it, and its answers at every name, out."""

from __future__ import annotations

import copy
import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from codenib.core.errors import CannotMaintain, ProviderError
from codenib.core.text.c_tokens import Token
from codenib.navigation.cpp.clangd.answers import Asker, Definitions, FileAnswers
from codenib.navigation.cpp.clangd.limits import FileLimits, describe, has_far_names
from codenib.navigation.cpp.clangd.session import ClangdSession
from codenib.navigation.cpp.clangd.shards import Shard, read_shard
from codenib.navigation.cpp.clangd.symbols import SymbolTable
from codenib.navigation.cpp.compile_commands import DATABASE, CompileCommand, write_commands
from codenib.navigation.cpp.header_context import HeaderContexts
from codenib.navigation.cpp.macros import MacroWords
from codenib.navigation.engines.watchdog import Watchdog
from codenib.navigation.tools.locate import ExternalTool
from codenib.navigation.tools.policies import policy_of

_OPTIONS = (
    "--background-index",
    "--background-index-priority=normal",
    "--limit-references=0",
    "--limit-results=0",
    "--clang-tidy=false",
    "--enable-config=false",  # a .clangd file of the repository could add any option of the compiler
    "--pch-storage=memory",
    "--log=error",
    "-j=1",
)
# Otherwise clangd adds what an opened file includes to its index while it already answers.
_ONE_AT_A_TIME = "--sync"
#: The index, beside the database.
SHARDS = Path(".cache", "clangd", "index")
_WORKERS = 2
# Files of one clangd process. Each reads the index anew: 0.2 CPU s on half of libuv, 1.1 on leveldb.
_BATCH = 64
# A class of so few files is not split: a clangd more reads the index, for 0.3 CPU s on fmt, and the other
# worker has files of other classes to do.
_UNSPLIT = 12


#: Places of definition, and the identities of what a token names.
Answer = tuple[Definitions, tuple[str, ...]]


class ClangdWorkers:
    """Clangd processes over one checkout. `work` has the compilation database and gets the index."""

    def __init__(
        self,
        tool: ExternalTool,
        root: Path,
        work: Path,
        done: Callable[[], None],
        *,
        limits: FileLimits,
        trusted: bool,
    ) -> None:
        self._limits = limits
        self._tool = tool
        self.root = root
        self._work = work
        self._done = done
        self._policy = None if trusted else policy_of("cpp", root, tool.command, write=(work,))
        self._lock = threading.Lock()
        self._started = 0
        self._macro_words: tuple[SymbolTable, MacroWords] | None = None
        self._database = work
        self.shards = work / SHARDS
        self._contexts: HeaderContexts | None = None
        #: How many questions were asked.
        self.requests = 0

    def beside(self, name: str) -> ClangdWorkers:
        """Workers over the same checkout with an index of their own, at first equal to this one."""
        other = copy.copy(self)
        other._database = self._work / name
        other.shards = other._database / SHARDS
        other._contexts = None
        shutil.rmtree(other._database, ignore_errors=True)
        other.shards.mkdir(parents=True)
        shutil.copyfile(self._database / DATABASE, other._database / DATABASE)
        for shard, _ in _stamps(self.shards):  # clangd replaces shards, and never writes into one
            os.link(self.shards / shard, other.shards / shard)
        return other

    def index(self, commands: Sequence[CompileCommand]) -> dict[str, tuple[str, str]]:
        """Index every file in order; for each shard the files whose indexing wrote it first and last.

        A file that takes too long is left out, and what is left of the database is written for those who ask.
        """
        makers: dict[str, tuple[str, str]] = {}
        stamps: dict[str, int] = {}
        indexed: list[CompileCommand] = []
        left = list(commands)
        while left:
            with self._session(self._database) as session:
                if indexed:  # it has to know what there is already, or it would write headers again
                    session.wake()
                while left and self._index_next(session, left[0]):
                    command = left.pop(0)
                    indexed.append(command)
                    for name, stamp in _stamps(self.shards):
                        if stamps.get(name) != stamp:
                            stamps[name] = stamp
                            makers[name] = (makers.get(name, (command.file, ""))[0], command.file)
                    self._step()
            if left:
                del left[0]
                write_commands(indexed, self._database)
        if len(indexed) < len(commands):
            write_commands(indexed, self._database)
        return makers

    def _index_next(self, session: ClangdSession, command: CompileCommand) -> bool:
        """Index a file; False where that took too long, and the session was ended."""
        path = self._path(command.file)
        rounds = session.index_rounds
        try:
            with session.watchdog.allot(self._limits.cpu_s(path)):
                session.compile(command.file, command.directory, command.arguments)
                session.await_index(rounds)
        except ProviderError:
            if not session.watchdog.reason:
                raise
            self._limits.leave_out(path, session.watchdog.reason)
            return False
        return True

    def is_left_out(self, file: str) -> bool:
        """Whether a file, by its full path, took too long."""
        return self._path(file) in self._limits.left_out

    def _path(self, file: str) -> str:
        return file.removeprefix(f"{self.root}/")

    def index_alone(self, commands: Sequence[CompileCommand]) -> dict[str, dict[str, Path]]:
        """For each command the shards of all that its file includes, as if nothing else were compiled."""
        with ThreadPoolExecutor(_WORKERS) as pool:
            found = pool.map(self._index_one, commands)
        return {command.file: shards for command, shards in zip(commands, found, strict=True)}

    def _index_one(self, command: CompileCommand) -> dict[str, Path]:
        with self._lock:
            self._started += 1
            folder = self._work / f"alone-{self._started}"
        folder.mkdir()
        write_commands([command], folder)
        with self._session(folder) as session:
            if not self._index_next(session, command):
                raise CannotMaintain(describe(self._limits.left_out))
        self._step()
        return {name: folder / SHARDS / name for name, _ in _stamps(folder / SHARDS)}

    def forget_alone(self) -> None:
        """Drop what `index_alone` wrote."""
        for folder in self._work.glob("alone-*"):
            shutil.rmtree(folder)

    def read_in_context(
        self, commands: Sequence[CompileCommand], graph: Mapping[str, Sequence[str]]
    ) -> HeaderContexts:
        """From now on ask about headers as the source reads them that includes them first."""
        contexts = HeaderContexts(self.root, self._copies, commands, graph)
        shutil.rmtree(self._copies, ignore_errors=True)
        shutil.rmtree(self._served, ignore_errors=True)
        self._served.mkdir()
        (self._served / ".cache").symlink_to(self._database / ".cache")
        write_commands([*commands, *contexts.write()], self._served)
        self._contexts = contexts
        return contexts

    @property
    def _copies(self) -> Path:
        return self._database / "contexts"

    @property
    def _served(self) -> Path:
        return self._database / "served"

    def _is_in_context(self, path: str) -> bool:
        return self._contexts is not None and path in self._contexts.headers

    def ask(
        self, files: Sequence[str], commands: Sequence[CompileCommand], table: SymbolTable
    ) -> list[FileAnswers]:
        """The answers of every file, in the order of `files`."""
        compiled = {command.file.removeprefix(f"{self.root}/") for command in commands}
        in_context = self._contexts.headers if self._contexts is not None else ()
        batches = _batches(files, (compiled, in_context, table.references))
        with ThreadPoolExecutor(_WORKERS) as pool:
            parts = list(pool.map(lambda batch: self._ask_batch(batch, table), batches))
        answers = {answer.path: answer for part in parts for answer in part}
        return [answers[file] for file in files]

    def _ask_batch(self, batch: Sequence[str], table: SymbolTable) -> list[FileAnswers]:
        """The answers of files that share a clangd; one that takes too long has none, and ends it."""
        found = []
        for path in batch:
            text = (self.root / path).read_bytes().decode("utf-8", "replace")
            if has_far_names(text, is_c=path.endswith(".c")):
                self._limits.left_out.setdefault(path, "names are too far in a line")
        left = [path for path in batch if path not in self._limits.left_out]
        while left:
            with self._asking(table, in_context=self._is_in_context(left[0])) as (asker, watchdog):
                while left and (answers := self._ask_next(asker, watchdog, left[0])) is not None:
                    found.append(answers)
                    del left[0]
                    self._step()
            del left[:1]
        missing = set(batch) - {answers.path for answers in found}
        return [*found, *(FileAnswers(path, [], [], {}, {}) for path in sorted(missing))]

    def _ask_next(self, asker: Asker, watchdog: Watchdog, path: str) -> FileAnswers | None:
        """The answers of a file; None where that took too long, and the session was ended."""
        try:
            allowed_s = self._limits.asked_cpu_s(path)
            if self._contexts is not None and self._is_in_context(path):
                allowed_s += self._limits.cpu_s(self._contexts.source_of(path))
            with watchdog.allot(allowed_s):
                return asker.ask(path)
        except ProviderError:
            if not watchdog.reason:
                raise
            with self._lock:
                self._limits.leave_out(path, watchdog.reason)
            return None

    @contextmanager
    def _asking(self, table: SymbolTable, *, in_context: bool = False) -> Iterator[tuple[Asker, Watchdog]]:
        """A clangd that has read the index."""
        database = self._served if in_context else self._database
        with self._session(database, _ONE_AT_A_TIME) as session:
            session.deny_libraries(self._database / "no-library")
            session.wake()
            words = self._words_of_macros(table)
            yield Asker(session, self.root, self._copies, table.references, words), session.watchdog
            with self._lock:
                self.requests += session.requests

    def _words_of_macros(self, table: SymbolTable) -> MacroWords:
        with self._lock:
            if self._macro_words is None or self._macro_words[0] is not table:
                self._macro_words = (table, MacroWords(self.root, table.files))
            return self._macro_words[1]

    def ask_at(self, tokens: Mapping[str, Sequence[Token]], table: SymbolTable) -> dict[str, list[Answer]]:
        """What these tokens of compiled files are answered."""
        paths = list(tokens)
        parts = [paths[at::_WORKERS] for at in range(_WORKERS) if paths[at::_WORKERS]]
        with ThreadPoolExecutor(_WORKERS) as pool:
            found = list(pool.map(lambda part: self._ask_some(part, tokens, table), parts))
        return {path: answers for each in found for path, answers in each.items()}

    def _ask_some(
        self, paths: Sequence[str], tokens: Mapping[str, Sequence[Token]], table: SymbolTable
    ) -> dict[str, list[Answer]]:
        found = {}
        with self._asking(table) as (asker, watchdog):
            for path in paths:
                with watchdog.allot(self._limits.asked_cpu_s(path)):
                    found[path] = asker.ask_at(path, tokens[path])
        return found

    def _session(self, database: Path, *more: str) -> ClangdSession:
        command = (*self._tool.command, *_OPTIONS, f"--compile-commands-dir={database}", *more)
        return ClangdSession(command, self.root, self._policy)

    def _step(self) -> None:
        with self._lock:
            self._done()


def _stamps(folder: Path) -> list[tuple[str, int]]:
    """The shards of a folder with their times."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return [(entry.name, entry.stat().st_mtime_ns) for entry in entries if entry.name.endswith(".idx")]


def read_all(folder: Path) -> dict[str, Shard]:
    """Every shard by its file's name."""
    return {name: read_shard(folder / name) for name, _ in sorted(_stamps(folder))}


def _batches(files: Sequence[str], classes: Sequence[Collection[str]]) -> list[list[str]]:
    """Files that may share a clangd: those of one class, or of none.

    It remembers what it once opened: a header without a command is then read as its last includer reads it,
    and a file outside the database defines symbols. So neither comes before the others.
    """
    parts: list[list[str]] = [[] for _ in (*classes, None)]
    for path in files:
        parts[next((at for at, some in enumerate(classes) if path in some), len(classes))].append(path)
    most = [*(_BATCH for _ in classes), _BATCH // 4]
    sizes = [
        max(_UNSPLIT, min(each, -(-len(paths) // _WORKERS))) for each, paths in zip(most, parts, strict=True)
    ]
    return [
        paths[at : at + size]
        for size, paths in zip(sizes, parts, strict=True)
        for at in range(0, len(paths), size)
    ]
