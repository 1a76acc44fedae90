"""A toy engine that satisfies `FactBackend`: `def name` declares, any other word refers to all such names.

Its project has all files but those below `tests/`; it does not read `.pyx`. Of uses on a line with `any.` it
says nothing, as if types were not known there.

Its lines follow the same contract as the real backends', so that storing, joining and asking can be tested
without a language's tools, and against answers that are plain to compute.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.run import empty_line

WORD = re.compile(r"[^\W\d]\w*")
Place = tuple[str, int, int]


def columns(line: str, at: int, encoding: str) -> int:
    """A column in code points in units of `encoding`."""
    codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(line[:at].encode(codec)) // width


def words(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Line, column, word and whether it is declared there."""
    for number, line in enumerate(text.split("\n")):
        declares = False
        for found in WORD.finditer(line):
            if found[0] == "def":
                declares = True
                continue
            yield number, found.start(), found[0], declares
            declares = False


class ToyBackend:
    """Resolves words across all files by name."""

    group = "toy"
    languages = frozenset({"python"})

    def __init__(self, encoding: str = "utf-16", version: str = "1", fails: str = "") -> None:
        self._encoding = encoding
        self._version = version
        self._fails = fails
        self.runs = 0

    def identity(self) -> Mapping[str, str]:
        return {"backend": "toy", "version": self._version}

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        if self._fails:
            raise ProviderError(self._fails, hint="codenib tools install toy")
        self.runs += 1
        texts = {path: (root / path).read_text("utf-8") for path in files if not path.endswith(".pyx")}
        declared: dict[str, list[Place]] = {}
        for path, text in texts.items():
            for line, column, word, declares in words(text):
                if declares:
                    declared.setdefault(word, []).append((path, line, column))
        for path in sorted(texts):
            scope = {"tests": "loose", "far": "partial"}.get(path.partition("/")[0], "project")
            yield json.dumps({**self._line(path, texts, declared), "scope": scope}).encode()
        yield from map(empty_line, sorted(set(files) - texts.keys()))

    def _line(
        self, path: str, texts: Mapping[str, str], declared: Mapping[str, list[Place]]
    ) -> dict[str, Any]:
        def column(place: Place) -> int:
            return columns(texts[place[0]].split("\n")[place[1]], place[2], self._encoding)

        nodes: list[list[Any]] = []
        targets: list[Any] = []
        lists: list[list[int]] = []
        occurrences: list[int] = []
        known: dict[str, int] = {}
        for line, at, word, declares in words(texts[path]):
            if line and path.startswith("far/"):
                continue  # as if an import led nowhere: the first line alone is resolved
            if not declares and "any." in texts[path].split("\n")[line]:
                continue
            begin, end = column((path, line, at)), column((path, line, at + len(word)))
            if word not in known:
                places = declared.get(word, [])
                first = len(targets)
                targets += [[p[0], p[1], column(p)] for p in places] or [f"unknown.{word}"]
                known[word] = len(lists)
                lists.append(list(range(first, len(targets))))
            if declares:
                whole = column((path, line, len(texts[path].split("\n")[line])))
                nodes.append([word, "function", -1, line, 0, line, whole, line, begin, end, 0])
            occurrences += [line, begin, line, end, int(declares), known[word], known[word], -1]
        return {
            "path": path,
            "encoding": self._encoding,
            "nodes": nodes,
            "targets": targets,
            "lists": lists,
            "occurrences": occurrences,
            "relations": [],
        }


def expected(texts: Mapping[str, str], word: str) -> tuple[set[Place], set[Place]]:
    """Declarations and places of a word (lines 1-based), as the toy engine means them."""
    every = {
        (path, line + 1, column): declares
        for path, text in texts.items()
        for line, column, found, declares in words(text)
        if found == word
    }
    return {place for place, declares in every.items() if declares}, set(every)
