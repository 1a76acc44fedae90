"""Symbols in, their neighbours by name out, from syntax alone: where no engine resolved uses.

A call of `load` is a call of something with that name. Comments, strings, prose and other languages do not
count. One step is taken, whatever depth is asked for: by names a second one would be a guess of guesses.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codenib.core.answers import Evidence
from codenib.core.calls.cancellation import check_cancelled
from codenib.core.errors import InputError
from codenib.core.facts import BY_NAME
from codenib.core.navigation import Meaning
from codenib.core.requests import NeighboursRequest, RegexRequest
from codenib.core.source import Mark
from codenib.core.symbols import GraphAnswer, Symbol, SymbolEdge
from codenib.navigation.syntactic.backend import CodeAndImports, read_code
from codenib.navigation.syntactic.imports import Imports
from codenib.serving.navigation.meanings import declared_kind, first_line, meanings_by_name, signature_of
from codenib.serving.navigation.positions import last_name
from codenib.serving.search.evidence import unit_evidence
from codenib.serving.search.lexical import mark_factors
from codenib.serving.search.names import NestedDeclaration, unit_names
from codenib.serving.search.regex import search_regex
from codenib.units.languages import language_hint
from codenib.views.graph.facts.code_names import CALL, IMPORT

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.serving.snapshots.pool import Snapshots

_FAMILIES = {
    "tsx": "javascript",
    "typescript": "javascript",
    "vue": "javascript",
    "svelte": "javascript",
    "c": "cpp",
}
_BARE_CALLS = frozenset({"ruby", "bash", "elixir", "haskell", "scala", "kotlin", "swift", "sql", "hcl"})
_CALLED = re.compile(rf"([^\W\d][\w$]*){CALL}")
_WORD = re.compile(r"[^\W\d][\w$]*")
_IMPORT = re.compile(IMPORT)
_TYPES = frozenset(
    {"class", "struct", "interface", "trait", "protocol", "impl", "object", "record", "enum", "extension"}
)
_HEADER_LINES = 16  # decorators and blank lines above included
# Of processor time: files past the first are not parsed, files past the second left out; both are counted.
_PARSE_S, _READ_S = 0.12, 0.25
_READ_AT_ONCE = 25
_PACKAGE_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})
_MOST_MEANINGS = 5  # declarations of a used name that are listed; a name with more says little


@dataclass(frozen=True, slots=True)
class _Use:
    """A place that uses a name, and the unit around it (None: the file's own lines)."""

    path: str
    line: int
    kind: str
    around: Evidence | None


class NeighboursByName:
    """Answers for one pinned snapshot with a lexical view."""

    def __init__(
        self,
        snapshots: Snapshots,
        pinned: PinnedSnapshot,
        request: NeighboursRequest,
        counts: Callable[[str, int], bool] = lambda path, line: True,
    ) -> None:
        """Only uses on lines of files that `counts` are looked at."""
        self._counts = counts
        self._snapshots = snapshots
        self._pinned = pinned
        self._request = request
        self._imports = Imports(pinned.files)
        self._deadline = time.thread_time() + _READ_S
        self._notes: list[str] = []
        self._left_out = self._unread = 0
        self._texts: dict[str, str] = {}
        self._files: dict[str, int] = {}  # those that are gone through, each with its place
        self._units: dict[int, tuple[Evidence, list[NestedDeclaration]]] = {}

    def of_symbol(self, meanings: Sequence[Meaning]) -> GraphAnswer:
        """The neighbours of what a name means: of the first meaning what it uses, of all who uses them."""
        relation = self._request.relation
        first = meanings[0]
        start = _symbol(0, first.place.path, first.symbol, first.kind, (first.start_line, first.end_line))
        if len(meanings) > 1:
            self._notes.append(f"{len(meanings)} declarations have this name")
        if relation in ("callees", "dependencies"):
            return self._answer(start, self._used_by(first, calls=relation == "callees"), out=True)
        name = last_name(first.symbol)
        uses = (
            self._subtypes(name, first.place.path) if relation == "subtypes" else self._uses(name, meanings)
        )
        return self._answer(start, [(use.around, use) for use in uses], out=False)

    def of_file(self, path: str) -> GraphAnswer:
        """What a file imports, or who imports it."""
        start = _symbol(0, path, path, "file", (1, 1))
        if self._request.relation == "dependencies":
            imports = self._read(path).imports
            outside = sorted({module for _, module, target in imports if target is None})
            if outside:
                self._notes.append(
                    f"outside or not certain: {', '.join(outside[:8])}{'…' * (len(outside) > 8)}"
                )
            uses = [_Use(target, line, "import", None) for line, _, target in imports if target]
            return self._answer(start, [(None, use) for use in uses], out=True)
        if self._request.relation != "dependents":
            raise InputError(
                f"{self._request.relation} of a file are known to the graph alone",
                hint=f"codenib index --views graph, or codenib deps {path} --in",
            )
        return self._answer(start, [(None, use) for use in self._importers(path)], out=False)

    def _importers(self, path: str) -> Iterator[_Use]:
        """The imports of a file in others: its name, or that of its package, stands in them."""
        *folders, file = path.split("/")
        stem = file.partition(".")[0]
        word = folders[-1] if stem in _PACKAGE_FILES and folders else stem
        listed = re.compile(
            rf"\b(?:from|import|use|mod|include|require|export)\b|^\s*{re.escape(word)}\s*,?\s*$"
        )
        for other in self._lines_with(word, path, listed):
            if self._is_late():
                self._left_out += 1
            elif other != path:
                for line, _, target in read_code(other, self._text(other), self._imports).imports:
                    if target == path:
                        yield _Use(other, line, "import", None)

    def _uses(self, name: str, meanings: Sequence[Meaning]) -> Iterator[_Use]:
        """The places of a name that are not its declarations; calls alone for callers."""
        only_calls = self._request.relation == "callers"
        declared = {(each.place.path, each.place.line, each.place.column) for each in meanings}
        word = _word(name)
        call = re.compile(rf"(?:@\s*(?:[\w$]+\.)*{re.escape(name)}(?![\w$])|{word.pattern}{CALL})")
        like = meanings[0].place.path
        bare = language_hint(like) in _BARE_CALLS
        for path, found in self._lines_with(name, like, None if bare or not only_calls else call).items():
            if self._is_late():
                self._left_out += 1
                continue
            for number, line in self._code_on(path, found).items():
                if not self._counts(path, number):
                    continue
                for match in word.finditer(line):
                    if (path, number, match.start()) in declared:
                        continue
                    imported = bool(_IMPORT.match(line))
                    called = not imported and (
                        bare or any(match.end() == at.end() for at in call.finditer(line))
                    )
                    if called or not only_calls:
                        kind = "call" if called else "import" if imported else "reference"
                        yield _Use(path, number, kind, self._around(path, number))

    def _subtypes(self, name: str, path: str) -> Iterator[_Use]:
        """Types whose header names another type behind their own, and those that embed it (Go)."""
        word = _word(name)
        seen = set()
        types = "|".join(sorted(_TYPES))
        # In a header, or on a line of its own: a base below its header, or embedded.
        listed = re.compile(rf"\b(?:{types})\b|^\W*(?:\w+(?:\.|::))*{re.escape(name)}\b")
        for other, numbers in self._lines_with(name, path, listed).items():
            if self._is_late():
                self._left_out += 1
                continue
            lines = self._read(other).code.split("\n")
            for number in numbers:
                line = lines[number - 1]
                named = word.search(line) and self._counts(other, number)
                around = self._around(other, number) if named else None
                if around is None or around.kind not in _TYPES or (other, around.start_line) in seen:
                    continue
                if last_name(around.symbol) != name and _inherits(lines, around, word):
                    seen.add((other, around.start_line))
                    yield _Use(other, number, "inherit", around)

    def _used_by(self, meaning: Meaning, *, calls: bool) -> list[tuple[Evidence | None, _Use]]:
        """The declarations of what a declaration names in its own lines."""
        path, name = meaning.place.path, last_name(meaning.symbol)
        lines = self._read(path).code.split("\n")
        bare = language_hint(path) in _BARE_CALLS
        pattern = _CALLED if calls and not bare else _WORD
        uses: list[tuple[Evidence | None, _Use]] = []
        vague = []
        first: dict[str, int] = {}
        for number in range(meaning.start_line, min(meaning.end_line, len(lines)) + 1):
            for match in pattern.finditer(lines[number - 1]):
                first.setdefault(match[match.lastindex or 0], number)
        first.pop(name, None)
        declared = unit_names(self._pinned).declared(first)
        for used, number in first.items():
            if used not in declared:
                continue
            if self._is_late():
                vague.append(used)
                continue
            meanings = [
                each
                for each in meanings_by_name(self._pinned, used)
                if _family(each.place.path) == _family(path)
            ]
            here = [each for each in meanings if each.place.path == path]
            chosen = here or meanings
            if len(chosen) > _MOST_MEANINGS:
                vague.append(f"{used} ({len(chosen)})")
                continue
            kind = (
                "call"
                if calls or _CALLED.match(lines[number - 1], lines[number - 1].find(used))
                else "reference"
            )
            uses += [(_evidence(each), _Use(path, number, kind, None)) for each in chosen]
        if vague:
            self._notes.append(
                f"not listed, as too many declarations or names were to be read: {', '.join(vague)}"
            )
        return uses

    def _lines_with(
        self, name: str, like: str, fits: re.Pattern[str] | None = None
    ) -> dict[str, dict[int, str]]:
        """The lines with a name that fit, of files in the language of `like`: sources first; no prose."""
        request = RegexRequest(rf"\b{re.escape(name)}\b", k=None, snapshot=self._request.snapshot)
        lines: dict[str, dict[int, str]] = {}
        for match in search_regex(self._snapshots, request).items:
            if fits is None or fits.search(match.text):
                lines.setdefault(match.path, {})[match.line] = match.text
        family, shares = _family(like), mark_factors()
        marks = self._pinned.rules.marks
        marked = {path: marks(path) for path in lines if _family(path) == family and self._counts(path, 0)}
        files = sorted(
            (path for path in marked if not marked[path] & Mark.PROSE),
            key=lambda path: (-float(shares[int(marked[path])]), path),
        )
        self._deadline = time.thread_time() + _READ_S
        self._files = {path: at for at, path in enumerate(files)}
        return {path: lines[path] for path in files}

    def _text(self, path: str) -> str:
        """The text of a file; those that will be wanted next are read with it, by one git process."""
        if path not in self._texts:
            at = self._files.get(path)
            part = [path] if at is None else list(self._files)[at : at + _READ_AT_ONCE]
            self._texts |= zip(part, self._pinned.texts(part), strict=True)
        return self._texts[path]

    def _read(self, path: str) -> CodeAndImports:
        if self._may_parse():
            return read_code(path, self._text(path), self._imports)
        self._unread += 1
        return CodeAndImports(self._text(path), ())

    def _may_parse(self) -> bool:
        return time.thread_time() <= self._deadline - _READ_S + _PARSE_S

    def _code_on(self, path: str, lines: Mapping[int, str]) -> Mapping[int, str]:
        """The code on some lines of a file: without comments and strings, while there is time to parse."""
        if not self._may_parse():  # then the text of no further file is read either
            self._unread += 1
            return lines
        code = self._read(path).code.split("\n")
        return {number: code[number - 1] for number in lines}

    def _is_late(self) -> bool:
        """Whether so much time went into this answer that it ends with what it has."""
        check_cancelled()
        return time.thread_time() > self._deadline

    def _around(self, path: str, line: int) -> Evidence | None:
        """The innermost declaration that holds a line."""
        names, view = unit_names(self._pinned), self._pinned.lexical
        unit = names.unit_at(path, line)
        if unit is None:
            return None
        if unit not in self._units:
            self._units[unit] = unit_evidence(view, unit), names.nested_in(unit)
        item, nested = self._units[unit]
        inside = [each for each in nested if each.start_line <= line <= each.end_line]
        if inside:
            item = min(inside, key=lambda each: each.end_line - each.start_line).narrowed(item)
        if item.kind == "body":
            lines = self._pinned.text(path).split("\n")
            header = signature_of(lines, first_line(lines, item.start_line), item.end_line)
            item = replace(item, kind=declared_kind("body", header))
        return item if item.symbol else None

    def _answer(
        self, start: Symbol, uses: Sequence[tuple[Evidence | None, _Use]], *, out: bool
    ) -> GraphAnswer:
        request = self._request
        symbols: dict[tuple[str, int, str], Symbol] = {}
        edges: dict[tuple[int, str], SymbolEdge] = {}
        for other, use in uses:
            path = other.path if other else use.path
            if request.kinds and use.kind not in request.kinds:
                continue
            span = (other.start_line, other.end_line) if other else (1, 1)
            key = path, span[0], other.symbol if other else path
            if key not in symbols:
                kind = other.kind if other else "file"
                number = 2 * len(symbols) + 1 + out  # apart on both sides: a drawing has both
                symbols[key] = _symbol(number, path, key[2], kind, span, depth=1)
            at = symbols[key].id
            ends = (0, at) if out else (at, 0)
            place = start.path if out else use.path
            edge = edges.get((at, use.kind)) or SymbolEdge(*ends, use.kind, place, use.line, 0)
            edges[at, use.kind] = replace(edge, often=edge.often + 1)
        if request.depth > 1:
            self._notes.append("one step, as names are not resolved")
        if self._unread:
            self._notes.append(f"{self._unread} files not parsed in time: comments may count")
        if self._left_out:
            self._notes.append(
                f"{self._left_out} further files with the name were not looked through: it is in very many"
            )
        listed = tuple(symbols.values())
        shown = {0, *(each.id for each in listed[: request.k])}
        return GraphAnswer(
            symbols=(start, *listed[: request.k]),
            edges=tuple(edge for edge in edges.values() if {edge.source, edge.to} <= shown),
            snapshot=self._pinned.ref,
            total=len(listed),
            truncated=len(listed) > request.k or self._left_out > 0,
            seconds=0.0,
            asked=start.qualified,
            note="; ".join(self._notes),
        )


def append_named(known: GraphAnswer, named: GraphAnswer | None, k: int) -> GraphAnswer:
    """Both, each symbol once; symbols by name come last, labelled as such."""
    if named is None or len(named.symbols) < 2:
        return known
    start = known.symbols[0]
    # One of several that were asked for may be around a use of another.
    listed_as: dict[tuple[str, str], list[Symbol]] = defaultdict(list)
    for each in known.symbols:
        if each.depth or each is start:
            listed_as[each.path, each.qualified].append(each)
    free = max(each.id for each in known.symbols) + 1
    renumbered = {named.symbols[0].id: start.id}
    more = []
    for each in named.symbols[1:]:
        namesakes = listed_as[each.path, each.qualified]
        same = next((one for one in namesakes if _overlap(one, each)), None)
        if same is None:
            same = replace(each, id=free + each.id, scope=BY_NAME)
            namesakes.append(same)
            more.append(same)
        renumbered[each.id] = same.id
    ends = {(edge.source, edge.to) for edge in known.edges}
    edges = [
        replace(edge, source=renumbered[edge.source], to=renumbered[edge.to])
        for edge in named.edges
        if (renumbered[edge.source], renumbered[edge.to]) not in ends
    ]
    room = max(k - len(known.symbols) + len(known.starts), 0)
    listed = {each.id for each in (*known.symbols, *more[:room])}
    return replace(
        known,
        symbols=(*known.symbols, *more[:room]),
        edges=(*known.edges, *(edge for edge in edges if {edge.source, edge.to} <= listed)),
        total=known.total + len(more),
        truncated=known.truncated or len(more) > room,
    )


def _overlap(one: Symbol, other: Symbol) -> bool:
    """Whether two of one name are one declaration; overloads have other lines."""
    return one.line <= other.end_line and other.line <= one.end_line


def _symbol(
    number: int, path: str, qualified: str, kind: str, span: tuple[int, int], depth: int = 0
) -> Symbol:
    name = last_name(qualified) if kind != "file" else path
    return Symbol(
        id=number,
        name=name,
        qualified=qualified,
        kind=kind,
        path=path,
        line=span[0],
        end_line=span[1],
        depth=depth,
    )


def _evidence(meaning: Meaning) -> Evidence:
    return Evidence(
        path=meaning.place.path,
        start_line=meaning.start_line,
        end_line=meaning.end_line,
        symbol=meaning.symbol,
        kind=meaning.kind,
        level="L2",
        language="",
        score=0.0,
    )


def _inherits(lines: Sequence[str], around: Evidence, word: re.Pattern[str]) -> bool:
    own = last_name(around.symbol)
    header = ""
    for line in lines[around.start_line - 1 : around.start_line - 1 + _HEADER_LINES]:
        header += f" {line.strip()}"
        if "{" in line or (line.rstrip().endswith((":", ";", ")")) and _end_of(own, header) >= 0):
            break
    header = re.sub(r"<[^<>]*>|\[[^\[\]]*\]", "", header.partition("{")[0])
    if around.kind == "impl":
        return bool(word.search(header.partition(" for ")[0])) and " for " in header
    end = _end_of(own, header)
    if end >= 0 and word.search(header, end):
        return True
    if around.language != "go":
        return False
    body = lines[around.start_line : around.end_line]
    embedded = re.compile(rf"\s*\*?(?:\w+\.)?{word.pattern}\s*(?:`.*)?")
    return any(embedded.fullmatch(line) for line in body)


def _end_of(name: str, text: str) -> int:
    """Where a name first ends in a text, as a whole word; -1 where it is not there.

    Asked about hundreds of names, each once: to compile a pattern takes longer than to search by it.
    """
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        around = text[max(at - 1, 0) : at] + text[end : end + 1]
        if not any(each in "$_" or each.isalnum() for each in around):
            return end
        at = text.find(name, at + 1)
    return -1


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _family(path: str) -> str:
    language = language_hint(path)
    return _FAMILIES.get(language, language)
