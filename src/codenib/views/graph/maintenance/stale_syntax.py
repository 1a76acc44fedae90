"""Texts of a file in; whether an edit broke its syntax, and its last readable facts at today's lines, out.

While a file does not parse, engines go on reading its last readable text, so that one unfinished line costs
no other file its facts. What stands on lines that are still there is served at their new places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from codenib.units.languages import grammar_for, language_hint, parser_for
from codenib.views.graph.facts.canonical import unknown_of
from codenib.views.graph.facts.code_names import code_names
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.facts.rows import Ints
from codenib.views.graph.maintenance.text_edit import TextEdit

# Their grammars read all but rare code. C and C++ are not among them: macros look like errors.
_SURE = frozenset({"python", "go", "rust", "typescript", "tsx", "javascript", "java"})
_NODE_LINES = ("line", "end_line", "name_line")


@dataclass(frozen=True)
class StaleSyntax:
    """A file that does not parse: the digest of its last readable text, and where that text's lines are."""

    digest: str
    line_map: Ints  # -1: gone
    last: int  # the last line of the text as it is
    text: bytes  # as it is

    @classmethod
    def of(cls, digest: str, readable: bytes, now: bytes) -> StaleSyntax:
        """Find the lines of the readable text in the text as it is."""
        edit = TextEdit(readable, now)
        return cls(digest, edit.line_map, len(edit.new) - 1, now)


def can_go_stale(path: str, readable: bytes, now: bytes) -> bool:
    """Whether a file no longer parses, and its grammar is sure enough to say so."""
    return language_hint(path) in _SURE and breaks_syntax(path, readable, now)


def breaks_syntax(path: str, before: bytes, after: bytes) -> bool:
    """Whether the new text has more unreadable places; grammars stumble over some good code too."""
    errors = _errors(path, after)
    return errors > 0 and errors > _errors(path, before)


def rebased(facts: FileFacts, stale: StaleSyntax) -> FileFacts:
    """The facts at the new lines; what stood on lines that are gone is left out, but for declarations.

    Names on lines that are new have no meaning yet.
    """
    size = len(stale.line_map)
    rows = facts.occurrences
    rows = rows[(rows["line"] < size) & (rows["end_line"] < size)]
    rows["line"], rows["end_line"] = stale.line_map[rows["line"]], stale.line_map[rows["end_line"]]
    nodes = facts.nodes.copy()
    nearest = np.clip(np.maximum.accumulate(stale.line_map), 0, stale.last)
    for column in _NODE_LINES:
        nodes[column] = nearest[np.minimum(nodes[column], size - 1)]
    rows = rows[(rows["line"] >= 0) & (rows["end_line"] >= 0)]
    names, unknown = unknown_of(*code_names(facts.path, stale.text), rows)
    return replace(facts, nodes=nodes, occurrences=rows, unknown_names=names, unknown=unknown)


def describe(paths: Sequence[str]) -> str:
    """What to tell the user of files that do not parse; empty when there are none."""
    if not paths:
        return ""
    named = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    verb = "does" if len(paths) == 1 else "do"
    return f"{named} {verb} not parse now: the facts are of the last readable text"


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
