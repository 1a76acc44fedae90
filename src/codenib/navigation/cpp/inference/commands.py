"""A tree and the commands that a build gave, if any, in; a command for every source of the tree out.

A source that no command is for gets those of the nearest that has one; without any, what the build files and
the directives of the sources say. A source that is only a part of others (`#include "part.c"`) gets none: it
is read as their headers are. A header that no compiled file includes is compiled by itself. Nothing is run:
all of it is read from texts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from posixpath import dirname
from stat import S_ISREG

from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.inference.build_hints import BuildHints
from codenib.navigation.cpp.inference.include_folders import GENERATED, IncludeTree, shared_folders
from codenib.navigation.cpp.inference.templates import write_templates

C_SOURCES = (".c",)
CPP_SOURCES = (".cc", ".cpp", ".cxx", ".c++", ".cu", ".ixx", ".cppm")
SOURCES = (*C_SOURCES, *CPP_SOURCES)
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".cuh")
_CPP_HEADERS = _HEADERS[1:]
_CPP_TEXT = re.compile(
    r"^[ \t]*(?:template\s*<|namespace\b|class\s+\w|using\s+\w|(?:public|private|protected)\s*:)"
    r"|\bstd::|\bconstexpr\b",
    re.MULTILINE,
)
_ASIDE = re.compile(
    r"(?:^|/)(?:contrib|tests?|testing|unittests?|examples?|samples?|demos?|bench\w*|fuzz\w*|docs?|third[_-]?party|"
    r"vendor|external|extern|deps)/"
)
# Output of a build, and what is no part of the repository's own sources.
_BUILT = ("CMakeCache.txt", "CACHEDIR.TAG", "build.ninja")


class CompleteCommands:
    """The commands that a build gave for a tree, and one for each source without; the program's come first.

    A file is read as its first includer reads it: `contrib/` of zstd has a `mem.h` of its own, which stood
    for the library's. A source that includes others which are compiled themselves comes after these: the
    library in one file, with options of its own, stood for every source of zstd. After that they are sorted
    by file.

    `inferred` are the paths of the latter; headers that are compiled by themselves are among them.
    """

    def __init__(self, root: Path, given: Sequence[CompileCommand], generated: Path) -> None:
        """Headers that only a build writes are made of their templates in the folder `generated`."""
        self._root = root
        self._given = given
        self._generated = generated
        files = tree_files(root)
        here = f"{root}/"
        known = {each.file.removeprefix(here): each for each in given if each.file.startswith(here)}
        hints = BuildHints(root, files)
        self._tree = IncludeTree(root, files, hints.folders)
        inference = _Inference(root, self._tree, hints, known, generated)
        sources = [path for path in files if path.endswith(SOURCES) and path not in known]
        parts = _Parts(self._tree, hints, known).among([path for path in files if path.endswith(SOURCES)])
        sources = [path for path in sources if path not in parts]
        more = {path: inference.command(path, cpp=path.endswith(CPP_SOURCES)) for path in sources}
        reached = {each for path in (*known, *more) for each in self._tree.closure(path, certain=True)}
        self._alone = [path for path in files if path.endswith(_HEADERS) and path not in reached]
        compiled = frozenset((*known, *more))
        for path in self._alone:
            cpp = _is_cpp_header(root, path, self._tree, compiled)
            more[path] = inference.command(path, cpp=cpp, header=True)
        self.commands = sorted([*given, *more.values()], key=lambda each: self._rank(each, compiled))
        self.inferred = frozenset(more)
        write_templates(root, self._tree.generated, generated)

    def _rank(self, command: CompileCommand, compiled: Collection[str]) -> tuple[int, bool, str]:
        path = command.file.removeprefix(f"{self._root}/")
        parts = self._tree.closure(path).intersection(compiled) - {path}
        return len(parts), _ASIDE.search(path) is not None, command.file

    def hold_after(self, changed: Collection[str]) -> bool:
        """Whether the commands are the same after these files changed; no file came or went."""
        if not any(self._matters(path) for path in changed):
            return True
        return CompleteCommands(self._root, self._given, self._generated).commands == self.commands

    def _matters(self, path: str) -> bool:
        """Whether an edit may change a command: the text of a header may say that it is of C++."""
        return (bool(self._alone) and path.endswith(_HEADERS)) or self._tree.spells_otherwise(path)


def tree_files(root: Path) -> list[str]:
    """The files below `root`, without links, hidden folders and a build's output."""
    found = []
    for folder, folders, names in os.walk(root):
        if folder != str(root) and any(name in names for name in _BUILT):
            folders[:] = []
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        base = os.path.relpath(folder, root)
        prefix = "" if base == "." else f"{base}/"
        found += [prefix + name for name in names if _is_plain(Path(folder, name))]
    return sorted(found)


def _is_plain(path: Path) -> bool:
    """Whether it is a file and no link; reading a pipe would never end."""
    return S_ISREG(path.lstat().st_mode)


class _Parts:
    """Tells sources that only others' directives bring into a build.

    Where a build gave commands, one that it does not compile but includes is a part. Otherwise one that
    stands beside its includer, that no build file names, and that does not include itself all that its
    includer does: it cannot be read alone.
    """

    def __init__(self, tree: IncludeTree, hints: BuildHints, known: Collection[str]) -> None:
        self._tree = tree
        self._hints = hints
        self._known = known

    def among(self, sources: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for path in sources:
            for each in self._tree.direct(path):
                other = each.target
                if not other.endswith(SOURCES) or other in self._known or not each.certain:
                    continue
                if path in self._tree.closure(other):  # each includes the other: both are compiled
                    continue
                if path in self._known or self._is_part(other, path):
                    found.add(other)
        return found

    def _is_part(self, path: str, includer: str) -> bool:
        if dirname(path) != dirname(includer) or self._hints.compiles(path):
            return False
        needed = {each.target for each in self._tree.direct(includer) if not each.target.endswith(SOURCES)}
        return not needed <= self._tree.closure(path)


class _Inference:
    """Makes commands for files that have none."""

    def __init__(
        self,
        root: Path,
        tree: IncludeTree,
        hints: BuildHints,
        known: Mapping[str, CompileCommand],
        generated: Path,
    ) -> None:
        self._root = root
        self._generated = generated
        self._tree = tree
        self._hints = hints
        self._known = known

    def command(self, path: str, *, cpp: bool, header: bool = False) -> CompileCommand:
        quoted, angled = self._tree.folders(path)
        folders = [f"-iquote{self._folder(each)}" for each in quoted] + [
            f"-I{self._folder(each)}" for each in angled
        ]
        language = ["-x", f"{'c++' if cpp else 'c'}-header"] if header else []
        file = str(self._root / path)
        near = self._nearest(path, cpp=cpp)
        if near is not None:
            base = _without_file(near, cpp=cpp)
            more = [each for each in folders if each not in base]
            return replace(near, file=file, arguments=(*base, *more, *language, file))
        standard = self._hints.standard(path, cpp=cpp)
        options = [f"-std={standard}"] if standard else []
        options += [f"-D{each}" for each in self._hints.macros(path)]
        driver = "clang++" if cpp else "clang"
        return CompileCommand(file, str(self._root), (driver, *options, *folders, *language, file))

    def _folder(self, name: str) -> Path:
        if name.startswith(GENERATED):
            return self._generated / name.removeprefix(GENERATED)
        return self._root / name

    def _nearest(self, path: str, *, cpp: bool) -> CompileCommand | None:
        """The command of the nearest source: of the same language, then by folder, then by name."""
        if not self._known:
            return None
        return self._known[min(self._known, key=lambda other: _apart(path, other, cpp=cpp))]


def _apart(path: str, other: str, *, cpp: bool) -> tuple[bool, int, int, float, str]:
    folder = dirname(other)
    alike = SequenceMatcher(None, path.rpartition("/")[2], other.rpartition("/")[2]).quick_ratio()
    return (
        other.endswith(CPP_SOURCES) != cpp,
        -shared_folders(dirname(path), folder),
        len(folder),
        -alike,
        other,
    )


def _without_file(command: CompileCommand, *, cpp: bool) -> list[str]:
    """A command's words without its file, and without what only the other language takes."""
    words = list(command.arguments[:-1])
    if command.file.endswith(CPP_SOURCES) != cpp:
        words = [word for word in words if not word.startswith(("-std=", "--std=", "-x"))]
        words[:1] = ["clang++" if cpp else "clang"]
    return words


def _is_cpp_header(root: Path, path: str, tree: IncludeTree, compiled: Iterable[str]) -> bool:
    """Whether a header that nothing includes is of C++: by its suffix, its text, then its neighbours."""
    if path.endswith(_CPP_HEADERS):
        return True
    for each in sorted(tree.closure(path)):
        if each.endswith(_CPP_HEADERS) or _CPP_TEXT.search(
            (root / each).read_bytes().decode("utf-8", "replace")
        ):
            return True
    beside = [each for each in compiled if dirname(each) == dirname(path)]
    return bool(beside) and all(each.endswith(CPP_SOURCES) for each in beside)
