"""A snapshot's views and a token budget in, a map of the repository out: folders, files, declarations.

Declarations are ranked by importance in the graph when it is fresh. Otherwise by how often other code uses
their names: a cheap stand-in. A query lifts what it finds, a history what changes; marked code is lowered,
and what other files cannot name comes after all that they can.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from codenib.core.context import Declaration, RepoMap
from codenib.core.errors import InputError
from codenib.core.facts import SCOPES
from codenib.core.views import ViewKind
from codenib.serving.context.excerpt import signature
from codenib.serving.context.exported import UNNAMED_KINDS, is_exported
from codenib.serving.context.tokens import TOKENIZER, count
from codenib.serving.search.evidence import Retrieval
from codenib.serving.search.lexical import mark_factors, search_lexical
from codenib.units.tokens import term_hash, terms_of

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.views.lexical.read import LexicalView

_TOKENS_A_DECLARATION = 8  # fewer than any takes: how many are looked at for a budget
_ASKED = 200  # results of the query that lift their declarations
_LOOKED_AT = 2000  # declarations that the history may lift
_SAME_FILE = 0.3  # each further declaration of a file counts this much less, so that a map is of many files
_QUERY_LIFT = 8.0
_HISTORY_LIFT = 1.0
_ONE_WORD = 0.5  # `get` is a part of many names, so its uses say less
_PRIVATE = 0.3  # `_name` is known to its file alone, and counts the uses of `name`
_HIDDEN = 0.01  # of what no other file can name: a map is of what a newcomer can use
_READ = 600  # best declarations whose files are read for that
_FOLDERS = 8
_SIGNATURE_WIDEST = 90

# A named unit: symbol, kind, file, first line, and what its marks leave of its importance.
_Named = tuple[str, str, int, int, float]


def draw_map(pinned: PinnedSnapshot, *, query: str | None, max_tokens: int) -> RepoMap:
    """The map of one snapshot."""
    started = time.perf_counter()
    if max_tokens < 1:
        raise InputError(
            f"{max_tokens} tokens have no room for anything", hint="codenib map --max-tokens 1000"
        )
    by_graph = pinned.has_fresh(ViewKind.GRAPH)
    declared = list(_by_graph(pinned) if by_graph else _by_names(pinned.lexical))
    ranked_by = ["graph" if by_graph else "names"]
    asked = query if query is not None and query.strip() else ""
    best = sorted(_lifted(declared, _asked(pinned, asked)) if asked else declared, key=_order)[:_LOOKED_AT]
    if pinned.has_fresh(ViewKind.HISTORY):
        best = _lifted(best, _changes(pinned, best))
        ranked_by.append("history")
    if asked:
        ranked_by.append("query")
    worded = _exported_first(pinned, sorted(best, key=_order)[:_READ], _callables(declared))
    worded = _spread(worded)[: max_tokens // _TOKENS_A_DECLARATION + 1]
    text, fitting = _fitted(list(pinned.files), worded, max_tokens)
    return RepoMap(
        text=text,
        tokens=count(text),
        max_tokens=max_tokens,
        tokenizer=TOKENIZER,
        declarations=tuple(worded[:fitting]),
        total=len(declared),
        omitted=len(declared) - fitting,
        ranked_by=tuple(ranked_by),
        snapshot=pinned.ref,
        seconds=time.perf_counter() - started,
    )


def _order(each: Declaration) -> tuple[float, str, int]:
    return -each.importance, each.path, each.line


# -- importance


def _by_graph(pinned: PinnedSnapshot) -> Iterator[Declaration]:
    """The scopes of the graph that others can name, by their importance."""
    view = pinned.graph
    factors = mark_factors() ** 2  # a map is of the code itself: tests and examples come late
    marks = dict(zip(pinned.lexical.paths, pinned.lexical.marks.tolist(), strict=True))
    kinds = np.isin(view.kinds, [int(kind) for kind in SCOPES])
    nodes = np.flatnonzero(kinds)
    for node in nodes[nodes >= view.nodes_at].tolist():
        path = view.path(node)
        if not view.is_local(node) and path in marks:
            share = float(factors[marks[path]])
            importance = float(view.importance[node]) * view.count * share
            line = int(view.ranges["line"][node]) + 1
            yield Declaration(
                path=path,
                line=line,
                symbol=view.qualified(node),
                kind=view.kind(node).label,
                text="",
                importance=importance,
            )


def _by_names(view: LexicalView) -> Iterator[Declaration]:
    """Named units, by how many other units use their names, shared among those of the same name."""
    factors = mark_factors() ** 2  # a map is of the code itself: tests and examples come late
    first_doc = first_file = 0
    rows: list[_Named] = []
    for data in view.segments:
        names = data.documents["name"].tolist()
        for at, name in enumerate(names):
            symbol, row = data.strings[name], data.documents[at]
            kind = data.strings[int(row["kind"])]
            if symbol and kind not in UNNAMED_KINDS and view.live[first_doc + at]:
                file = first_file + int(row["file"])
                share = float(factors[int(row["marks"])])
                rows.append((symbol, kind, file, int(row["start"]), share))
        first_doc += len(names)
        first_file += len(data.files)
    same = Counter(symbol.rpartition(".")[2] for symbol, *_ in rows)
    uses = {name: _uses(view, name) for name in same}
    for symbol, kind, file, line, share in _first_of_each(rows):
        name = symbol.rpartition(".")[2]
        often = np.log1p(max(uses[name] - same[name], 0) / same[name])
        worth = _ONE_WORD if len(terms_of(name)) < 2 else 1.0
        worth *= _PRIVATE if name.startswith("_") else 1.0
        importance = float(often * worth * share)
        yield Declaration(
            path=view.paths[file], line=line, symbol=symbol, kind=kind, text="", importance=importance
        )


def _first_of_each(rows: Sequence[_Named]) -> list[_Named]:
    """A long unit has several rows, a class one for each stretch of its body: the first stands for all."""
    first: dict[tuple[int, str], _Named] = {}
    for row in sorted(rows, key=lambda row: (row[2], row[3])):
        first.setdefault((row[2], row[0]), row)
    return list(first.values())


def _uses(view: LexicalView, name: str) -> int:
    """In how many live units a name stands."""
    total = first = 0
    for term in terms_of(name)[-1:]:
        for data in view.segments:
            total += int(view.live[data.rows_of(term_hash(term))["doc"] + first].sum())
            first += len(data.documents)
    return total


def _asked(pinned: PinnedSnapshot, query: str) -> Callable[[Declaration], float]:
    """How much a query finds in a declaration's file and in itself, as a factor."""
    files = search_lexical(pinned, Retrieval(query, _ASKED, "file")).items
    units = search_lexical(pinned, Retrieval(query, _ASKED, "unit")).items
    in_file = {item.path: item.score / files[0].score for item in files}
    in_unit: dict[tuple[str, str], float] = {}
    for item in units:
        in_unit.setdefault((item.path, item.symbol), item.score / units[0].score)

    def factor(each: Declaration) -> float:
        share = in_file.get(each.path, 0.0) + in_unit.get((each.path, each.symbol), 0.0)
        return 1.0 + _QUERY_LIFT * share

    return factor


def _changes(pinned: PinnedSnapshot, best: Sequence[Declaration]) -> Callable[[Declaration], float]:
    """How often a declaration's file changed, compared with the one that changed most, as a factor."""
    often = {path: float(np.log1p(pinned.history.churn(path))) for path in {each.path for each in best}}
    most = max(often.values(), default=0.0) or 1.0
    return lambda each: 1.0 + _HISTORY_LIFT * often[each.path] / most


def _lifted(declared: Sequence[Declaration], factor: Callable[[Declaration], float]) -> list[Declaration]:
    return [replace(each, importance=each.importance * factor(each)) for each in declared]


def _spread(declared: Sequence[Declaration]) -> list[Declaration]:
    """The order in which declarations enter the map: each further one of a file counts less."""
    before: Counter[str] = Counter()
    spread = []
    for each in sorted(declared, key=_order):
        lowered = each.importance / (1.0 + _SAME_FILE * before[each.path])
        spread.append(replace(each, importance=round(lowered, 4)))
        before[each.path] += 1
    return sorted(spread, key=_order)


# -- text


def _callables(declared: Sequence[Declaration]) -> set[tuple[str, str]]:
    return {(each.path, each.symbol) for each in declared if each.kind in ("function", "method")}


def _exported_first(
    pinned: PinnedSnapshot, best: Sequence[Declaration], callables: Container[tuple[str, str]]
) -> list[Declaration]:
    """Declarations with their text; those that no other file can name, and those inside callables, last."""
    paths = sorted({each.path for each in best})
    texts = dict(zip(paths, pinned.texts(paths), strict=True))
    lines = {path: text.split("\n") for path, text in texts.items()}
    worded = []
    for each in best:
        said = _worded(each, lines[each.path][each.line - 1 :][:60])
        inside = (each.path, each.symbol.rpartition(".")[0]) in callables
        share = _HIDDEN if inside or not is_exported(said, texts[each.path]) else 1.0
        worded.append(replace(said, importance=each.importance * share))
    return worded


def _worded(declaration: Declaration, lines: Sequence[str]) -> Declaration:
    """A declaration with the line that declares it; with its kind and name where no such line is there."""
    name = declaration.symbol.rpartition(".")[2]
    said = signature(lines, declaration.symbol)
    if name not in said or said.startswith("}"):
        said = name if declaration.kind == "body" else f"{declaration.kind} {name}"
    said = said if len(said) <= _SIGNATURE_WIDEST else f"{said[:_SIGNATURE_WIDEST].rstrip()}…"
    return replace(declaration, text=said)


def _fitted(files: Sequence[str], declared: Sequence[Declaration], max_tokens: int) -> tuple[str, int]:
    """The text with as many of the declarations, most important first, as fit; and how many those are."""
    low, high = 0, len(declared)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_render(files, declared[:middle])) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    while count(text := _render(files, declared[:low])) > max_tokens:
        if not low:
            return "", 0
        low -= 1
    return text, low


def _render(files: Sequence[str], declared: Sequence[Declaration]) -> str:
    """How many files each folder has, then declarations by folder, file and line."""
    tops = Counter(_top(path) for path in files)
    most = sorted(tops.items(), key=lambda pair: (-pair[1], pair[0]))[:_FOLDERS]
    lines = [f"{len(files)} files: {', '.join(f'{name} {often}' for name, often in most)}"]
    folder = path = ""
    for each in sorted(declared, key=lambda each: (PurePosixPath(each.path).parent, each.path, each.line)):
        pure = PurePosixPath(each.path)
        if pure.parent.as_posix() != folder:
            folder = pure.parent.as_posix()
            lines.append(f"{folder}/")
        if each.path != path:
            path = each.path
            lines.append(f"  {pure.name}")
        owner = each.symbol.rpartition(".")[0]
        label = "" if not owner or owner.rpartition(".")[2] in each.text else f"{owner} · "
        lines.append(f"    {each.line} {label}{each.text}")
    return "".join(f"{line}\n" for line in lines)


def _top(path: str) -> str:
    first, slash, _ = path.partition("/")
    return f"{first}/" if slash else "./"
