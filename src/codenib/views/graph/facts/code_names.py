"""The text of a file in, the names in its code out, with their places; comments and strings hold none.

A graph keeps those of which its engine says nothing, so that an answer can tell "no use" from "not known"
without reading a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from codenib.core.text.c_tokens import names_in
from codenib.units.languages import NOTEBOOK_SUFFIX, Language, grammar_for, language_hint, parser_for
from codenib.views.graph.facts.code_points import to_code_points
from codenib.views.graph.facts.rows import CODE_NAME, Rows

if TYPE_CHECKING:
    from tree_sitter import Query

#: What follows a name that is called: also macros, generics, tagged templates.
CALL = r"(?=\s*(?:\(|!\s*[(\[{]|::<|<[\w\s,:&\[\]]*>\s*\(|`))"
#: How a line begins that imports.
IMPORT = r"[ \t]*(?:from|import|use|pub use|export\b.*\bfrom|#[ \t]*include|require|const\b.*\brequire)\b"
_CALL = re.compile(CALL.encode())
_IMPORT = re.compile(IMPORT.encode())
_DECORATORS = re.compile(rb"@[ \t]*(?:[\w$\x80-\xff]+\.)*[\w$\x80-\xff]+")
_OF_C = frozenset({"c", "cpp"})


class Use(IntEnum):
    """How a name is used, as its line tells."""

    REFERENCE = 0
    CALL = 1
    IMPORT = 2

    @property
    def label(self) -> str:
        return self.name.lower()


def code_names(path: str, data: bytes) -> tuple[list[str], Rows]:
    """The names in the code of a file, each once, and their places in order: lines from 0, code points.

    Of a notebook, `data` is the code that engines read.
    """
    language = "python" if path.endswith(NOTEBOOK_SUFFIX) else language_hint(path)
    spans = _spans_of_c(data) if language in _OF_C else _spans(data, language)
    names, places = _placed(data, spans)
    places["use"] = list(_uses(data, spans, _imported(data, places)))
    return names, places


def identifiers(data: bytes, language: str) -> list[tuple[int, int, str]]:
    """Line (1-based), column (0-based, in code points) and text of each identifier of a grammar, in order."""
    names, places = _placed(data, _spans(data, language))
    return [(line + 1, column, names[name]) for name, line, column, _ in places.tolist()]


def _placed(data: bytes, spans: Sequence[tuple[int, int]]) -> tuple[list[str], Rows]:
    """The names at some spans of bytes, each once, and where they stand."""
    places = np.zeros(len(spans), CODE_NAME)
    numbers: dict[bytes, int] = {}
    places["name"] = [numbers.setdefault(data[begin:end], len(numbers)) for begin, end in spans]
    begins = np.array([begin for begin, _ in spans], np.int64)
    starts = np.concatenate([[0], np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1])
    places["line"] = np.searchsorted(starts, begins, side="right") - 1
    places["column"] = begins - starts[places["line"]]
    to_code_points(data, "utf-8", (places, (("line", "column"),)))
    return [name.decode("utf-8", "replace") for name in numbers], places


def _spans(data: bytes, language: str) -> list[tuple[int, int]]:
    """Where each identifier begins and ends, in bytes and in order; none without a grammar."""
    import tree_sitter

    grammar = grammar_for(data, language)
    if grammar is None:
        return []
    parser, _ = parser_for(grammar)
    found = tree_sitter.QueryCursor(_identifiers_of(grammar)).captures(parser.parse(data).root_node)
    return sorted(
        (node.start_byte, node.end_byte)
        for nodes in found.values()
        for node in nodes
        if node.child_count == 0 and node.end_byte > node.start_byte
    )


@cache
def _identifiers_of(grammar: Language) -> Query:
    """Finds every kind of identifier that a grammar has; a qualified one has others inside."""
    import tree_sitter

    parser, _ = parser_for(grammar)
    tongue = parser.language
    assert tongue is not None
    kinds = {
        tongue.node_kind_for_id(kind) or ""
        for kind in range(tongue.node_kind_count)
        if tongue.node_kind_is_named(kind) and tongue.node_kind_is_visible(kind)
    }
    wanted = sorted(kind for kind in kinds if "identifier" in kind)
    return tree_sitter.Query(tongue, " ".join(f"({kind}) @name" for kind in wanted))


def _spans_of_c(data: bytes) -> list[tuple[int, int]]:
    """By tokens: the bodies of macros are code too, and a grammar stumbles over many macros."""
    text = data.decode("utf-8", "replace")
    spans = names_in(text)
    if data.isascii():
        return list(spans)
    if text.encode() != data:  # bytes that are no UTF-8: one for each, so that offsets stay those of the data
        return list(names_in(data.decode("latin-1")))
    widths = np.fromiter((len(char.encode()) for char in text), np.int64, len(text))
    at = np.concatenate([[0], np.cumsum(widths)])
    return [(int(at[begin]), int(at[end])) for begin, end in spans]


def _uses(data: bytes, spans: Sequence[tuple[int, int]], imported: Sequence[bool]) -> Iterator[int]:
    decorators = {match.end() for match in _DECORATORS.finditer(data)} if b"@" in data else set()
    for (_, end), is_import in zip(spans, imported, strict=True):
        if is_import:
            yield Use.IMPORT
        elif end in decorators or _CALL.match(data, end):
            yield Use.CALL
        else:
            yield Use.REFERENCE


def _imported(data: bytes, places: Rows) -> list[bool]:
    """Whether each place is on a line that imports."""
    lines = {number for number, line in enumerate(data.split(b"\n")) if _IMPORT.match(line)}
    return [line in lines for line in places["line"].tolist()]
