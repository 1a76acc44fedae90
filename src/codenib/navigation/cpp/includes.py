"""The texts of C and C++ files in; which files may include which out, by what their directives say.

More than what is included in the end: conditions are not looked at, and a directive leads to every file whose
path ends as it says. So whoever is not a dependent here is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

_DIRECTIVE = re.compile(
    rb"^[ \t]*(?:\#|%:|\?\?=)[ \t]*(?:include_next|include|import|embed)\b[ \t]*(?:[<\"]([^>\"\n]*)[>\"])?",
    re.MULTILINE,
)
_ASKED_FOR = re.compile(rb"__has_(?:include|include_next|embed)\b\s*\(\s*[<\"]([^>\"\n]*)")
_GUARD = re.compile(
    rb"""\s*(?:\#[ \t]*pragma[ \t]+once\b
    | \#[ \t]*(?:ifndef[ \t]+|if[ \t]*![ \t]*defined[ \t]*\(?[ \t]*)(?P<name>\w+)[^\n]*
      \s+\#[ \t]*define[ \t]+(?P=name)\b)""",
    re.VERBOSE,
)
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_SOURCES = (".c", ".cc", ".cpp", ".cxx")
_ANY = ""  # the name of what a macro stands for


class Includes:
    """What each file's directives name. Paths are relative to the root."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._named: dict[str, frozenset[str]] = {}
        self._direct: dict[str, set[str]] = {}
        self._closed: dict[str, frozenset[str]] = {}
        self._known: dict[str, set[str]] = {}
        self._certain: dict[str, frozenset[str]] = {}
        self._guarded: set[str] = set()

    @property
    def unguarded(self) -> list[str]:
        """The files that may be included more than once, each time to mean something else."""
        included = set().union(*self._known.values())
        return sorted(path for path in self._named if path in included and path not in self._guarded)

    def learn(self, graph: Mapping[str, Iterable[str]]) -> set[str]:
        """What the index says that files include; where a macro names the header, only that tells.

        The files of which it says something else than before.
        """
        here = f"{self._root}/"
        before = self._known
        self._known = {
            path.removeprefix(here): {each.removeprefix(here) for each in found if each.startswith(here)}
            for path, found in graph.items()
            if path.startswith(here)
        }
        self._direct, self._closed, self._certain = {}, {}, {}
        either = before.keys() | self._known.keys()
        return {path for path in either if before.get(path) != self._known.get(path)}

    def certain(self, path: str) -> frozenset[str]:
        """What a file includes by what the index says, directly or not; and itself."""
        if path not in self._certain:
            self._certain[path] = frozenset(reachable([path], self._known))
        return self._certain[path]

    def after(self, changed: Iterable[str]) -> Includes:
        """A copy that has read these files again."""
        other = Includes(self._root)
        other._named, other._known = dict(self._named), dict(self._known)
        other._guarded = set(self._guarded)
        other.read(changed)
        return other

    def read(self, paths: Iterable[str]) -> None:
        """Read these files, or that they are gone."""
        for path in paths:
            try:
                data = (self._root / path).read_bytes()
            except OSError:
                self._named.pop(path, None)
                continue
            self._named[path] = frozenset(spelled(data))
            self._guarded.discard(path)
            if is_guarded(data):
                self._guarded.add(path)
        self._direct, self._closed = {}, {}

    def dependents(self, changed: Collection[str]) -> set[str]:
        """The files that may include one of `changed`, directly or not; and these themselves.

        Those that are no longer there count too.
        """
        names = self._by_last({*self._named, *changed})
        users: dict[str, set[str]] = defaultdict(set)
        for path in self._named:
            for other in self._leads_to(path, names):
                users[other].add(path)
        return reachable(changed, users)

    def closure(self, path: str) -> frozenset[str]:
        """What a file may include, directly or not; and itself."""
        if not self._direct:
            names = self._by_last(self._named)
            self._direct = {each: self._leads_to(each, names) for each in self._named}
        if path not in self._closed:
            self._closed[path] = frozenset(reachable([path], self._direct))
        return self._closed[path]

    def _by_last(self, paths: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            found[path.rpartition("/")[2]].append(path)
        return found

    def _leads_to(self, path: str, names: Mapping[str, Sequence[str]]) -> set[str]:
        found = set(self._known.get(path, ()))
        for name in self._named[path]:
            if name == _ANY:
                if path not in self._known:
                    found.update(each for every in names.values() for each in every)
                continue
            same = names.get(name.rpartition("/")[2], ())
            # Where no path ends so, a link or an option may lead to any file of that name.
            found.update([each for each in same if f"/{each}".endswith(f"/{name}")] or same)
        return found


def inclusions(data: bytes) -> Iterator[tuple[int, str]]:
    """Where the directives of a text start, and what they name; not those in comments, or by a macro.

    >>> list(inclusions(b'/*\\n#include "a.h"\\n*/\\n#include <b/../c.h>\\n'))
    [(21, 'c.h')]
    """
    blank = _COMMENT.sub(lambda match: re.sub(rb"[^\n]", b" ", match[0]), data)
    for match in _DIRECTIVE.finditer(blank):
        if match[1] is not None:
            yield match.start(), _plain(match[1])


def guard_of(data: bytes) -> bytes:
    """The macro that says that a text counts once; empty when there is none.

    >>> guard_of(b"/* list */\\n#ifndef A_H\\n#define A_H"), guard_of(b"#pragma once")
    (b'A_H', b'')
    """
    match = _GUARD.match(_COMMENT.sub(b"", data))
    return (match["name"] or b"") if match else b""


def is_guarded(data: bytes) -> bool:
    """Whether a text says first that it counts once: `#pragma once`, or a condition around all of it.

    >>> is_guarded(b"/* list */\\n#ifndef A_H\\n#define A_H"), is_guarded(b"OP(LOAD)")
    (True, False)
    """
    return _GUARD.match(_COMMENT.sub(b"", data)) is not None


def lends_macros(source: bytes, included: bytes) -> bool:
    """Whether a text that a source includes may mean something else by what the source defines.

    >>> lends_macros(b"#define OP(x) x,", b"OP(LOAD)"), lends_macros(b"#define Z", b"int one;")
    (True, False)
    """
    names = set(_DEFINED.findall(source))
    return bool(names) and not is_guarded(included) and not names.isdisjoint(_WORD.findall(included))


def includes_sources(file: Path) -> bool:
    """Whether a file includes sources, which are parts of it then."""
    try:
        return any(name.endswith(_SOURCES) for name in spelled(file.read_bytes()))
    except OSError:
        return False


def spelled(data: bytes) -> Iterable[str]:
    """What the directives of a text name, without the steps up; `""` where a macro says it."""
    for match in _DIRECTIVE.finditer(data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")):
        yield _plain(match[1]) if match[1] is not None else _ANY
    for match in _ASKED_FOR.finditer(data):
        yield _plain(match[1])


def may_lead(names: Iterable[str], last_parts: Collection[str]) -> bool:
    """Whether directives that spell these names may lead to a file whose path ends with one of these parts.

    >>> may_lead(["net/url.h"], {"url.h"}), may_lead(["net/url.h"], {"net.h"})
    (True, False)
    """
    return any(name == _ANY or name.rpartition("/")[2] in last_parts for name in names)


def _plain(name: bytes) -> str:
    parts: list[str] = []
    for part in name.decode("utf-8", "replace").replace("\\", "/").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def reachable(start: Iterable[str], edges: Mapping[str, Collection[str]]) -> set[str]:
    """Where edges lead from the start, which is part of it."""
    found = set(start)
    left = list(found)
    while left:
        for path in edges.get(left.pop(), ()):
            if path not in found:
                found.add(path)
                left.append(path)
    return found
