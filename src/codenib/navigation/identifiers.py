"""A file's bytes in, its identifier tokens out, for questions about names; comments and strings hold none."""

from __future__ import annotations

from codenib.units.languages import grammar_for, parser_for


def identifiers(data: bytes, language: str) -> list[tuple[int, int, str]]:
    """Line (1-based), column (0-based, in code points) and text of each identifier, in order."""
    grammar = grammar_for(data, language)
    if grammar is None:
        return []
    parser, _ = parser_for(grammar)
    cursor = parser.parse(data).walk()
    lines = data.split(b"\n")
    found = []
    while True:
        node = cursor.node
        if node is not None and node.child_count == 0 and "identifier" in node.type and node.text:
            row, column = node.start_point
            before = lines[row][:column].decode("utf-8", "replace")
            found.append((row + 1, len(before), node.text.decode("utf-8", "replace")))
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
