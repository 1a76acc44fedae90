"""A checkout in, a new compilation database out: by CMake, or by a Makefile that Bear or a dry run reads.

This runs code of the repository: its build files, and for make the build itself.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError
from codenib.navigation.cpp.compile_commands import DATABASE, read_entries
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program

_HINT = f"put a {DATABASE} into the repository's root or its build folder"
_CONFIGURE_S = 900.0
# Options of a CMakeLists.txt that may be switched off when configuring fails: their sources often need a
# submodule or a download (leveldb's tests need googletest).
_EXTRAS = re.compile(
    r"\b(?:option|cmake_dependent_option)\s*\(\s*\"?(\w*(?:TEST|BENCH|EXAMPLE|FUZZ|DOC)\w*)", re.I
)
_COMPILERS = re.compile(r"(?:^|/)(?:[\w.]+-)*(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+)(?:-[\d.]+)?$")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".m", ".mm")


def configure(root: Path, out: Path) -> Path:
    """Configure the build of a repository in the folder `out`; the path of the database."""
    reasons = []
    if (root / "CMakeLists.txt").is_file():
        database, reason = _by_cmake(root, out / "cmake")
        if database is not None:
            return database
        reasons.append(f"CMake: {reason}")
    if any(
        (root / name).is_file()
        for name in ("Makefile", "GNUmakefile", "makefile", "configure", "configure.ac")
    ):
        database, reason = _by_make(root, out / "make")
        if database is not None:
            return database
        reasons.append(f"make: {reason}")
    if not reasons:
        raise ProviderError(
            "C and C++ need a compilation database; there is no CMakeLists.txt or Makefile to make one from",
            hint=_HINT,
        )
    raise ProviderError(f"no compilation database could be made ({'; '.join(reasons)})",
                        hint=_HINT)  # fmt: skip


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
            "" if read_entries(out / DATABASE) else "it wrote no compile commands"
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
        return (database, "") if read_entries(database) else (None, reason or "Bear saw no compiler")
    result = run_program(_program([make, "-Bnwk", "V=1"], tree))
    rows = list(dry_run_entries(result.output, tree))
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
        result = run_program(_program(command, folder), _CONFIGURE_S)
    except ProviderError as error:
        return error.message
    if result.code == 0:
        return ""
    words = (result.errors or result.output).strip()
    failure = re.search(r"(?:CMake Error|error:).*(?:\n.*){0,3}", words)
    return " ".join((failure[0] if failure else words[-300:]).split())


def _program(command: Sequence[str], folder: Path) -> Program:
    return Program(command[0], tuple(command), _HINT, folder)
