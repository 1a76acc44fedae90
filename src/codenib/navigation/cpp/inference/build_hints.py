"""The texts of build files in; standards, macros, folders of headers and sources that they name plainly out.

Nothing is run. What stands under a condition that is not known here, or has a variable in it that no plain
`set` gave a value, is left out; a standard counts wherever it stands, and the newest of a file counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, join, normpath

from codenib.navigation.cpp.inference.conditions import Truth, conjunction, negation

_BUILD_FILE = re.compile(
    r"(?:^|/)(?:CMakeLists\.txt|[^/]*\.cmake|GNUmakefile|[Mm]akefile(?:\.am|\.in|\.inc)?|[^/]*\.(?:mk|mak)|"
    r"meson\.build|configure\.ac|BUILD(?:\.bazel)?|compile_flags\.txt)$"
)
_STANDARD = re.compile(
    r"""(?:-std=|\b(?:cpp|c)_std\s*=\s*["']?|["'](?:cpp|c)_std["']\s*:\s*["'])(?P<flag>(?:gnu|c)(?:\+\+)?[0-9][0-9a-z])\b
    | \b(?:CMAKE_)?(?P<kind>CXX|C)_STANDARD["']?[\s)]+["']?(?P<number>[0-9]{2})\b
    | \bcxx_std_(?P<cxx>[0-9]{2})\b | \bc_std_(?P<c>[0-9]{2})\b
    | \bAX_CXX_COMPILE_STDCXX(?:_(?P<suffix>[0-9]{2})|\(\[?(?P<argument>[0-9]{2}))
    """,
    re.VERBOSE,
)
_DEFINE = re.compile(r"(?<![\w-])-D(?P<name>[A-Za-z_]\w*)(?:=(?P<value>\w*))?(?![\w=\"'\\$(@])")
# A variable of a makefile for all of its programs; one with small letters is of a single program.
_FLAGS = re.compile(
    r"(?:export\s+|override\s+)?[A-Z_\d]*(?:FLAGS|DEFS|DEFINES?|STD|OPTS?|MACROS)[A-Z_\d]*\s*[+:?]*="
)
_MESON_ARGUMENTS = re.compile(r"add_(?:project|global)_arguments\s*\(([^()]*)")
# Of the configuration, not of sources; and what makes sources include a file that only a build writes.
_NO_MACROS = re.compile(r"CMAKE_\w+|BUILD_\w+|HAVE_CONFIG_H|DHAVE_CONFIG_H|_FORTIFY_SOURCE")
_INCLUDE = re.compile(r"(?<![\w-])-I\s*[\"']?(?P<folder>[\w./${}()@-]+)")
_MESON_FOLDERS = re.compile(r"include_directories\s*\(([^()]*)\)")
_CMAKE_CALL = re.compile(
    r"(?P<name>[A-Za-z_]\w*)[ \t]*\((?P<arguments>(?:[^()\"]|\"(?:\\.|[^\"\\])*\"|\([^()]*\))*)\)"
)
_MOST_BYTES = 1 << 20
_LONGEST_LINE = 4000
_CMAKE_COMMENT = re.compile(r"#\[\[.*?(?:\]\]|\Z)|#[^\n]*", re.DOTALL)
_WORD = re.compile(r'"((?:\\.|[^"\\])*)"|([^\s"]+)')
_PLAIN_DEFINE = re.compile(r"(?:-D)?([A-Za-z_]\w*)(?:=(\w*))?")
_SCOPES = frozenset(["PRIVATE", "PUBLIC", "INTERFACE", "SYSTEM", "BEFORE", "AFTER"])
_KNOWN_FALSE = frozenset(
    re.findall(r"\w+", "WIN32 MSVC APPLE MINGW CYGWIN ANDROID IOS EMSCRIPTEN WINDOWS_STORE FREEBSD BSD HAIKU")
)
_KNOWN_TRUE = frozenset(["UNIX", "LINUX", "CMAKE_COMPILER_IS_GNUCC", "CMAKE_COMPILER_IS_GNUCXX"])
_AGES = {
    "89": 0,
    "90": 0,
    "98": 1,
    "99": 2,
    "03": 3,
    "0x": 11,
    "1x": 11,
    "1y": 14,
    "1z": 17,
    "2a": 20,
    "2b": 23,
    "2x": 23,
    "2c": 26,
}
# Sources and objects that a build file names; a pattern means all of its folder.
_COMPILED = re.compile(
    r"(?P<folder>[\w./+-]*/)?(?P<stem>[\w+-][\w.+-]*|\*)\.(?:c|cc|cpp|cxx|c\+\+|o|lo|obj)\b"
)
# Lines of a makefile that name files which are shipped, or on which others depend.
_NOT_COMPILED = re.compile(
    r"\s*(?:EXTRA_DIST|\w*_?DIST|\w*CLEANFILES|\w*_(?:HEADERS|INCS))\s*\+?=|[^=\t:]*:(?!=)"
)
_ROOTS = re.compile(
    r"^(?:\$\{(?:PROJECT_SOURCE_DIR|CMAKE_SOURCE_DIR|\w+_SOURCE_DIR)\}|\$[({](?:top_srcdir|abs_top_srcdir)[)}]|@top_srcdir@)/?"
)
_HERE = re.compile(
    r"^(?:\$\{(?:CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR)\}|\$[({](?:srcdir|CURDIR)[)}]|@srcdir@)/?"
)


@dataclass(frozen=True, slots=True)
class FolderHints:
    """What one build file says: the standard of each language, macros, folders of headers; the names of the
    sources that it compiles, without suffix, and the folders of which it compiles all."""

    c: str
    cpp: str
    macros: tuple[str, ...]
    folders: tuple[str, ...]
    compiled: frozenset[str] = frozenset()
    compiled_folders: frozenset[str] = frozenset()


class BuildHints:
    """The hints of a tree's build files, each for its folder and what is below."""

    def __init__(self, root: Path, files: Collection[str]) -> None:
        self._hints: dict[str, list[FolderHints]] = {}
        for path in sorted(files):
            if _BUILD_FILE.search(path):
                try:
                    text = (root / path).read_bytes()[:_MOST_BYTES].decode("utf-8", "replace")
                except OSError:
                    continue
                # Searches take time by the square of a line's length.
                text = "\n".join(line for line in text.split("\n") if len(line) <= _LONGEST_LINE)
                self._hints.setdefault(dirname(path), []).append(read_hints(path, text))

    def folders(self, folder: str) -> frozenset[str]:
        """The folders of headers that are named by build files of `folder` and those around it."""
        around = (one for each in _upwards(folder) for one in self._hints.get(each, ()))
        return frozenset(name for one in around for name in one.folders)

    def standard(self, path: str, *, cpp: bool) -> str:
        """The standard of a file by the nearest build files that name one, as a value of `-std`; or none."""
        for folder in _upwards(dirname(path)):
            named = [each.cpp if cpp else each.c for each in self._hints.get(folder, ())]
            if any(named):
                return max(filter(None, named), key=_age)
        return ""

    def macros(self, path: str) -> list[str]:
        """The macros of the folders around a file."""
        found: dict[str, None] = {}
        for folder in _upwards(dirname(path)):
            for each in self._hints.get(folder, ()):
                found |= dict.fromkeys(each.macros)
        named: dict[str, str] = {}
        for macro in found:  # the nearest value counts
            named.setdefault(macro.partition("=")[0], macro)
        return sorted(named.values())

    def compiles(self, path: str) -> bool:
        """Whether a build file of the folders around a source names it among those to compile."""
        folder, name = dirname(path), path.rpartition("/")[2]
        stem = name.rpartition(".")[0]
        around = [one for each in _upwards(folder) for one in self._hints.get(each, ())]
        return any(stem in one.compiled or folder in one.compiled_folders for one in around)


def read_hints(path: str, text: str) -> FolderHints:
    """What one build file says.

    >>> read_hints("Makefile", "CFLAGS = -std=gnu99 -DA -DB=1 -I../deps").macros
    ('A', 'B=1')
    """
    is_cmake = path.endswith((".cmake", "CMakeLists.txt"))
    c, cpp = _standards(text)
    folder = dirname(path)
    if is_cmake:
        calls = _CMakeText(text)
        macros, folders = calls.macros, calls.folders
    else:
        macros = list(_macros_of_all(path, text))
        folders = [each["folder"] for each in _INCLUDE.finditer(text)]
        for match in _MESON_FOLDERS.finditer(text) if path.endswith("meson.build") else ():
            folders += re.findall(r"'([^']*)'", match[1])
    places = {place for each in folders if (place := _place(folder, each)) is not None}
    stems, all_of = _compiled(folder, text, is_make=not is_cmake and not path.endswith("meson.build"))
    return FolderHints(
        c=c,
        cpp=cpp,
        macros=tuple(dict.fromkeys(macros)),
        folders=tuple(sorted(places)),
        compiled=stems,
        compiled_folders=all_of,
    )


def _compiled(folder: str, text: str, *, is_make: bool) -> tuple[frozenset[str], frozenset[str]]:
    """The sources that a build file compiles, by name without suffix, and the folders of which all."""
    if is_make:
        joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
        text = "\n".join(line for line in joined.splitlines() if not _NOT_COMPILED.match(line))
    found = [(match["folder"] or "", match["stem"]) for match in _COMPILED.finditer(text)]
    patterns = (_place(folder, prefix) for prefix, stem in found if stem == "*")
    named = frozenset(stem for _, stem in found if stem != "*")
    return named, frozenset(place for place in patterns if place is not None)


def _standards(text: str) -> tuple[str, str]:
    newest = {"c": "", "cpp": ""}
    for match in _STANDARD.finditer(text):
        if flag := match["flag"]:
            value = flag
        elif match["number"]:
            value = f"gnu++{match['number']}" if match["kind"] == "CXX" else f"gnu{match['number']}"
        elif match["c"]:
            value = f"gnu{match['c']}"
        else:
            value = f"gnu++{match['cxx'] or match['suffix'] or match['argument']}"
        language = "cpp" if "++" in value else "c"
        if not newest[language] or _age(value) > _age(newest[language]):
            newest[language] = value
    return newest["c"], newest["cpp"]


def _age(standard: str) -> int:
    end = standard[-2:]
    return _AGES[end] if end in _AGES else int(end) if end.isdigit() else 0


def _macros_of_all(path: str, text: str) -> Iterator[str]:
    """The macros that a makefile, or a Meson file, gives to all that it builds."""
    if path.endswith("meson.build"):
        places = [match[1] for match in _MESON_ARGUMENTS.finditer(text)]
    elif path.endswith("compile_flags.txt"):
        places = [text]
    else:
        joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
        places = [line for line in _unconditional(joined) if _FLAGS.match(line.strip())]
    for place in places:
        for match in _DEFINE.finditer(place):
            if not _NO_MACROS.fullmatch(match["name"]):
                yield match["name"] if match["value"] is None else f"{match['name']}={match['value']}"


def _unconditional(text: str) -> Iterator[str]:
    """The lines of a makefile that stand under no condition and in no recipe."""
    depth = 0
    for line in text.splitlines():
        words = line.split()
        first = words[0] if words else ""
        if first in ("ifeq", "ifneq", "ifdef", "ifndef", "if"):
            depth += 1
        elif first in ("endif", "fi"):
            depth = max(0, depth - 1)
        elif not depth and not line.startswith("\t"):
            yield line


def _place(folder: str, named: str) -> str | None:
    """A folder of the tree by its name in a build file; None where the name has variables."""
    if match := _ROOTS.match(named):
        named, folder = named[match.end() :], ""
    elif match := _HERE.match(named):
        named = named[match.end() :]
    if re.search(r"[$@{}()]", named) or named.startswith("/"):
        return None
    place = normpath(join(folder, named or "."))
    return None if place.startswith("..") else "" if place == "." else place


def _upwards(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = dirname(folder)
    yield ""


class _CMakeText:
    """The calls of a CMake file, read in order."""

    def __init__(self, text: str) -> None:
        self.macros: list[str] = []
        self.folders: list[str] = []
        self._values: dict[str, str] = {}
        self._libraries: set[str] = set()
        self._branches: list[tuple[Truth, Truth]] = []  # this branch, and the rest
        for match in _CMAKE_CALL.finditer(_CMAKE_COMMENT.sub("", text)):
            words = [quoted or plain for quoted, plain in _WORD.findall(match["arguments"])]
            self._call(match["name"].lower(), words)

    def _call(self, name: str, words: list[str]) -> None:
        words = [self._filled(word) for word in words]
        if name == "project" and words:
            self._values["PROJECT_NAME"] = words[0]
        elif name == "add_library" and words and "INTERFACE" not in words:
            self._libraries.add(words[0])
        elif name in ("if", "elseif", "else", "endif"):
            self._condition(name, words)
        elif name in ("function", "macro"):
            self._branches.append((None, None))
        elif name in ("endfunction", "endmacro"):
            del self._branches[-1:]
        elif name in ("include_directories", "target_include_directories"):
            named = words[1:] if name.startswith("target") else words
            plain = (re.sub(r"^\$<BUILD_INTERFACE:(.*)>$", r"\1", word) for word in named)
            self.folders += [word for word in plain if word not in _SCOPES]
        elif all(here is True for here, _ in self._branches):
            self._certain(name, words)

    def _certain(self, name: str, words: list[str]) -> None:
        if name == "set" and len(words) == 2 and re.fullmatch(r"\w*", words[1]):
            self._values[words[0]] = words[1]
        elif name in ("add_definitions", "add_compile_definitions"):
            self._define(words)
        elif name == "target_compile_definitions" and words and words[0] in self._libraries:
            # Those of a program, or for the users of a library, are not for the whole folder.
            self._define(words[1 : words.index("INTERFACE") if "INTERFACE" in words else None])
        elif name == "add_compile_options":
            self._define([word for word in words if word.startswith("-D")])

    def _filled(self, word: str) -> str:
        return re.sub(r"\$\{(\w+)\}", lambda match: self._values.get(match[1], match[0]), word)

    def _define(self, words: list[str]) -> None:
        for word in words:
            match = _PLAIN_DEFINE.fullmatch(word)
            if match and match[1] not in _SCOPES and not _NO_MACROS.fullmatch(match[1]):
                self.macros.append(match[1] if match[2] is None else f"{match[1]}={match[2]}")

    def _condition(self, name: str, words: list[str]) -> None:
        if name == "endif":
            del self._branches[-1:]
            return
        rest: Truth = True
        if name != "if":
            rest = self._branches.pop()[1] if self._branches else None
        holds: Truth = True if name == "else" else _cmake_holds(words)
        self._branches.append((conjunction(rest, holds), conjunction(rest, negation(holds))))


def _cmake_holds(words: list[str]) -> Truth:
    denied = words[:1] == ["NOT"]
    if len(words) != 1 + denied:
        return None
    word = words[-1]
    holds: Truth = True if word in _KNOWN_TRUE else False if word in _KNOWN_FALSE else None
    return negation(holds) if denied else holds
