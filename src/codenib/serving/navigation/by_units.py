"""Part of a name, or a file, in, declarations out: from syntax alone, where no graph is fresh."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from codenib.core.answers import Evidence
from codenib.core.errors import InputError
from codenib.core.symbols import GraphAnswer, Symbol
from codenib.serving.navigation.meanings import declared_kind, first_line, signature_of
from codenib.serving.search.evidence import unit_evidence
from codenib.serving.search.lexical import mark_factors
from codenib.serving.search.names import NestedDeclaration, unit_names

if TYPE_CHECKING:
    from codenib.core.source import UnitRow
    from codenib.serving.snapshots.pinned import PinnedSnapshot

_SEPARATORS = re.compile(r"::|[.#/:]")
_NOT_NAMED = frozenset({"section", "window", "file", "cell"})
_Candidate = tuple[tuple[float, ...], str, int, int | NestedDeclaration]


def symbols_by_name(pinned: PinnedSnapshot, query: str, limit: int) -> GraphAnswer:
    """Declarations whose name holds the last word of `query`, in a place that holds the others.

    Exact names first, then beginnings, then the rest; within each, sources before tests.
    """
    words = [word for word in _SEPARATORS.split(query.lower().strip()) if word]
    ranked = sorted(_candidates(pinned, words), key=lambda each: each[:3]) if words else []
    best: list[Symbol] = []
    for _, _, _, unit in ranked[:limit]:
        item = _evidence(pinned, unit)
        best.append(_symbol(len(best), item, 0, _kind(pinned, item)))
    return GraphAnswer(
        symbols=tuple(best),
        edges=(),
        snapshot=pinned.ref,
        total=len(ranked),
        truncated=len(ranked) > limit,
        seconds=0.0,
        asked=query,
    )


def outline_by_units(pinned: PinnedSnapshot, path: str) -> GraphAnswer:
    """The declarations of a file, outermost first, each with its depth."""
    extracted, _ = pinned.units(path)
    if extracted.skip:
        raise InputError(f"{path} is not indexed: {extracted.skip}", hint=f"codenib read {path}")
    first: dict[str, UnitRow] = {}
    for row in sorted(extracted.rows, key=lambda row: (row.start_line, -row.end_line)):
        if row.symbol and row.kind not in _NOT_NAMED:
            first.setdefault(row.symbol, row)
    if not first:
        raise InputError(f"{path} declares nothing", hint=f"codenib read {path}")
    symbols: list[Symbol] = []
    for symbol, row in first.items():
        parts = _SEPARATORS.split(symbol)
        depth = sum(".".join(parts[:end]) in first for end in range(1, len(parts)))
        item = Evidence(
            path=path,
            start_line=row.start_line,
            end_line=row.end_line,
            symbol=symbol,
            kind=row.kind,
            level="L2",
            language=extracted.language,
            score=0.0,
        )
        symbols.append(_symbol(len(symbols), item, depth, _kind(pinned, item)))
    return GraphAnswer(
        symbols=tuple(symbols),
        edges=(),
        snapshot=pinned.ref,
        total=len(symbols),
        truncated=False,
        seconds=0.0,
        asked=path,
    )


def outline_of_folder(pinned: PinnedSnapshot, folder: str) -> GraphAnswer:
    """The folders in a folder with how many files are below each, its files, and what they declare outermost.

    `folder` ends with a slash, or is empty for the root.
    """
    below: dict[str, int] = {}
    files: list[str] = []
    for path in pinned.files:
        if path.startswith(folder):
            first, slash, _ = path[len(folder) :].partition("/")
            if slash:
                below[first] = below.get(first, 0) + 1
            else:
                files.append(path)
    symbols: list[Symbol] = []
    for name, often in sorted(below.items()):
        kind = f"folder, {often:,} file{'s' * (often != 1)}"
        symbols.append(_place(len(symbols), f"{folder}{name}/", kind))
    declared = _outermost(pinned, frozenset(files))
    for path in sorted(files):
        symbols.append(_place(len(symbols), path, "file"))
        for item in declared.get(path, ()):
            symbols.append(_symbol(len(symbols), item, 1, _kind(pinned, item)))
    return GraphAnswer(
        symbols=tuple(symbols),
        edges=(),
        snapshot=pinned.ref,
        total=len(symbols),
        truncated=False,
        seconds=0.0,
        asked=folder or ".",
    )


def _outermost(pinned: PinnedSnapshot, files: frozenset[str]) -> dict[str, list[Evidence]]:
    """What each of these files declares outside of other declarations, in order."""
    view = pinned.lexical
    wanted = [number for number, path in enumerate(view.paths) if path in files]
    declared: dict[str, dict[str, Evidence]] = {}
    for unit in np.flatnonzero(np.isin(view.file_of, wanted) & view.live).tolist():
        item = unit_evidence(view, unit)
        if item.symbol and item.kind not in _NOT_NAMED and not _SEPARATORS.search(item.symbol):
            declared.setdefault(item.path, {}).setdefault(item.symbol, item)
    return {
        path: sorted(items.values(), key=lambda item: item.start_line) for path, items in declared.items()
    }


def _place(number: int, path: str, kind: str) -> Symbol:
    name = path.rstrip("/").rpartition("/")[2]
    return Symbol(id=number, name=name, qualified=path, kind=kind, path=path, line=1, end_line=1)


def _candidates(pinned: PinnedSnapshot, words: list[str]) -> list[_Candidate]:
    """Every declaration that fits, once, with what orders it."""
    names, view = unit_names(pinned), pinned.lexical
    *around, last = words
    shares = mark_factors()
    first: dict[tuple[str, str], _Candidate] = {}
    for leaf in names.leaves_with(last):
        how = 0.0 if leaf == last else 1.0 if leaf.startswith(last) else 2.0
        declared: list[int | NestedDeclaration] = [*names.units(leaf).tolist(), *names.nested(leaf)]
        for each in declared:
            unit = each if isinstance(each, int) else each.unit
            document = view.document(unit)
            symbol = document.symbol if isinstance(each, int) else each.symbol
            line = document.span.start_line if isinstance(each, int) else each.start_line
            path = document.span.path
            place = f"{path}.{symbol}".lower()
            if document.kind in _NOT_NAMED or not all(word in place for word in around):
                continue
            order = (how, -float(shares[int(document.marks)]), float(len(leaf)))
            known = first.get((path, symbol))
            if known is None or line < known[2]:
                first[path, symbol] = (order, path, line, each)
    return list(first.values())


def _evidence(pinned: PinnedSnapshot, unit: int | NestedDeclaration) -> Evidence:
    if isinstance(unit, int):
        return unit_evidence(pinned.lexical, unit)
    return unit.narrowed(unit_evidence(pinned.lexical, unit.unit))


def _kind(pinned: PinnedSnapshot, item: Evidence) -> str:
    """What is declared, read from its first line where a unit does not say it."""
    if item.kind != "body":
        return item.kind
    lines = pinned.text(item.path).split("\n")
    return declared_kind("body", signature_of(lines, first_line(lines, item.start_line), item.end_line))


def _symbol(number: int, item: Evidence, depth: int, kind: str) -> Symbol:
    return Symbol(
        id=number,
        name=_SEPARATORS.split(item.symbol)[-1],
        qualified=item.symbol,
        kind=kind,
        path=item.path,
        line=item.start_line,
        end_line=item.end_line,
        depth=depth,
    )
