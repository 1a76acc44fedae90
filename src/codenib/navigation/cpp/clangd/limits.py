"""Sources in, how much CPU time clangd may take for each out; and which took more, and are left out.

Reading a source takes up to half a second for each megabyte that it may include, each file once, with the
system's headers: the largest tests of fmt, whose templates are heavy, 4.1 s for 8.2 MB, those of nlohmann's
json 3.5 s for 9.9 MB. One that takes several times that explodes: the same header included again and again,
or macros that multiply.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.core.text.c_tokens import TokenKind, lex
from codenib.navigation.cpp.includes import Includes

#: Seconds of CPU time for any file, and for each megabyte that it may include.
_FILE_S = 3.0
_MEGABYTE_S = 1.5
#: For each kilobyte of a file whose names are asked at; fmt's largest test takes 0.09 s.
_ASKED_KILOBYTE_S = 0.3
_MOST_S = 150.0
#: Files of which one may be left out before the limits shrink, and how often they do before clangd is given
#: up for the repository: a hostile one of a few files is done with in less than ten seconds.
_FILES_A_STRIKE = 50
_ROUNDS = 4
_NAMED = 3
_LONGEST_NAME = 200
_FARTHEST = 20_000  # characters; 400,000 names in one line took over a minute
_SYSTEM_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?[ \t]*<([^>\n]+)>", re.MULTILINE)
_ANY_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_SYSTEM_FOLDERS = ("/usr/local/include", "/usr/include", "/opt/homebrew/include")


class IncludedBytes:
    """How many bytes each file of a checkout may include, each other file once."""

    def __init__(self, root: Path, includes: Includes) -> None:
        self._root = root
        self._includes = includes
        self._own: dict[str, tuple[int, frozenset[Path]]] = {}

    def of(self, path: str) -> int:
        """Of a file, by its path from the root; itself and the system's headers count."""
        read = [self._read(each) for each in self._includes.closure(path)] or [self._read(path)]
        system = _reachable_headers(header for _, headers in read for header in headers)
        return sum(size for size, _ in read) + sum(_of_header(header)[0] for header in system)

    def own(self, path: str) -> int:
        """Of the file alone."""
        return self._read(path)[0]

    def _read(self, path: str) -> tuple[int, frozenset[Path]]:
        """The size of a file, and the system's headers that it names."""
        if path not in self._own:
            try:
                data = (self._root / path).read_bytes()
            except OSError:
                data = b""
            self._own[path] = len(data), frozenset(_located(_SYSTEM_DIRECTIVE.findall(data)))
        return self._own[path]


class FileLimits:
    """What each file may take. A file that takes more is left out, and all together a few seconds at most."""

    def __init__(self, sizes: IncludedBytes, count: int, *, trusted: bool) -> None:
        """`count` files there are in all; those of a trusted repository are not in a hurry."""
        self._sizes = sizes
        self._trusted = trusted
        self._a_round = 1 + count // _FILES_A_STRIKE
        self._strikes = 0
        #: Those that were left out, and why.
        self.left_out: dict[str, str] = {}

    def cpu_s(self, path: str) -> float:
        """Seconds of CPU time that a file may take now."""
        if self._trusted:
            return _MOST_S
        whole = min(_FILE_S + _MEGABYTE_S * self._sizes.of(path) / 1e6, _MOST_S)
        return whole * 0.5 ** (self._strikes // self._a_round)

    def asked_cpu_s(self, path: str) -> float:
        """The same, where clangd reads it and is asked at every name in it."""
        return min(self.cpu_s(path) + _ASKED_KILOBYTE_S * self._sizes.own(path) / 1e3, _MOST_S)

    def leave_out(self, path: str, reason: str) -> None:
        """The file took too much; ProviderError when so many did that clangd is not worth it."""
        self.left_out[path] = reason
        self._strikes += 1
        if self._strikes >= _ROUNDS * self._a_round and not self._trusted:
            raise ProviderError(f"clangd was ended: {describe(self.left_out)}", hint="codenib doctor")

    def leave_out_included(self, includes: Includes, compiled: Iterable[str]) -> None:
        """Leave out what only files that took too much include: it may be what explodes."""
        good = {each for path in compiled for each in includes.closure(path)}
        for path in list(self.left_out):
            for each in sorted(includes.closure(path) - good):
                self.left_out.setdefault(each, f"only {path} includes it")


def has_far_names(text: str, *, is_c: bool) -> bool:
    """Whether names stand beyond `_FARTHEST` in a line: clangd reads the line anew to find each of them.

    >>> has_far_names("int a;\\nint b;\\n", is_c=True), has_far_names("a+" * 40_000, is_c=True)
    (False, True)
    >>> has_far_names("int a[] = {" + "1," * 40_000 + "};", is_c=True)
    False
    """
    if max(map(len, text.split("\n"))) <= _FARTHEST:
        return False
    return any(token.kind is TokenKind.NAME and token.column > _FARTHEST for token in lex(text, is_c=is_c))


def describe(left_out: Iterable[str], most: int = _NAMED) -> str:
    """Which files were left out; `most` are named.

    >>> describe(["a.c"]), describe(["a.c", "b.c", "c.c", "d.c", "e.c"])
    ('a.c takes too long to read', 'a.c, b.c, c.c and 2 other files take too long to read')
    """
    paths = list(left_out)
    named = ", ".join(paths[:most])
    if more := len(paths) - most:
        named += f" and {more} other files" if more > 0 else ""
    return f"{named} {'take' if len(paths) > 1 else 'takes'} too long to read"


def _reachable_headers(start: Iterable[Path]) -> set[Path]:
    """The system's headers that these may include, and themselves."""
    found = set(start)
    left = list(found)
    while left:
        for header in _of_header(left.pop())[1] - found:
            found.add(header)
            left.append(header)
    return found


@cache
def _of_header(header: Path) -> tuple[int, frozenset[Path]]:
    """The size of a header of the system, and what it names, beside it or anywhere."""
    try:
        data = header.read_bytes()
    except OSError:
        return 0, frozenset()
    names = _ANY_DIRECTIVE.findall(data)
    near = {header.parent / os.fsdecode(name) for name in names}
    return len(data), frozenset(_located(names)) | {each for each in near if each.is_file()}


def _located(names: Iterable[bytes]) -> set[Path]:
    return {header for name in set(names) if (header := _locate(name)) is not None}


@lru_cache(maxsize=20_000)
def _locate(name: bytes) -> Path | None:
    """A header of the system by its name; None where it is not known, or leads elsewhere."""
    text = name.decode("utf-8", "replace")
    if text.startswith("/") or ".." in text.split("/") or "\0" in text or len(text) > _LONGEST_NAME:
        return None
    return next((each for folder in _folders() if (each := folder / text).is_file()), None)


@cache
def _folders() -> tuple[Path, ...]:
    """Where the headers of the system are: those of C++, of the processor, and all others."""
    there = [Path(folder) for folder in _SYSTEM_FOLDERS if Path(folder).is_dir()]
    versions = [each for folder in there for each in sorted(folder.glob("c++/*"), reverse=True)]
    processors = [each for folder in there for each in sorted(folder.glob("*-linux-*"))]
    newest = versions[:1]
    of_version = [each / "c++" / version.name for each in processors for version in newest]
    return tuple(each for each in (*newest, *of_version, *processors, *there) if each.is_dir())
