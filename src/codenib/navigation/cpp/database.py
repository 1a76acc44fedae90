"""A checkout in, its compilation database out, and whether an edit may have changed it.

The repository's own database, or one that its build gives when the user trusts it, covers what is built. The
rest, and all of it where there is neither, is inferred from texts: see `inference`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import CannotMaintain
from codenib.navigation.cpp.compile_commands import (
    DATABASE,
    CompileCommand,
    commands_in,
    find_compilation_database,
    read_entries,
    write_commands,
)
from codenib.navigation.cpp.configure import configure
from codenib.navigation.cpp.flags import mode_of
from codenib.navigation.cpp.inference.commands import CompleteCommands

#: Who gave the commands where nobody ran a build and the repository has no database.
INFERRED = "inferred"
TRUST = "codenib index --views graph --trust"
# Below it the database is of another build or another tree.
_LEAST_PRESENT = 0.5

_BUILD_FILE = re.compile(r"CMakeLists\.txt|GNUmakefile|[Mm]akefile.*|configure\.ac|.*\.(?:cmake|mk)")
# Parts of sources that are no language of their own.
_PARTS = (".inc", ".def", ".inl", ".ipp", ".tpp", ".tcc", ".txx", ".x", ".tbl", ".td")
# What a build does with a file that is not compiled: its content may end up in options.
_READS = re.compile(
    r"file\s*\(\s*(?:READ|STRINGS)|configure_file|try_compile|try_run|\bsed\b|\bgrep\b|\bawk\b|AC_CONFIG_HEADERS",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"(?:^|/)(?:CMakeLists\.txt|GNUmakefile|[Mm]akefile[^/]*|configure[^/]*|autogen\.sh|compile_commands\.json|"
    r"compile_flags\.txt|\.clangd|CMakePresets\.json|meson\.build|[^/]*\.(?:cmake|mk|ac|am|m4|in|mak|pc))$"
)


@dataclass(frozen=True, slots=True)
class PreparedCommands:
    """A command for every source; `source` is who gave those that are not inferred, `reasons` why others
    did not."""

    complete: CompleteCommands
    source: str
    reasons: tuple[str, ...] = ()

    @property
    def commands(self) -> list[CompileCommand]:
        return self.complete.commands

    @property
    def lacks(self) -> tuple[str, ...]:
        """What facts with these commands are without."""
        if self.source == INFERRED:
            reasons = f" ({'; '.join(self.reasons)})" if self.reasons else f"; try: {TRUST}"
            return (f"the compile commands of a build: inferred from sources and build files{reasons}",)
        if not self.complete.inferred:
            return ()
        given = "; ".join([self.source, *self.reasons])
        return (f"the compile commands of some files, which got the nearest file's; others are from {given}",)

    def is_inferred(self, path: str) -> bool:
        """Whether a file is read with options that no build gave; headers are as those who include them."""
        return self.source == INFERRED or path in self.complete.inferred


class CompilationDatabase:
    """The commands of one checkout, and where they came from."""

    def __init__(self, root: Path, work: Path, *, trusted: bool) -> None:
        self._root = root
        self.work = work
        self._trusted = trusted
        self._source = find_compilation_database(root)
        self._content = self._read()
        self.prepared = prepare_database(root, work, trusted=trusted)
        self._left_out: frozenset[str] = frozenset()

    @property
    def commands(self) -> Sequence[CompileCommand]:
        return self._without(self.prepared.commands)

    def leave_out(self, paths: Iterable[str]) -> None:
        """These files are not compiled; paths are from the root."""
        self._left_out = frozenset(str(self._root / path) for path in paths)

    def _without(self, commands: Sequence[CompileCommand]) -> list[CompileCommand]:
        return [command for command in commands if command.file not in self._left_out]

    def follow(self, changed: Iterable[str], came_or_went: bool) -> None:
        """Raise `CannotMaintain` where the commands are others after an edit of these files."""
        changed = list(changed)
        if find_compilation_database(self._root) != self._source or self._read() != self._content:
            raise CannotMaintain("the compilation database is another")
        built = self._source is None and self.prepared.source != INFERRED
        if built:
            self._copy(changed)
        if came_or_went or (built and self._reads(changed)):
            with tempfile.TemporaryDirectory(prefix="codenib-cpp-") as folder:
                anew = prepare_database(self._root, Path(folder).resolve(), trusted=self._trusted).commands
                here = str(Path(folder).resolve())
                moved = [_moved(each, here, str(self.work)) for each in anew]
                if self._without(moved) != list(self.commands):
                    raise CannotMaintain("the build compiles other files, or with other options")
        elif not self.prepared.complete.hold_after(changed):
            raise CannotMaintain("a source includes others, or is compiled with other options")

    def places(self, path: str) -> list[str]:
        """The full paths under which a compiler may read a file of the checkout."""
        return [str(self._root / path), str(self._copied(path))]

    def _read(self) -> bytes:
        return self._source.read_bytes() if self._source is not None else b""

    def _copied(self, path: str) -> Path:
        return self.work / "make" / self._root.name / path

    def _copy(self, changed: Iterable[str]) -> None:
        """A build by make runs in a copy, whose own files stay those of the checkout."""
        for path in changed:
            place = self._copied(path)
            if (self._root / path).is_file() and place.parent.is_dir():
                shutil.copyfile(self._root / path, place)
            else:
                place.unlink(missing_ok=True)

    def _reads(self, changed: Iterable[str]) -> bool:
        """Whether the build may read one of the files itself."""
        names = {path.rpartition("/")[2] for path in changed}
        for file in build_files(self._root):
            text = file.read_text("utf-8", "replace")
            if _READS.search(text) and any(_is_read(name, text) for name in names):
                return True
        return False


def prepare_database(root: Path, out: Path, *, trusted: bool) -> PreparedCommands:
    """The commands for `root`, its own or its build's, and inferred ones; they are written to `out` too."""
    database, source = find_compilation_database(root), DATABASE
    reasons: tuple[str, ...] = ()
    if database is None and trusted:
        database, source, reasons = configure(root, out)
    given = commands_in(read_entries(database), root, out) if database is not None else []
    if sum(mode_of(Path(each.file)) != 0 for each in given) < _LEAST_PRESENT * len(given):
        given, reasons = [], (*reasons, f"{source}: most of its files are not in the checkout")
    complete = CompleteCommands(root, given, out / "templates")
    out.mkdir(parents=True, exist_ok=True)
    write_commands(complete.commands, out)
    return PreparedCommands(complete, source if given else INFERRED, reasons)


def build_files(root: Path) -> Iterable[Path]:
    """The files that say how the checkout is built."""
    for folder, _, names in os.walk(root):
        yield from (Path(folder, name) for name in names if _BUILD_FILE.fullmatch(name))


def configures(root: Path, path: str) -> str:
    """Why a change of a file that is no source may change how sources are read; empty when it cannot."""
    if _NAMES.search(path):
        return f"{path} decides how files are compiled"
    if path.endswith(_PARTS):
        return f"{path} may be part of sources"
    name = path.rpartition("/")[2]
    if any(name in file.read_text("utf-8", "replace") for file in build_files(root)):
        return f"{path} is named by the build"
    return ""


def _is_read(name: str, text: str) -> bool:
    return any(name in line and (_READS.search(line) or "set" in line) for line in text.splitlines())


def _moved(command: CompileCommand, old: str, new: str) -> CompileCommand:
    return CompileCommand(
        command.file.replace(old, new),
        command.directory.replace(old, new),
        tuple(argument.replace(old, new) for argument in command.arguments),
    )
