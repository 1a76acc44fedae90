"""A checkout or a compilation database in, compile commands out, with their paths in the checkout.

A database says with which options each source file is compiled; without one clangd only guesses. One that was
written for another folder, as a build folder of the worktree is, gets its paths moved to the checkout.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

from codenib.core.errors import UNDECODABLE
from codenib.navigation.cpp.flags import mode_of, safe_arguments

DATABASE = "compile_commands.json"
_FOLDERS = (
    "build",
    "out",
    "builddir",
    "_build",
    "cmake-build-debug",
    "cmake-build-release",
    "Debug",
    "Release",
)
_DEEPEST = 64  # folders of a path that are looked at: one of 6,000 took half a second
_WITH_PATH = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "--sysroot")


@dataclass(frozen=True, slots=True)
class CompileCommand:
    """How one source file is compiled."""

    file: str
    directory: str
    arguments: tuple[str, ...]


def write_commands(commands: Iterable[CompileCommand], out: Path) -> None:
    """Write a database into the folder `out`."""
    rows = [
        {"directory": command.directory, "file": command.file, "arguments": command.arguments}
        for command in commands
    ]
    (out / DATABASE).write_text(json.dumps(rows), "utf-8")


def find_compilation_database(root: Path) -> Path | None:
    """The nonempty `compile_commands.json` of a repository: at its root, or in a build folder."""
    places = [root / DATABASE, *(root / name / DATABASE for name in _FOLDERS)]
    places += sorted(
        {*root.glob(f"*/{DATABASE}"), *root.glob(f"build*/*/{DATABASE}"), *root.glob(f"out/*/{DATABASE}")}
    )
    return next((place for place in places if place.is_file() and read_entries(place)), None)


def commands_in(
    entries: Iterable[dict[str, Any]], root: Path, built: Path | None = None
) -> list[CompileCommand]:
    """The commands with paths in `root`, sorted; the first of a file counts, as it does for clangd.

    A database made for another folder is moved: what exists in `root` is taken from there, the rest
    (generated headers) stays where it was. Options pass only when they say how source is read; `built` is a
    folder where we configured the build, whose headers an option may name too.
    """
    parsed = [command for entry in entries if (command := _parse(entry)) is not None]
    old = _other_root(parsed, root)
    inside = [folder for folder in (root, old, built) if folder is not None]
    move = _Move(old, root)
    commands: dict[str, CompileCommand] = {}
    for command in parsed:
        moved = move.command(command)
        if moved.file not in commands and not _is_special(moved.file):
            arguments = safe_arguments(moved.arguments, moved.file, moved.directory, inside)
            commands[moved.file] = replace(moved, arguments=arguments)
    return [commands[file] for file in sorted(commands)]


class _Move:
    """Takes paths below one folder to another."""

    def __init__(self, old: Path | None, new: Path) -> None:
        self._old = f"{old}/" if old is not None else None
        self._new = new

    def command(self, command: CompileCommand) -> CompileCommand:
        file = str(Path(command.directory, command.file))
        if self._old is None:
            return CompileCommand(_plain(file), command.directory, command.arguments)
        arguments: list[str] = []
        pending = ""
        for argument in command.arguments:
            if pending:
                arguments += self._include(pending, argument, command.directory, joined=False)
                pending = ""
            elif argument in _WITH_PATH:
                pending = argument
            elif flag := next((flag for flag in _WITH_PATH[:4] if argument.startswith(flag)), ""):
                arguments += self._include(flag, argument[len(flag) :], command.directory, joined=True)
            elif _plain(str(Path(command.directory, argument))) == _plain(file):
                arguments.append(self._path(_plain(file)))
            else:
                arguments.append(argument)
        directory = command.directory if S_ISDIR(mode_of(Path(command.directory))) else str(self._new)
        return CompileCommand(self._path(_plain(file)), directory, tuple(arguments))

    def _include(self, flag: str, path: str, directory: str, *, joined: bool) -> list[str]:
        full = _plain(str(Path(directory, path)))
        # A folder of both is searched in the checkout first, then where generated headers are.
        places = [self._path(full)]
        if places[0] != full and S_ISDIR(mode_of(Path(full))):
            places.append(full)
        return [part for place in places for part in ([flag + place] if joined else [flag, place])]

    def _path(self, path: str) -> str:
        if self._old is not None and f"{path}/".startswith(self._old):
            moved = self._new / path[len(self._old) :]
            if mode_of(moved):
                return str(moved)
        return path


def _other_root(commands: Sequence[CompileCommand], root: Path) -> Path | None:
    """The folder that most sources of the database are in, when it is not `root`."""
    votes: Counter[Path] = Counter()
    for command in commands:
        file = Path(_plain(str(Path(command.directory, command.file))))
        if file.is_relative_to(root):
            return None
        parts = file.parts
        # The longest tail that exists in the checkout names the folder before it.
        tails = (
            at
            for at in range(max(1, len(parts) - _DEEPEST), len(parts))
            if S_ISREG(mode_of(root / Path(*parts[at:])))
        )
        if (at := next(tails, 0)) > 0:
            votes[Path(*parts[:at])] += 1
    return votes.most_common(1)[0][0] if votes else None


def _parse(entry: dict[str, Any]) -> CompileCommand | None:
    """One entry; None when its words cannot be told apart."""
    arguments = entry.get("arguments")
    file, directory = str(entry["file"]), str(entry.get("directory", ""))
    if "\0" in file + directory:
        return None
    if not isinstance(arguments, list):
        try:
            arguments = shlex.split(str(entry.get("command", "")))
        except ValueError:
            return None
    return CompileCommand(file, directory, tuple(map(str, arguments)))


def _is_special(file: str) -> bool:
    """Whether it is a device, a pipe or a folder: reading one may never end."""
    mode = mode_of(Path(file))
    return bool(mode) and not S_ISREG(mode)


def _plain(path: str) -> str:
    """Without `.` and `..`, as clangd names files; links stay, unlike in `Path.resolve`."""
    parts: list[str] = []
    for part in Path(path).parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return str(Path(*parts))


def read_entries(database: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(database.read_bytes())
    except (OSError, *UNDECODABLE):
        return []
    rows = rows if isinstance(rows, list) else []
    return [row for row in rows if isinstance(row, dict) and "file" in row]
