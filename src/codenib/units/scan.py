"""Find definitions: bytes and a language in, captured nodes in source order out.

A query's captures say what a node is to us: `@role.kind` with one of the roles below, `@name` (or
`@declarator`, whose innermost part is the name), and `@owner` for a name written outside of its type, as a Go
receiver. `@until` is a neighbour that the definition goes on to, as the body of a Dart function. Two captures
with the same `@name` (or `@body`, where it is given) are one definition.

- `type`     a container: an L1 unit whose members are units of their own
- `scope`    transparent, but its name is part of the symbols inside (namespace, module)
- `def`      an L2 unit; nothing inside is looked at
- `suspect`  a `def` of C, which has no nested functions: one that seems to hold some was misread
- `decl`     an L2 unit only with its comment or over several lines (a method without a body)
- `value`    data over several lines; a container when functions are inside; never inside of a closure
- `wrapper`  a `def` that is transparent when it is only a long shell around functions
- `entry`    a declaration that is never a unit, only a name to ask for: constants, typedefs, enumerators
- `closure`  an anonymous function: transparent around definitions, else an L2 unit of several lines
- `shell`    a closure that is called at once: values inside count as the module's own
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from codenib.units.languages import Language, parser_for
from codenib.units.macros import open_item_macros

if TYPE_CHECKING:
    from tree_sitter import Node

NAME_LIMIT = 160
# Nodes below this depth begin no definition. Matching is quadratic in nesting: 5,000 closures inside of each
# other took 8 s, and code that people write is not a tenth as deep.
_DEEPEST = 1000

_GENERICS = re.compile(r"<[^<>]*>")
_SEPARATORS = re.compile(r"::|->|[:\\]")
# Rust and C++ type prefixes, and the JavaScript objects that stand for the module or the instance.
_PREFIX = re.compile(r"^(?:&|\*|'\w+\s|mut\s|dyn\s|\s)+|^(?:module\.)?exports\.(?=.)|^this\.")
_PROTOTYPE = re.compile(r"\.prototype(?=\.|$)")
_SYMBOLIC = re.compile(r"\(?[^\w\s()\[\]{}\"'`]+\)?")  # an operator that a language lets people define
_OPERATOR = re.compile(r"(?:^|(?<=\W))operator\b.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Capture:
    """One captured node: its bytes, its lines (1-based, inclusive), and what it is."""

    start: int
    end: int
    first: int
    last: int
    column: int
    role: str
    kind: str
    name: str
    identity: int


def scan(data: bytes, language: Language) -> list[Capture]:
    """All captured nodes of `data`, outer before inner; of equal ranges, the earlier pattern first."""
    import tree_sitter

    parser, query = parser_for(language)
    if language.name == "rust":
        data = open_item_macros(data, parser)
    tree = parser.parse(data)
    ranked: list[tuple[int, int, int, Capture]] = []
    cursor = tree_sitter.QueryCursor(query)
    cursor.set_max_start_depth(_DEEPEST)
    for pattern, captures in cursor.matches(tree.root_node):
        capture = _capture(captures, data)
        ranked.append((capture.start, -capture.end, pattern, capture))
    ranked.sort(key=lambda row: row[:3])
    return [row[3] for row in ranked]


def _capture(captures: dict[str, list[Node]], data: bytes) -> Capture:
    key, role, kind = next(filter(None, map(_role, captures)))
    node = captures[key][0]
    label = _label(captures)
    name = clean_name(_text(label)) if label else ""
    if "declarator" in captures and "operator" not in name:
        name = name.rpartition(" ")[2]  # a macro before the return type makes "type Class::name" the name
    if label and "owner" in captures:
        name = f"{clean_name(_text(captures['owner'][0]))}.{name}"
    anchor = captures["body"][0] if "body" in captures else label or node
    until = captures["until"][-1] if "until" in captures else node
    start, end = node.start_byte, until.end_byte
    (first, column), (last, stop) = node.start_point, until.end_point
    if last > first and not data[end - stop : end].strip():  # it ends with a newline, or the next indent
        last -= 1
    return Capture(
        start=start,
        end=end,
        first=first + 1,
        last=last + 1,
        column=column,
        role=role,
        kind=kind,
        name=name,
        identity=anchor.start_byte,
    )


@cache
def _role(capture: str) -> tuple[str, str, str] | None:
    role, dot, kind = capture.partition(".")
    return (capture, role, kind) if dot else None


def _label(captures: dict[str, list[Node]]) -> Node | None:
    if nodes := captures.get("name"):
        return nodes[0]
    if nodes := captures.get("declarator"):
        return _innermost(nodes[0])
    return None


def _innermost(node: Node) -> Node:
    """The name inside of nested C declarators: pointers, references, arrays, functions."""
    while True:
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type.endswith("_declarator"):
            inner = next((child for child in node.named_children if child.type != "comment"), None)
        if inner is None or node.type == "operator_cast":
            return node
        node = inner


def _text(node: Node) -> str:
    return (node.text or b"")[: NAME_LIMIT * 4].decode("utf-8", "replace")


def clean_name(text: str) -> str:
    """A name as symbols spell it: parts joined by dots, no generics, no pointer marks.

    >>> clean_name("Foo<T>::bar"), clean_name("Foo.prototype.baz"), clean_name("exports.run")
    ('Foo.bar', 'Foo.baz', 'run')
    """
    if text.isidentifier():
        return text[:NAME_LIMIT]
    if _SYMBOLIC.fullmatch(text):
        return text.strip("()")[:NAME_LIMIT]
    operator = ""
    if match := _OPERATOR.search(text):
        text, operator = text[: match.start()], " ".join(match.group().partition("(")[0].split())
    count = 1
    while count:
        text, count = _GENERICS.subn("", text)
    text = _PREFIX.sub("", _PROTOTYPE.sub("", _PREFIX.sub("", text)))
    text = _SEPARATORS.sub(".", text.strip().strip("'\"`"))
    return " ".join(f"{text}{operator}".split()).strip(".")[:NAME_LIMIT]
