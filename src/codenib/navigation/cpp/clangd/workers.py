"""A checkout with its compile commands in; clangd's index of it, and its answers at every name, out."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from codenib.navigation.cpp.clangd.answers import Asker, Definitions, FileAnswers
from codenib.navigation.cpp.clangd.session import ClangdSession
from codenib.navigation.cpp.clangd.shards import Shard, read_shard
from codenib.navigation.cpp.clangd.symbols import SymbolTable
from codenib.navigation.cpp.compile_commands import DATABASE, CompileCommand
from codenib.navigation.cpp.macros import free_words_of
from codenib.navigation.cpp.tokens import Token
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
_SHARDS = Path(".cache", "clangd", "index")
_WORKERS = 2
# Files of one clangd process. Each reads the index anew: 0.2 CPU s on half of libuv, 1.1 on leveldb.
_BATCH = 64


#: Places of definition, and the identities of what a token names.
Answer = tuple[Definitions, tuple[str, ...]]


class ClangdWorkers:
    """Clangd processes over one checkout. `work` has the compilation database and gets the index."""

    def __init__(
        self, tool: ExternalTool, root: Path, work: Path, done: Callable[[], None], *, trusted: bool
    ) -> None:
        self._tool = tool
        self._root = root
        self._work = work
        self._done = done
        self._policy = None if trusted else policy_of("cpp", root, tool.command, write=(work,))
        self._lock = threading.Lock()
        self._started = 0
        self._macro_words: tuple[SymbolTable, Set[str]] | None = None
        self.shards = work / _SHARDS
        #: How many questions were asked.
        self.requests = 0

    def index(self, commands: Sequence[CompileCommand]) -> dict[str, tuple[str, str]]:
        """Index every file in order; for each shard the files whose indexing wrote it first and last."""
        makers: dict[str, tuple[str, str]] = {}
        stamps: dict[str, int] = {}
        with self._session(self._work) as session:
            for command in commands:
                rounds = session.index_rounds
                session.compile(command.file, command.directory, command.arguments)
                session.await_index(rounds)
                for name, stamp in _stamps(self.shards):
                    if stamps.get(name) != stamp:
                        stamps[name] = stamp
                        makers[name] = (makers.get(name, (command.file, ""))[0], command.file)
                self._step()
        return makers

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
        row = {"directory": command.directory, "file": command.file, "arguments": command.arguments}
        (folder / DATABASE).write_text(json.dumps([row]), "utf-8")
        with self._session(folder) as session:
            rounds = session.index_rounds
            session.compile(command.file, command.directory, command.arguments)
            session.await_index(rounds)
        self._step()
        return {name: folder / _SHARDS / name for name, _ in _stamps(folder / _SHARDS)}

    def forget_alone(self) -> None:
        """Drop what `index_alone` wrote."""
        for folder in self._work.glob("alone-*"):
            shutil.rmtree(folder)

    def ask(
        self, files: Sequence[str], commands: Sequence[CompileCommand], table: SymbolTable
    ) -> list[FileAnswers]:
        """The answers of every file, in the order of `files`."""
        batches = _batches(files, {command.file for command in commands}, self._root, table)
        with ThreadPoolExecutor(_WORKERS) as pool:
            parts = list(pool.map(lambda batch: self._ask_batch(batch, table), batches))
        answers = {answer.path: answer for part in parts for answer in part}
        return [answers[file] for file in files]

    def _ask_batch(self, batch: Sequence[str], table: SymbolTable) -> list[FileAnswers]:
        found = []
        with self._asking(table) as asker:
            for path in batch:
                found.append(asker.ask(path))
                self._step()
        return found

    @contextmanager
    def _asking(self, table: SymbolTable) -> Iterator[Asker]:
        """A clangd that has read the index."""
        with self._session(self._work, _ONE_AT_A_TIME) as session:
            session.wake()
            yield Asker(session, self._root, table.references, self._words_of_macros(table))
            with self._lock:
                self.requests += session.requests

    def _words_of_macros(self, table: SymbolTable) -> Set[str]:
        with self._lock:
            if self._macro_words is None or self._macro_words[0] is not table:
                self._macro_words = (table, free_words_of(self._root, table.files))
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
        with self._asking(table) as asker:
            return {path: asker.ask_at(path, tokens[path]) for path in paths}

    def _session(self, database: Path, *more: str) -> ClangdSession:
        command = (*self._tool.command, *_OPTIONS, f"--compile-commands-dir={database}", *more)
        return ClangdSession(command, self._root, self._policy)

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


def _batches(
    files: Sequence[str], compiled: Collection[str], root: Path, table: SymbolTable
) -> list[list[str]]:
    """Files that may share a clangd. It remembers what it once opened: a header is then read as its last
    includer reads it, and a file outside the database defines symbols. So neither comes before the others."""
    classes: Mapping[int, list[str]] = {0: [], 1: [], 2: []}
    for path in files:
        kind = 0 if str(root / path) in compiled else 1 if path in table.references else 2
        classes[kind].append(path)
    most = {0: _BATCH, 1: _BATCH, 2: _BATCH // 4}
    sizes = {kind: max(1, min(most[kind], -(-len(paths) // _WORKERS))) for kind, paths in classes.items()}
    return [
        paths[at : at + sizes[kind]]
        for kind, paths in classes.items()
        for at in range(0, len(paths), sizes[kind])
    ]
