"""A checkout in, its compilation database out: found, or made by CMake or from a Makefile.

A database says with which options each source file is compiled; without one clangd only guesses. One that
was made for another folder, as a build folder of the worktree is, gets its paths moved to the checkout.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError

DATABASE = "compile_commands.json"
_TRUST = "codenib index --views graph --trust"
_CONFIGURE_S = 900.0
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
# Options of a CMakeLists.txt that may be switched off when configuring fails: their sources often need a
# submodule or a download (leveldb's tests need googletest).
_EXTRAS = re.compile(
    r"\b(?:option|cmake_dependent_option)\s*\(\s*\"?(\w*(?:TEST|BENCH|EXAMPLE|FUZZ|DOC)\w*)", re.I
)
_WITH_PATH = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "--sysroot")
_COMPILERS = re.compile(r"(?:^|/)(?:[\w.]+-)*(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+)(?:-[\d.]+)?$")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".m", ".mm")


@dataclass(frozen=True, slots=True)
class CompileCommand:
    """How one source file is compiled."""

    file: str
    directory: str
    arguments: tuple[str, ...]


def find_compilation_database(root: Path) -> Path | None:
    """The nonempty `compile_commands.json` of a repository: at its root, or in a build folder."""
    places = [root / DATABASE, *(root / name / DATABASE for name in _FOLDERS)]
    places += sorted(
        {*root.glob(f"*/{DATABASE}"), *root.glob(f"build*/*/{DATABASE}"), *root.glob(f"out/*/{DATABASE}")}
    )
    return next((place for place in places if place.is_file() and _entries(place)), None)


def make_compilation_database(root: Path, out: Path) -> Path:
    """Configure the repository with `out` as its build folder; runs the repository's own build code."""
    reasons = []
    if (root / "CMakeLists.txt").is_file():
        made, reason = _by_cmake(root, out / "cmake")
        if made is not None:
            return made
        reasons.append(f"CMake: {reason}")
    if any(
        (root / name).is_file()
        for name in ("Makefile", "GNUmakefile", "makefile", "configure", "configure.ac")
    ):
        made, reason = _by_make(root, out / "make")
        if made is not None:
            return made
        reasons.append(f"make: {reason}")
    if not reasons:
        raise ProviderError(
            "C and C++ need a compilation database; there is no CMakeLists.txt or Makefile to make one from",
            hint=f"put a {DATABASE} into the repository's root or its build folder",
        )
    raise ProviderError(f"no compilation database could be made ({'; '.join(reasons)})",
                        hint=f"put a {DATABASE} into the repository's root or its build folder")  # fmt: skip


def database_of(root: Path, out: Path, *, trusted: bool) -> list[CompileCommand]:
    """The commands for the files of `root`, found or made; also written to `out` for clangd to read."""
    found = find_compilation_database(root)
    if found is None:
        if not trusted:
            raise ProviderError(
                f"C and C++ need a compilation database: there is no nonempty {DATABASE}, and making one "
                "runs code of this repository",
                hint=_TRUST,
            )
        found = make_compilation_database(root, out)
    commands = adapt(_entries(found), root)
    out.mkdir(parents=True, exist_ok=True)
    rows = [
        {"directory": command.directory, "file": command.file, "arguments": command.arguments}
        for command in commands
    ]
    (out / DATABASE).write_text(json.dumps(rows), "utf-8")
    return commands


def adapt(entries: Iterable[dict[str, Any]], root: Path) -> list[CompileCommand]:
    """The commands with paths in `root`, sorted; the first of a file counts, as it does for clangd.

    A database made for another folder is moved: what exists in `root` is taken from there, the rest
    (generated headers) stays where it was.
    """
    parsed = [_parse(entry) for entry in entries]
    move = _Move(_other_root(parsed, root), root)
    commands: dict[str, CompileCommand] = {}
    for command in parsed:
        moved = move.command(command)
        commands.setdefault(moved.file, moved)
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
        directory = command.directory if Path(command.directory).is_dir() else str(self._new)
        return CompileCommand(self._path(_plain(file)), directory, tuple(arguments))

    def _include(self, flag: str, path: str, directory: str, *, joined: bool) -> list[str]:
        full = _plain(str(Path(directory, path)))
        # A folder of both is searched in the checkout first, then where generated headers are.
        places = [self._path(full)]
        if places[0] != full and Path(full).is_dir():
            places.append(full)
        return [part for place in places for part in ([flag + place] if joined else [flag, place])]

    def _path(self, path: str) -> str:
        if self._old is not None and f"{path}/".startswith(self._old):
            moved = self._new / path[len(self._old) :]
            if moved.exists():
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
        tails = (at for at in range(1, len(parts)) if (root / Path(*parts[at:])).is_file())
        if (at := next(tails, 0)) > 0:
            votes[Path(*parts[:at])] += 1
    return votes.most_common(1)[0][0] if votes else None


def _parse(entry: dict[str, Any]) -> CompileCommand:
    arguments = entry.get("arguments")
    if not isinstance(arguments, list):
        arguments = shlex.split(str(entry.get("command", "")))
    return CompileCommand(str(entry["file"]), str(entry.get("directory", "")), tuple(map(str, arguments)))


def _plain(path: str) -> str:
    """Without `.` and `..`, as clangd names files; links stay, unlike in `Path.resolve`."""
    parts: list[str] = []
    for part in Path(path).parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return str(Path(*parts))


def _entries(database: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(database.read_bytes())
    except (OSError, ValueError):
        return []
    rows = rows if isinstance(rows, list) else []
    return [row for row in rows if isinstance(row, dict) and "file" in row]


def _by_cmake(root: Path, out: Path) -> tuple[Path | None, str]:
    cmake = shutil.which("cmake")
    if cmake is None:
        return None, "cmake is not on the path"
    base = [cmake, "-S", str(root), "-B", str(out), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    if shutil.which("ninja"):
        base += ["-G", "Ninja"]
    extras = sorted(
        set(_EXTRAS.findall((root / "CMakeLists.txt").read_text("utf-8", "replace"))) | {"BUILD_TESTING"}
    )
    reason = ""
    for more in ([], [f"-D{name}=OFF" for name in extras]):
        shutil.rmtree(out, ignore_errors=True)
        reason = _run([*base, *more], root) or (
            "" if _entries(out / DATABASE) else "it wrote no compile commands"
        )
        if not reason:
            return out / DATABASE, ""
    return None, reason


def _by_make(root: Path, out: Path) -> tuple[Path | None, str]:
    """Prepare a copy, then let Bear watch the build; without Bear read what make says that it would run."""
    make, bear = shutil.which("make"), shutil.which("bear")
    if make is None:
        return None, "make is not on the path"
    tree = out / root.name
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(root, tree, symlinks=True)
    for step in _preparation(tree):
        if reason := _run(step, tree):
            return None, reason
    database = out / DATABASE
    if bear is not None:
        reason = _run([bear, "--output", str(database), "--", make, "-k"], tree)
        return (database, "") if _entries(database) else (None, reason or "Bear saw no compiler")
    done = subprocess.run(
        [make, "-Bnwk", "V=1"], cwd=tree, capture_output=True, text=True, errors="replace", check=False
    )
    rows = list(dry_run_entries(done.stdout, tree))
    database.write_text(json.dumps(rows), "utf-8")
    return (database, "") if rows else (None, "make named no compiler; install bear to watch the build")


def _preparation(tree: Path) -> list[list[str]]:
    steps = []
    if (tree / "configure.ac").is_file() and not (tree / "configure").is_file():
        steps.append(["sh", "autogen.sh"] if (tree / "autogen.sh").is_file() else ["autoreconf", "-fi"])
    if (tree / "configure.ac").is_file() or (tree / "configure").is_file():
        steps.append(["sh", "configure"])
    return steps


def dry_run_entries(output: str, tree: Path) -> Iterable[dict[str, Any]]:
    """The compile commands in what `make -n -w` prints."""
    folders = [str(tree)]
    for line in output.replace("\\\n", " ").splitlines():
        if match := re.match(r"make(?:\[\d+\])?: Entering directory '(.*)'", line):
            folders.append(match[1])
        elif re.match(r"make(?:\[\d+\])?: Leaving directory", line) and len(folders) > 1:
            folders.pop()
        for part in re.split(r"&&|\|\||;", line):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            start = next((at for at, word in enumerate(words) if _COMPILERS.search(word)), -1)
            sources = [word for word in words if word.endswith(_SOURCES)]
            if start >= 0 and "-c" in words and sources:
                yield {"directory": folders[-1], "file": sources[-1], "arguments": words[start:]}


def _run(command: Sequence[str], folder: Path) -> str:
    """Why it failed, by its last words; empty when it worked."""
    try:
        done = subprocess.run(list(command), cwd=folder, capture_output=True, text=True, errors="replace",
                              timeout=_CONFIGURE_S, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]}: {error}"
    if done.returncode == 0:
        return ""
    words = (done.stderr or done.stdout).strip()
    failure = re.search(r"(?:CMake Error|error:).*(?:\n.*){0,3}", words)
    return " ".join((failure[0] if failure else words[-300:]).split())
