"""Decide which definitions are units: captured nodes in, containers and leaf definitions out."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from codenib.units.languages import Language
from codenib.units.scan import NAME_LIMIT, Capture

# A function that holds functions and is longer than this is a shell around them (a UMD or Grunt module).
WRAPPER_LINES = 60
PIECE_LINES = 300  # the paper's cap on a piece of a unit
CALLBACK_LINES = 3
# Macros that look like functions (a foreach with a block) nest too, but few in one function.
MISREAD_LINES = 100
MISREAD_FUNCTIONS = 4
ATTRIBUTE_LINES = 15
COMMENT_LINES = 400
_FILE_COMMENTS = (b"#!", b"//!")  # about the file or the enclosing module
_ANONYMOUS = ("closure", "shell")
_CONTAINER_KINDS = {"value": "object", "suspect": "class"}
_UNNAMED = (*_ANONYMOUS, "wrapper")
_NESTED = ("def", "type", "wrapper", "entry")  # what has a name of its own inside a callable
_OF_ONE_LINE = ("decl", "value", "entry")
_TEST_KIND = "test"
_DOCUMENTS = (b"@doc", b"@typedoc")
_IMPORTED = re.compile(rb"require\(|@import\(")  # a name for another module, not a declaration


@dataclass(frozen=True, slots=True)
class Definition:
    """A unit to be: lines (1-based, inclusive), kind and full symbol."""

    first: int
    last: int
    kind: str
    symbol: str


@dataclass(slots=True)
class Outline:
    """Containers, outer before inner, and leaf definitions; all in source order.

    `nested` are declarations that are no unit of their own: they stand inside of a leaf, or on one line.
    `tests` are lines (first, last) that only tests run.
    """

    containers: list[Definition] = field(default_factory=list)
    leaves: list[Definition] = field(default_factory=list)
    nested: list[Definition] = field(default_factory=list)
    tests: list[tuple[int, int]] = field(default_factory=list)

    def add_leaf(self, leaf: Definition, *, clauses: bool) -> None:
        """Add a leaf; with `clauses`, one with the name of the leaf above, in its scope, goes on with it."""
        above_it = self.leaves[-1] if clauses and self.leaves else None
        if above_it and (above_it.kind, above_it.symbol) == (leaf.kind, leaf.symbol):
            begun = self.containers[-1].first if self.containers else 0
            if begun <= above_it.last:
                self.leaves.pop()
                leaf = Definition(above_it.first, leaf.last, leaf.kind, leaf.symbol)
        self.leaves.append(leaf)


@dataclass(frozen=True, slots=True)
class _Scope:
    end: int
    prefix: str
    is_type: bool
    bars_values: bool


def outline(items: Sequence[Capture], lines: Sequence[bytes], language: Language) -> Outline:
    """Only outermost callables are units: what stands inside of one is part of it."""
    result = Outline(tests=list(_test_lines(items, lines, language)))
    stack: list[_Scope] = []
    blocked = 0
    enclosing: Capture | None = None  # of the last leaf
    outlined: set[tuple[bool, int]] = set()
    nested = _Nested(result.nested)
    scopes = _Scopes(items)
    for index, item in enumerate(items):
        if item.start < blocked:
            if not (enclosing and _escapes(item, enclosing)):
                if item.role in _NESTED and enclosing and item.identity != enclosing.identity:
                    around = result.leaves[-1].symbol
                    nested.add(item, around.rpartition(".")[0] if item.role == "entry" else around)
                continue
            result.leaves[-1] = _shortened(result.leaves[-1], above(item, lines, language) - 1)
        while stack and stack[-1].end <= item.start:
            stack.pop()
        identity = (item.role in _ANONYMOUS, item.identity)
        if identity in outlined:  # the same definition, captured again without its decorator or export
            continue
        scope = stack[-1] if stack else _Scope(0, "", False, False)
        first = above(item, lines, language)
        verdict = _verdict(items, index, item.last - first + 1, scope, scopes)
        if verdict == "drop":
            if (
                item.role in _OF_ONE_LINE
                and not scope.bars_values
                and not _IMPORTED.search(lines[item.first - 1])
            ):
                nested.add(item, scope.prefix)
            continue
        if result.leaves and first <= result.leaves[-1].last < item.first:
            # Scala's grammar ends a method after the comment of the next one.
            result.leaves[-1] = _shortened(result.leaves[-1], first - 1)
        outlined.add(identity)
        symbol = _join(scope.prefix, item.name)
        if verdict == "leaf":
            kind = "method" if item.kind == "function" and scope.is_type else item.kind
            result.add_leaf(Definition(first, item.last, kind, symbol), clauses=language.clauses)
            blocked, enclosing = item.end, item
            continue
        if verdict == "container":
            kind = _CONTAINER_KINDS.get(item.role, item.kind)
            result.containers.append(Definition(first, item.last, kind, symbol))
        bars = scope.bars_values or item.role == "closure"
        named = item.role not in _UNNAMED
        stack.append(
            _Scope(item.end, symbol if named else scope.prefix, verdict == "container" or scope.is_type, bars)
        )
    return result


def _verdict(items: Sequence[Capture], index: int, height: int, scope: _Scope, scopes: _Scopes) -> str:
    """One of leaf, container, scope (transparent) and drop."""
    item = items[index]
    match item.role:
        case "type":
            return "container"
        case "scope":
            return "scope"
        case "decl" | "entry":
            return "leaf" if height > 1 and item.role == "decl" else "drop"
        case "def" if height > PIECE_LINES and _holds(items, index):
            return "container"  # too long for one unit, and made of functions
        case "value" if scope.bars_values:
            return "drop"
        case "value":
            if _holds(items, index):
                return "container"
            return "leaf" if item.last > item.first else "drop"
        case "wrapper":
            long = item.last - item.first >= WRAPPER_LINES
            return "scope" if long and scopes.any_inside(index) else "leaf"
        case "suspect":
            return "container" if _is_misread(items, index) else "leaf"
        case "closure" | "shell":
            if scopes.any_inside(index) or _gathers(items, index):
                return "scope"
            return "leaf" if item.last - item.first + 1 >= CALLBACK_LINES else "drop"
    return "leaf"


def _test_lines(
    items: Sequence[Capture], lines: Sequence[bytes], language: Language
) -> Iterator[tuple[int, int]]:
    """First and last line of each test: by its kind, or by an attribute of it or of the whole file."""
    if language.tests is None:
        yield from ((item.first, item.last) for item in items if item.kind == _TEST_KIND)
        return
    if any(map(language.tests.match, _inner_attributes(lines))):
        yield 1, len(lines)
    for item in items:
        first = above(item, lines, language)
        attributes = [*lines[first - 1 : item.first - 1], lines[item.first - 1][: item.column]]
        if language.tests.search(b"\n".join(attributes)):
            yield first, item.last


def _inner_attributes(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Attributes of the whole file: they come before its first item."""
    for line in map(bytes.strip, lines):
        if line.startswith(b"#!["):
            yield line
        elif line and not line.startswith((b"//", b"/*", b"*", b"#!")):
            return


class _Scopes:
    """Types and functions of several lines, to be found inside of others without looking at all between."""

    def __init__(self, items: Sequence[Capture]) -> None:
        self._items = items
        self._at = [at for at, item in enumerate(items) if _is_scope(item)]

    def any_inside(self, index: int) -> bool:
        """Whether one stands inside of an item, also inside of its closures."""
        item = self._items[index]
        for at in islice(self._at, bisect_right(self._at, index), None):
            inner = self._items[at]
            if inner.start >= item.end:
                return False
            if inner.identity != item.identity:
                return True
        return False


def _is_scope(item: Capture) -> bool:
    return item.role in ("def", "type", "wrapper") and item.last > item.first


def _holds(items: Sequence[Capture], index: int) -> bool:
    """Whether a type or a function of several lines stands inside, not counting what closures hold."""
    item = items[index]
    position = index + 1
    while position < len(items) and items[position].start < item.end:
        inner = items[position]
        position += 1
        if inner.identity == item.identity:
            continue
        if inner.role == "closure":
            position = _after(items, position, inner.end)
        elif _is_scope(inner):
            return True
    return False


def _gathers(items: Sequence[Capture], index: int) -> bool:
    """Whether a long closure is a list of smaller ones, as a test suite is."""
    item = items[index]
    if item.last - item.first < WRAPPER_LINES:
        return False
    position, count = index + 1, 0
    while position < len(items) and items[position].start < item.end and count < 2:
        inner = items[position]
        position += 1
        if inner.role != "closure" or inner.identity == item.identity:
            continue
        if inner.last - inner.first + 1 >= CALLBACK_LINES:
            count += 1
        position = _after(items, position, inner.end)
    return count > 1


def _after(items: Sequence[Capture], position: int, end: int) -> int:
    """The first item from `position` on that begins at `end` or later."""
    return bisect_left(items, end, position, key=lambda item: item.start)


class _Nested:
    """Collects named declarations, each once."""

    def __init__(self, definitions: list[Definition]) -> None:
        self._definitions = definitions
        self._known: set[int] = set()

    def add(self, item: Capture, prefix: str) -> None:
        if item.name and item.identity not in self._known:
            self._known.add(item.identity)
            self._definitions.append(Definition(item.first, item.last, item.kind, _join(prefix, item.name)))


def _join(prefix: str, name: str) -> str:
    symbol = f"{prefix}.{name}" if prefix and name else prefix or name
    return symbol[: NAME_LIMIT * 2]


def _escapes(item: Capture, enclosing: Capture) -> bool:
    """Whether a C function seems to stand inside of another only because an `#ifdef` split its braces."""
    if item.role != "suspect" or enclosing.role != "suspect" or item.identity == enclosing.identity:
        return False
    return item.column <= enclosing.column and item.first > enclosing.first


def _shortened(leaf: Definition, last: int) -> Definition:
    return Definition(leaf.first, max(leaf.first, last), leaf.kind, leaf.symbol)


def _is_misread(items: Sequence[Capture], index: int) -> bool:
    """Whether a long C function holds so many others that it must be a class."""
    item = items[index]
    if item.last - item.first < MISREAD_LINES:
        return False
    names: set[str] = set()
    position = index + 1
    while position < len(items) and items[position].start < item.end and len(names) < MISREAD_FUNCTIONS:
        inner = items[position]
        position += 1
        if inner.role == "suspect" and inner.identity != item.identity:
            if inner.column <= item.column:
                return False
            names.add(inner.name)
    return len(names) >= MISREAD_FUNCTIONS


def above(item: Capture, lines: Sequence[bytes], language: Language) -> int:
    """The first line of what documents or decorates `item`: contiguous lines above, none blank."""
    first = item.first
    if lines[first - 1][: item.column].strip():
        return first
    prefixes = (*language.comments, *language.attributes)
    while first > 1:
        line = lines[first - 2].strip()
        if line.startswith(prefixes) and not line.startswith(_FILE_COMMENTS):
            first -= 1
            continue
        opening = -1
        if language.block_comments and line.endswith(b"*/"):
            opening = _opening(lines, first - 2, (b"/*",), COMMENT_LINES)
        elif language.attributes and line.endswith(b"]"):
            opening = _opening(lines, first - 2, language.attributes, ATTRIBUTE_LINES)
        elif language.attributes and line == b'"""':
            opening = _heredoc(lines, first - 3)
        elif not line and first == item.first and language.block_comments:
            opening = _detached(lines, first - 3)
        if opening < 0:
            break
        first = opening + 1
    return first


def _detached(lines: Sequence[bytes], position: int) -> int:
    """Where a `/** ... */` above one blank line starts, unless it heads the file; -1 for none."""
    if position < 1 or not lines[position].strip().endswith(b"*/"):
        return -1
    opening = _opening(lines, position, (b"/*",), COMMENT_LINES)
    return opening if opening > 0 and lines[opening].strip().startswith(b"/**") else -1


def _heredoc(lines: Sequence[bytes], position: int) -> int:
    """Where an Elixir function's `@doc \"\"\"` starts that ends below `position`; -1 for other texts."""
    for index in range(position, max(position - COMMENT_LINES, -1), -1):
        if b'"""' in lines[index]:
            return index if lines[index].strip().startswith(_DOCUMENTS) else -1
    return -1


def _opening(lines: Sequence[bytes], position: int, openers: tuple[bytes, ...], limit: int) -> int:
    """The index of the line that starts with an opener, at most `limit` lines up; -1 if code comes first."""
    for index in range(position, max(position - limit, -1), -1):
        line = lines[index].strip()
        if line.startswith(openers):
            return index
        if any(opener in line for opener in openers):  # a comment that ends a line of code
            return -1
    return -1
