"""A file's outline and the places in it that others refer to in; the nodes of its facts out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codenib.core.facts import NodeFlag, WireNode
from codenib.core.text.c_tokens import TokenKind
from codenib.navigation.cpp.clangd.answers import FileAnswers, TokenAnswer

LOCAL = 1

# Clang's numbers of symbol kinds (as its index stores them), and LSP's (as the outline has them).
OF_INDEX = {
    2: "namespace", 3: "namespace", 4: "import", 5: "macro", 6: "enum", 7: "struct", 8: "class", 11: "struct",
    12: "type_alias", 13: "function", 14: "variable", 15: "field", 16: "enum_member", 17: "method",
    18: "method", 19: "method", 20: "property", 21: "property", 22: "field", 23: "method", 24: "method",
    25: "method", 26: "parameter", 27: "import", 28: "type_parameter", 29: "type_parameter",
    30: "type_parameter", 31: "type_alias",
}  # fmt: skip
_OF_OUTLINE = {
    3: "namespace", 5: "class", 6: "method", 7: "property", 8: "field", 9: "method", 10: "enum",
    11: "interface", 12: "function", 13: "variable", 14: "constant", 15: "macro", 22: "enum_member",
    23: "struct", 25: "method", 26: "type_parameter",
}  # fmt: skip
_OF_STYLE = {
    "parameter": "parameter", "function": "function", "method": "method", "property": "field",
    "class": "class", "interface": "interface", "enum": "enum", "enumMember": "enum_member",
    "type": "type_alias", "typeParameter": "type_parameter", "concept": "type_alias",
    "namespace": "namespace", "macro": "macro", "label": "label",
}  # fmt: skip
_CALLABLE = ("function", "method")

Range = tuple[int, int, int, int]
Start = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TargetedPlace:
    """A place that some facts refer to: the end of the name there, and what the index knows of it."""

    end_column: int
    kind: str  # "" where only the file itself knows
    name: str


@dataclass(frozen=True, slots=True)
class _Declaration:
    name: str
    kind: str
    range: Range
    start: Start
    end_column: int
    local: bool


def nodes_of(file: FileAnswers, targeted: Mapping[Start, TargetedPlace]) -> list[WireNode]:
    """The nodes in source order, parents first; each targeted place is the name of one."""
    tokens = {(asked.token.line, asked.token.column): asked for asked in file.asked}
    found = {node.start: node for node in _outlined(file, targeted, tokens)}
    for start, place in targeted.items():
        if start not in found:
            found[start] = _extra(start, place, tokens.get(start))
    order = sorted(found.values(), key=lambda node: (node.range[:2], _minus(node.range[2:]), node.start))
    rows: list[WireNode] = []
    open_nodes: list[int] = []
    for at, node in enumerate(order):
        while open_nodes and order[open_nodes[-1]].range[2:] < node.range[2:]:
            open_nodes.pop()
        parent = open_nodes[-1] if open_nodes else -1
        around = order[parent].kind if parent >= 0 else ""
        local = node.local and (around in _CALLABLE or node.kind in ("parameter", "label"))
        rows.append(_row(node, parent, local))
        open_nodes.append(at)
    return rows


def _row(node: _Declaration, parent: int, local: bool) -> WireNode:
    line, column, end_line, end_column = node.range
    name_line, name_column = node.start
    return WireNode(
        name=node.name,
        kind=node.kind,
        parent=parent,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        name_line=name_line,
        name_column=name_column,
        name_end_column=node.end_column,
        flags=int(NodeFlag.LOCAL if local else NodeFlag.NONE),
    )


def _minus(end: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-part for part in end)


def _outlined(
    file: FileAnswers, targeted: Mapping[Start, TargetedPlace], tokens: Mapping[Start, TokenAnswer]
) -> Iterator[_Declaration]:
    # Reversed, so that of several declarations with one name token (made by a macro) the outermost stays.
    for item in reversed(file.outline):
        line, column, end_line, end_column = item.name_range
        asked = tokens.get((line, column))
        known = targeted.get((line, column))
        kind = (known.kind if known else "") or _OF_OUTLINE.get(item.kind, "variable")
        named = asked is not None and asked.token.kind is TokenKind.NAME
        name = asked.token.text if asked is not None and named else item.name
        if end_line != line or (asked is not None and named):
            end_column = asked.token.end_column if asked is not None else column
        yield _Declaration(
            name=name, kind=kind, range=item.range, start=(line, column), end_column=end_column, local=False
        )


def _extra(start: Start, place: TargetedPlace, asked: TokenAnswer | None) -> _Declaration:
    line, column = start
    kind = place.kind or (_OF_STYLE.get(asked.style, "variable") if asked else "variable")
    end = place.end_column
    name = place.name
    if asked is not None and asked.token.kind is TokenKind.NAME:
        name, end = asked.token.text, asked.token.end_column
    return _Declaration(
        name=name or "?",
        kind=kind,
        range=(line, column, line, end),
        start=start,
        end_column=end,
        local=not place.kind,
    )
