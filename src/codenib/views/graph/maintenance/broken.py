"""Texts of a file in: whether an edit broke its syntax, and its last readable facts at today's lines out.

Engines go on reading that text, so that one unfinished line takes nothing from anybody. What stands on lines
that are still there is served at their new places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codenib.units.languages import grammar_for, language_hint, parser_for
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.maintenance.classify import Edit

# Their grammars read all but rare code. C and C++ are not among them: macros look like errors.
_SURE = frozenset({"python", "go", "rust", "typescript", "tsx", "javascript"})
_NODE_LINES = ("line", "end_line", "name_line")


@dataclass(frozen=True)
class Readable:
    """The last readable text of a file that does not parse: its digest, and where its lines are now."""

    digest: str
    line_map: NDArray[np.int32]  # -1: gone
    last: int  # the last line of the text as it is


def held(path: str, digest: str, good: bytes, now: bytes) -> Readable | None:
    """How a file is held at its last readable text; None when it parses as well as that."""
    if language_hint(path) not in _SURE or not breaks_syntax(path, good, now):
        return None
    return moved(digest, good, now)


def moved(digest: str, good: bytes, now: bytes) -> Readable:
    """Where the lines of the readable text are in the text as it is."""
    edit = Edit(good, now)
    return Readable(digest, edit.line_map, len(edit.new) - 1)


def breaks_syntax(path: str, before: bytes, after: bytes) -> bool:
    """Whether the new text has more unreadable places; grammars stumble over some good code too."""
    return _errors(path, after) > _errors(path, before)


def rebased(facts: FileFacts, by: Readable) -> FileFacts:
    """The facts at the new lines; what stood on lines that are gone is left out, but for declarations."""
    size = len(by.line_map)
    rows = facts.occurrences
    rows = rows[(rows["line"] < size) & (rows["end_line"] < size)]
    rows["line"], rows["end_line"] = by.line_map[rows["line"]], by.line_map[rows["end_line"]]
    nodes = facts.nodes.copy()
    nearest = np.clip(np.maximum.accumulate(by.line_map), 0, by.last)
    for column in _NODE_LINES:
        nodes[column] = nearest[np.minimum(nodes[column], size - 1)]
    return replace(facts, nodes=nodes, occurrences=rows[(rows["line"] >= 0) & (rows["end_line"] >= 0)])


def describe(paths: Sequence[str]) -> str:
    """What to say of files that are held."""
    if not paths:
        return ""
    shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    verb = "does" if len(paths) == 1 else "do"
    return f"{shown} {verb} not parse now: the facts are of the last readable text"


def _errors(path: str, data: bytes) -> int:
    language = grammar_for(data, language_hint(path))
    if language is None:
        return 0
    parser, _ = parser_for(language)
    left = [parser.parse(data).root_node]
    count = 0
    while left:
        node = left.pop()
        count += node.is_error or node.is_missing
        if node.has_error:
            left += node.children
    return count
