"""Rust source in, the same with macros around items opened: what stands in `cfg_rt! { … }` is read.

A grammar sees the inside of a macro as tokens. Where a macro wraps whole items, its name and braces become
blanks, so that every line and column stays where it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_DEPTH = 3  # macros inside of macros
_MAY_WRAP = re.compile(rb"^[ \t]*\w+!\s*\{", re.M)
_ITEM = re.compile(
    rb"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:(?:async|const|unsafe|extern(?:[ \t]+\"[^\"\n]*\")?)[ \t]+)*"
    rb"(?:fn[ \t]+\w|struct[ \t]+\w|enum[ \t]+\w|trait[ \t]+\w|impl\b|mod[ \t]+\w|type[ \t]+\w)",
    re.M,
)
_AROUND = ("source_file", "declaration_list")


def open_item_macros(data: bytes, parser: Parser) -> bytes:
    """`data` with the macros that wrap items blanked out; as it is when there are none."""
    for _ in range(_DEPTH):
        if not _MAY_WRAP.search(data):
            return data
        bodies = list(_wrapping(parser.parse(data).root_node, data))
        if not bodies:
            return data
        opened = bytearray(data)
        for macro, body in bodies:
            _blank(opened, macro.start_byte, body.start_byte + 1)
            _blank(opened, body.end_byte - 1, macro.end_byte)
        data = bytes(opened)
    return data


def _wrapping(root: Node, data: bytes) -> list[tuple[Node, Node]]:
    """Macro invocations among items, with the braces of those that hold items."""
    wrapping: list[tuple[Node, Node]] = []
    todo = [root]
    while todo:
        for child in todo.pop().named_children:
            node = (
                child.named_children[0]
                if child.type == "expression_statement" and child.named_children
                else child
            )
            if node.type == "macro_invocation":
                body = node.named_children[-1] if node.named_children else None
                if body is not None and body.type == "token_tree" and _holds_items(body, data):
                    wrapping.append((child, body))
            elif child.type in ("mod_item", "impl_item", "trait_item", *_AROUND):
                todo.append(child)
    return wrapping


def _holds_items(body: Node, data: bytes) -> bool:
    text = data[body.start_byte : body.end_byte]
    return text.startswith(b"{") and _ITEM.search(text, 1) is not None


def _blank(data: bytearray, start: int, end: int) -> None:
    for at in range(start, end):
        if data[at] != 0x0A:
            data[at] = 0x20
