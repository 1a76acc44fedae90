"""Files of any language in, lines of facts out without any tool: containment, imports and equal names.

Nothing is resolved but an import whose path is certain. A token whose text is the name of a declaration
anywhere in the repository is an occurrence of that *name* (`name:load`) and has no definition.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from codenib.core.facts import Role, WireFacts, WireNode
from codenib.core.protocols import Progress
from codenib.navigation.syntactic.imports import QUERIES, Imports
from codenib.navigation.targets import TargetTable
from codenib.units.extract import MAX_BYTES, MINIFIED_AVERAGE, MINIFIED_BYTES, NUMBERS_BYTES, NUMBERS_SHARE
from codenib.units.languages import (
    LANGUAGES,
    Language,
    grammar_for,
    language_hint,
    language_of,
    parser_for,
    units_version,
)
from codenib.units.scan import Capture, scan

if TYPE_CHECKING:
    from tree_sitter import Query

VERSION = "2"
STAGE = "facts by syntax"
_EVERY = 50  # files between two reports
_KINDS = {
    "function": "function", "callback": "function", "method": "method", "constructor": "method",
    "destructor": "method", "initializer": "method", "operator": "method", "subscript": "method",
    "indexer": "method", "prototype": "function", "class": "class", "object": "class", "record": "class",
    "extension": "class", "impl": "class", "annotation": "interface", "struct": "struct", "union": "struct",
    "enum": "enum", "interface": "interface", "protocol": "interface", "trait": "trait", "type": "type_alias",
    "concept": "type_alias", "delegate": "type_alias", "namespace": "namespace", "module": "module",
    "const": "constant", "static": "variable", "var": "variable", "val": "variable", "variable": "variable",
    "given": "variable", "table": "variable", "field": "field", "property": "property", "event": "property",
    "macro": "macro", "data": "struct", "newtype": "struct", "opaque": "struct", "instance": "class",
    "mixin": "class", "getter": "property", "setter": "property", "view": "variable", "resource": "variable",
    "output": "variable", "trigger": "function",
}  # fmt: skip
_TYPES = frozenset({"class", "struct", "interface", "trait", "enum"})
_UNNAMED = frozenset({"closure", "shell"})
_IDENTIFIER = rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*"
_WITH_DOLLAR = rb"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*"
_TOKENS = {
    **dict.fromkeys(("javascript", "typescript", "tsx", "java", "scala"), re.compile(_WITH_DOLLAR)),
    "ruby": re.compile(_IDENTIFIER + rb"[?!]?"),
}
_PLAIN = re.compile(_IDENTIFIER)
_Row = tuple[int, int, int]  # roles, definitions, keys
_NO_ROW: _Row = (0, -1, -1)
_IMPORTED = int(Role.IMPORT | Role.INEXACT)
_OF_NUMBERS = b"0123456789abcdefABCDEFxXuUlL+-.,; \t\r\n"


@dataclass(frozen=True, slots=True)
class _Declaration:
    """A declaration: its row, and the bytes of its name."""

    row: WireNode
    name: bytes
    at: int  # offset of the name; -1 when it is not written as such


@dataclass(frozen=True, slots=True)
class _Parsed:
    """What one file says by itself; `code` is its bytes with comments and strings blanked."""

    path: str
    language: str
    starts: list[int]
    code: bytes
    declarations: tuple[_Declaration, ...] = ()
    modules: tuple[tuple[int, int, str, str], ...] = ()  # begin, end, text, statement
    statements: tuple[tuple[int, int], ...] = ()


class SyntacticBackend:
    """The graph of files that no semantic backend covers."""

    group = "syntactic"
    languages = frozenset(language.name for language in LANGUAGES)

    def identity(self) -> Mapping[str, str]:
        """Our own version and that of the grammars."""
        return {"backend": "syntactic", "version": VERSION, "options": units_version().replace(" ", ",")}

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool = False
    ) -> Iterator[bytes]:
        """The line of each file; a file that is not to be parsed has an empty one."""
        parsed: list[_Parsed] = []
        for done, path in enumerate(sorted(files)):
            parsed.append(_parse(path, (root / path).read_bytes()))
            if done % _EVERY == 0:
                progress(STAGE, done, len(files))
        names = frozenset(node.name for file in parsed for node in file.declarations if node.name)
        imports = Imports(files)
        for file in parsed:
            yield msgspec.json.encode(_facts(file, names, imports))
        progress(STAGE, len(files), len(files))


@dataclass(frozen=True, slots=True)
class CodeAndImports:
    """A file's text with comments and strings blanked, and its imports: line, and the file that is meant.

    An import that means no certain file of the repository has its module's text and no file.
    """

    code: str
    imports: tuple[tuple[int, str, str | None], ...]


def read_code(path: str, text: str, imports: Imports) -> CodeAndImports:
    """What one file says by itself, without what it declares; the whole text where there is no grammar."""
    data = text.encode()
    parsed = _parse(path, data, declarations=False)
    if not parsed.code:
        return CodeAndImports(text, ())
    meant = []
    for begin, _, module, statement in sorted(parsed.modules):
        line = bisect_right(parsed.starts, begin)
        meant.append((line, module, imports.resolve(path, parsed.language, module, statement)))
    return CodeAndImports(_as_text(data, parsed.code), tuple(meant))


def _as_text(data: bytes, code: bytes) -> str:
    """Blanked bytes as text with the lines and columns of the original."""
    original, blanked = np.frombuffer(data, np.uint8), np.frombuffer(code, np.uint8).copy()
    blanked[original == ord("\n")] = ord("\n")
    within_character = (original & 0xC0 == 0x80) & (blanked == ord(" "))
    return bytes(blanked[~within_character]).decode("utf-8", "replace")


def _parse(path: str, data: bytes, *, declarations: bool = True) -> _Parsed:
    language = language_of(data, language_hint(path))
    grammar = grammar_for(data, language)
    if grammar is None or _is_unfit(data):
        return _Parsed(path, language, [0], b"")
    import tree_sitter

    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    parser, _ = parser_for(grammar)
    captures = tree_sitter.QueryCursor(_query(grammar)).captures(parser.parse(data).root_node)
    modules = []
    statements = [(node.start_byte, node.end_byte) for node in captures.get("statement", ())]
    for node in captures.get("module", ()):
        begin, end = node.start_byte, node.end_byte
        around = next((data[s:e] for s, e in statements if s <= begin and end <= e), b"")
        modules.append((begin, end, _decoded(data[begin:end]), _decoded(around[:80])))
    code = bytearray(data)
    for node in captures.get("skip", ()):
        begin, end = node.start_byte, node.end_byte
        code[begin:end] = b" " * (end - begin)
    return _Parsed(
        path=path,
        language=language,
        starts=starts,
        code=bytes(code),
        declarations=_declarations(scan(data, grammar), data, starts) if declarations else (),
        modules=tuple(modules),
        statements=tuple(statements),
    )


def _is_unfit(data: bytes) -> bool:
    """Whether the file is data rather than code: units are not cut from it either."""
    if not data or len(data) > MAX_BYTES or b"\0" in data:
        return True
    if len(data) > max(MINIFIED_BYTES, MINIFIED_AVERAGE * (data.count(b"\n") + 1)):
        return True
    if len(data) < NUMBERS_BYTES or b"{" in data:
        return False
    return len(data.translate(None, _OF_NUMBERS)) < (1 - NUMBERS_SHARE) * len(data)


@cache
def _query(grammar: Language) -> Query:
    import tree_sitter

    parser, _ = parser_for(grammar)
    assert parser.language is not None
    return tree_sitter.Query(parser.language, QUERIES[grammar.name])


@dataclass(frozen=True, slots=True)
class _OpenScope:
    """What is open where a definition begins: where it ends, its node, and whether values are its own."""

    end: int
    node: int
    is_function: bool


def _declarations(items: Sequence[Capture], data: bytes, starts: Sequence[int]) -> tuple[_Declaration, ...]:
    """The named definitions, outer before inner, but for the values of functions.

    The parent is the innermost definition around, else the type that the name says.
    """
    nodes: list[_Declaration] = []
    open_: list[_OpenScope] = []
    types: dict[str, int] = {}
    listed: set[int] = set()
    for item in items:
        while open_ and open_[-1].end <= item.start:
            open_.pop()
        scope = open_[-1] if open_ else _OpenScope(0, -1, False)
        if item.role in _UNNAMED:
            open_.append(_OpenScope(item.end, scope.node, scope.is_function or item.role == "closure"))
            continue
        owner, _, last = item.name.rpartition(".")
        value = item.role == "value" or (item.kind == "object" and not last[:1].isupper())
        kind = "property" if item.kind == "object" and value else _KINDS.get(item.kind, "")
        unfit = value and (scope.is_function or not last.isidentifier())
        if not last or not kind or unfit or item.identity in listed:
            continue
        listed.add(item.identity)
        parent = scope.node if scope.node >= 0 else types.get(owner, -1) if owner else -1
        if item.kind == "function" and parent >= 0 and nodes[parent].row.kind in _TYPES:
            kind = "method"
        if item.role == "type":
            types.setdefault(item.name, len(nodes))
        open_.append(_OpenScope(item.end, len(nodes), scope.is_function or kind in ("function", "method")))
        nodes.append(_declaration(item, last.encode(), data, starts, kind=kind, parent=parent))
    return tuple(nodes)


def _declaration(
    item: Capture, name: bytes, data: bytes, starts: Sequence[int], *, kind: str, parent: int
) -> _Declaration:
    at = _name_at(item, name, data)
    line, column = _point(starts, max(at, item.start))
    first_line, first_column = _point(starts, item.start)
    end_line, end_column = _point(starts, item.end)
    row = WireNode(
        name=name.decode(),
        kind=kind,
        parent=parent,
        line=first_line,
        column=first_column,
        end_line=end_line,
        end_column=end_column,
        name_line=line,
        name_column=column,
        name_end_column=column + (len(name) if at >= 0 else 0),
        flags=0,
    )
    return _Declaration(row, name if at >= 0 else b"", at)


def _name_at(item: Capture, name: bytes, data: bytes) -> int:
    """Where the last part of an item's name is written; -1 when it is not."""
    parts = item.name.encode().split(b".")
    if len(parts) > 1:  # Class::method: the last part, which may be spelled as the first
        whole = re.compile(rb"\W{1,4}".join(map(re.escape, parts))).match(data, item.identity)
        if whole:
            return whole.end() - len(name)
    if not name or b"\n" in name:
        return -1
    return data.find(name, item.identity, min(item.end, item.identity + 400))


def _point(starts: Sequence[int], offset: int) -> tuple[int, int]:
    line = bisect_right(starts, offset) - 1
    return line, offset - starts[line]


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _facts(file: _Parsed, names: frozenset[bytes], imports: Imports) -> WireFacts:
    targets = TargetTable()
    rows = _names(file, names, targets)
    for begin, end, text, statement in file.modules:
        meant = imports.resolve(file.path, file.language, text, statement)
        key = targets.target((meant,) if meant else f"import:{file.language}:{text}")
        _, _, also = rows.get((begin, end), _NO_ROW)
        keys = [key] if also < 0 else [key, *targets.lists[also]]
        rows[begin, end] = (_IMPORTED, targets.listed([key]) if meant else -1, targets.listed(keys))
    flat: list[int] = []
    for (begin, end), (roles, defs, number) in sorted(rows.items()):
        flat += (*_point(file.starts, begin), *_point(file.starts, end), roles, defs, number, -1)
    nodes = [node.row for node in file.declarations]
    return WireFacts(
        path=file.path,
        encoding="utf-8",
        nodes=nodes,
        targets=targets.targets,
        lists=targets.lists,
        occurrences=flat,
    )


def _names(file: _Parsed, names: frozenset[bytes], targets: TargetTable) -> dict[tuple[int, int], _Row]:
    """The tokens that are the name of some declaration, by their offsets."""
    rows: dict[tuple[int, int], _Row] = {}
    declared = {node.at: node for node in file.declarations if node.at >= 0}
    statements = _Ranges(file.statements)
    code = file.code
    for match in _TOKENS.get(file.language, _PLAIN).finditer(code):
        text = match.group()
        if text not in names:
            continue
        begin, end = match.span()
        name = targets.target(f"name:{_decoded(text)}")
        node = declared.get(begin)
        if node is not None and node.name == text:
            own = targets.target((file.path, node.row.name_line, node.row.name_column))
            rows[begin, end] = (int(Role.DECLARATION), -1, targets.listed((own, name)))
            continue
        call = Role.CALL if code[end : end + 1] == b"(" else Role.NONE
        roles = Role.IMPORT if statements.around(begin) else call
        rows[begin, end] = (int(roles), -1, targets.listed((name,)))
    return rows


class _Ranges:
    """Whether ascending offsets are inside of any range."""

    def __init__(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._ranges = sorted(ranges, reverse=True)

    def around(self, offset: int) -> bool:
        while self._ranges and self._ranges[-1][1] <= offset:
            self._ranges.pop()
        return bool(self._ranges) and self._ranges[-1][0] <= offset
