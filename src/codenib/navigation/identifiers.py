"""A file's bytes in, its identifier tokens out, for questions about names; comments and strings hold none."""

from __future__ import annotations

from collections.abc import Collection

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


def identifiers_at(data: bytes, language: str, places: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """The lines (1-based) and columns (0-based, in code points) of some places where an identifier begins.

    Much quicker than all identifiers of the file where there are few places.
    """
    grammar = grammar_for(data, language)
    if grammar is None or not places:
        return set()
    parser, _ = parser_for(grammar)
    root = parser.parse(data).root_node
    lines = data.split(b"\n")
    found = set()
    for line, at in places:
        if not 1 <= line <= len(lines):
            continue
        text = lines[line - 1]
        column = at if text.isascii() else len(text.decode("utf-8", "replace")[:at].encode())
        node = root.descendant_for_point_range((line - 1, column), (line - 1, column + 1))
        begins = node is not None and node.start_point == (line - 1, column)
        if node is not None and begins and node.child_count == 0 and "identifier" in node.type:
            found.add((line, at))
    return found
