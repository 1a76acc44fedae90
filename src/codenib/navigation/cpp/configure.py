"""A checkout in, a new compilation database out: by CMake, Meson, or a makefile whose compilers only record.

This runs code of the repository: its build files, and what they run. Nothing is downloaded by CMake or Meson.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError
from codenib.navigation.cpp.compile_commands import DATABASE, read_entries
from codenib.navigation.cpp.inference.commands import SOURCES
from codenib.navigation.cpp.recorder import CompilerRecorder
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program

_HINT = f"put a {DATABASE} into the repository's root or its build folder"
_CONFIGURE_S = 900.0
_NO_COMMANDS = "it wrote no compile commands"
# Options of a CMakeLists.txt that may be switched off when configuring fails: their sources often need a
# submodule or a download (leveldb's tests need googletest).
_EXTRAS = re.compile(
    r"\b(?:option|cmake_dependent_option)\s*\(\s*\"?(\w*(?:TEST|BENCH|EXAMPLE|FUZZ|DOC)\w*)", re.I
)
#: What CMake says of a library that it does not find, and how an option is declared.
_MISSING = re.compile(r"Could NOT find (\w+)|package configuration file provided by \"(\w+)\"")
_CMAKE_OPTION = re.compile(r"\b(?:option|cmake_dependent_option)\s*\(\s*\"?(\w+)", re.I)
_MOST_MISSING = 6  # libraries that are done without, each after another try
_COMPILERS = re.compile(r"(?:^|/)(?:[\w.]+-)*(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+)(?:-[\d.]+)?$")


def configure(root: Path, out: Path) -> tuple[Path | None, str, tuple[str, ...]]:
    """Configure the build of a repository in the folder `out`; the path of the database, the name of the
    builder that gave it, and why those before it did not, or without which options it did."""
    reasons: list[str] = []
    for name, files, build in _BUILDERS:
        if any((root / file).is_file() for file in files):
            database, reason = build(root, out / name)
            if reason:
                reasons.append(f"{name}: {reason}")
            if database is not None:
                return database, name, tuple(reasons)
    return None, "", tuple(reasons) or ("there is no CMakeLists.txt, meson.build or Makefile",)


def _by_cmake(root: Path, out: Path) -> tuple[Path | None, str]:
    cmake = shutil.which("cmake")
    if cmake is None:
        return None, "cmake is not on the path"
    base = [cmake, "-S", str(root), "-B", str(out), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
            "-DFETCHCONTENT_FULLY_DISCONNECTED=ON"]  # fmt: skip
    if shutil.which("ninja"):
        base += ["-G", "Ninja"]
    text = (root / "CMakeLists.txt").read_text("utf-8", "replace")
    extras = sorted({*_EXTRAS.findall(text), "BUILD_TESTING"})
    off: list[str] = []
    for attempt in range(2 + _MOST_MISSING):
        shutil.rmtree(out, ignore_errors=True)
        reason = _run([*base, *(f"-D{name}=OFF" for name in off)], root)
        reason = reason or ("" if read_entries(out / DATABASE) else _NO_COMMANDS)
        if not reason:
            return out / DATABASE, f"without {', '.join(off)}" if off else ""
        more = [name for name in without_missing(text, reason) if name not in off]
        if not more and attempt and set(extras) <= set(off):
            break
        off += more or [name for name in extras if name not in off]
    return None, reason.partition(" Call Stack")[0]


def without_missing(text: str, reason: str) -> list[str]:
    """The options of a CMakeLists.txt that are named as the library that CMake did not find.

    >>> without_missing("option(CURL_USE_LIBPSL \\"Use it\\" ON)", "Could NOT find Libpsl (missing: X)")
    ['CURL_USE_LIBPSL']
    """
    missing = _MISSING.search(reason)
    if missing is None:
        return []
    library = (missing[1] or missing[2]).lower()
    return [name for name in _CMAKE_OPTION.findall(text) if library in name.lower()]


def _by_meson(root: Path, out: Path) -> tuple[Path | None, str]:
    meson = shutil.which("meson")
    if meson is None:
        return None, "meson is not on the path"
    shutil.rmtree(out, ignore_errors=True)
    reason = _run([meson, "setup", "--wrap-mode=nodownload", str(out), str(root)], root)
    return (out / DATABASE, "") if read_entries(out / DATABASE) else (None, reason or _NO_COMMANDS)


def _by_make(root: Path, out: Path) -> tuple[Path | None, str]:
    """Prepare a copy, then let make run with compilers that only record what they are asked to compile."""
    make = shutil.which("make")
    if make is None:
        return None, "make is not on the path"
    tree = out / root.name
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(root, tree, symlinks=True)
    for step in _preparation(tree):
        if reason := _run(step, tree):
            return None, reason
    recorder = CompilerRecorder(out / "recorder")
    with contextlib.suppress(ProviderError):  # what was recorded until then counts
        run_program(_program([make, "-k"], tree, recorder.environment), _CONFIGURE_S)
    rows = recorder.entries()
    if not rows:  # a compiler by its full path
        rows = list(dry_run_entries(run_program(_program([make, "-Bnwk", "V=1"], tree)).output, tree))
    database = out / DATABASE
    database.write_text(json.dumps(rows), "utf-8")
    return (database, "") if rows else (None, "it started no compiler")


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
            sources = [word for word in words if word.endswith(SOURCES)]
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


def _program(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Program:
    return Program(command[0], tuple(command), _HINT, folder, environment or {})


#: Name, files of which one must be there, and how it is done; in this order.
_BUILDERS = (
    ("CMake", ("CMakeLists.txt",), _by_cmake),
    ("Meson", ("meson.build",), _by_meson),
    ("make", ("Makefile", "GNUmakefile", "makefile", "configure", "configure.ac"), _by_make),
)
