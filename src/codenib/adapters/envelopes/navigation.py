"""Answers of navigation and of the graph in, their JSON values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from codenib.adapters.envelopes.envelope import Envelope, freshness_of, rounded, snapshot_id
from codenib.core.navigation import Granularity, Position
from codenib.core.requests import NeighbourRelation
from codenib.core.symbols import (
    Affected,
    Completeness,
    GraphAnswer,
    ImpactAnswer,
    ImpactPart,
    NavigationAnswer,
    Symbol,
    SymbolEdge,
)


class PlaceItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A range with the text of its first line. Lines are 1-based, columns 0-based, the end exclusive.

    `scope` says how its file was read: `project`, `loose` (no configuration includes it), `variant`,
    `inferred`, `partial` (imports of it lead to no package), or `name` where nothing resolved it. A live
    server's places have none. In a notebook, `cell` and `cell_line` are the numbers of the cell and of the
    line in it, 1-based.

    What `def` found by name has the rest too: what is declared there, with its `code`.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    scope: str = ""
    cell: int = 0
    cell_line: int = 0
    symbol: str = ""
    kind: str = ""
    signature: str = ""
    marks: tuple[str, ...] = ()
    code: str = ""


class NavigationReply(Envelope[PlaceItem], kw_only=True, frozen=True):
    """`def` and `refs`. `provider` is `static`, `live` or `syntactic`: by names alone.

    `unresolved` counts the files of the language group that no engine resolved: `completeness` is `partial`.
    `behind` are the files that changed since the graph that answered: changed lines there are by name.
    """

    backend: str
    granularity: Granularity
    completeness: Completeness
    unresolved: int
    outside: int
    asked: str
    position: Position
    note: str
    behind: tuple[str, ...] = ()


class GraphReply(Envelope[Symbol], kw_only=True, frozen=True):
    """`callers`, `callees`, `deps`, `path`, `symbols` and `outline`: symbols, and the edges between them.

    `start` is the symbol whose neighbours `items` are, the first of `starts` where a name means several. A
    walk that is `truncated` has at least `total`.
    `completeness` is `unknown` where no engine resolved the uses of that symbol's language, and `partial`
    where it did not resolve `unresolved` files of it, or where files changed since the graph: `behind`.
    """

    completeness: Completeness
    unresolved: int
    asked: str
    start: Symbol | None
    starts: tuple[Symbol, ...]
    backends: Mapping[str, str]
    edges: tuple[SymbolEdge, ...]
    note: str
    behind: tuple[str, ...] = ()


class DrawnSymbol(msgspec.Struct, frozen=True):
    """A symbol of a drawing: the asked one, or on which side of it this one stands."""

    relation: Literal["asked", "dependents", "dependencies"]
    symbol: Symbol


class DrawingReply(Envelope[DrawnSymbol], kw_only=True, frozen=True):
    """`graph`: both sides of a symbol."""

    asked: str
    backends: Mapping[str, str]
    edges: tuple[SymbolEdge, ...]
    note: str


class ImpactReply(Envelope[Affected], kw_only=True, frozen=True):
    """`impact`: what a change may reach. `changed` is what it is taken for.

    `parts` has an entry for each kind of consequence: who answered and how completely. No item of a kind
    means that there is none only where its part is `all`.
    """

    changed: tuple[Symbol, ...]
    parts: tuple[ImpactPart, ...]
    note: str


def navigation_reply(answer: NavigationAnswer, texts: Sequence[str]) -> NavigationReply:
    """The JSON of an answer whose locations have these lines of text."""
    items = tuple(
        PlaceItem(
            path=place.path,
            line=place.line,
            column=place.column,
            end_line=place.end_line,
            end_column=place.end_column,
            text=text,
            scope=place.scope,
            cell=place.cell[0] if place.cell else 0,
            cell_line=place.cell[1] if place.cell else 0,
        )
        for place, text in zip(answer.locations, texts, strict=True)
    )
    if answer.meanings:
        items = tuple(
            msgspec.structs.replace(
                item,
                symbol=meaning.symbol,
                kind=meaning.kind,
                signature=meaning.signature,
                marks=meaning.marks,
                code=meaning.text,
            )
            for item, meaning in zip(items, answer.meanings, strict=True)
        )
    return NavigationReply(
        items=items,
        total=answer.total,
        truncated=answer.total > len(items),
        snapshot=snapshot_id(answer.snapshot),
        freshness=freshness_of(answer.snapshot, answer.refreshed),
        provider=answer.provider,
        seconds=rounded(answer.seconds),
        backend=answer.backend,
        granularity=answer.granularity,
        completeness=answer.completeness,
        unresolved=answer.unresolved,
        outside=answer.outside,
        asked=answer.asked,
        position=answer.position,
        note=answer.note,
        behind=answer.behind,
    )


def graph_reply(answer: GraphAnswer, *, around: bool = False) -> GraphReply:
    """The JSON of a list of symbols, or of the neighbours `around` the first of them."""
    return GraphReply(
        items=tuple(each for each in answer.symbols if each.depth or not around),
        total=answer.total,
        truncated=answer.truncated,
        snapshot=snapshot_id(answer.snapshot),
        freshness=freshness_of(answer.snapshot, answer.refreshed),
        provider=graph_provider(answer),
        seconds=rounded(answer.seconds),
        completeness=answer.completeness,
        unresolved=answer.unresolved,
        asked=answer.asked,
        start=answer.symbols[0] if around else None,
        starts=answer.starts if around else (),
        backends=answer.backends,
        edges=answer.edges,
        note=answer.note,
        behind=answer.behind,
    )


def unresolved(answer: GraphAnswer) -> bool:
    """Whether uses here may be missing: then an empty answer does not say that there are none."""
    return answer.completeness in ("unknown", "partial")


def graph_provider(answer: GraphAnswer) -> str:
    """`static` where an engine resolved something of the graph, else names alone: `syntactic`."""
    return "static" if answer.backends else "syntactic"


def drawing_reply(dependents: GraphAnswer, dependencies: GraphAnswer) -> DrawingReply:
    """Both sides of the symbol that is asked for, each symbol once on a side."""
    sides: tuple[tuple[NeighbourRelation, GraphAnswer], ...] = (
        ("dependents", dependents),
        ("dependencies", dependencies),
    )
    asked = [DrawnSymbol("asked", each) for each in dependencies.symbols if not each.depth]
    around = [
        DrawnSymbol("dependents" if side == "dependents" else "dependencies", each)
        for side, answer in sides
        for each in answer.symbols
        if each.depth
    ]
    return DrawingReply(
        items=(*asked, *around),
        total=len(asked) + dependents.total + dependencies.total,
        truncated=dependents.truncated or dependencies.truncated,
        snapshot=snapshot_id(dependencies.snapshot),
        freshness=freshness_of(dependencies.snapshot, dependents.refreshed or dependencies.refreshed),
        provider=graph_provider(dependencies),
        seconds=rounded(dependents.seconds + dependencies.seconds),
        asked=dependencies.asked,
        backends=dependencies.backends,
        edges=tuple(dict.fromkeys((*dependents.edges, *dependencies.edges))),
        note=dependencies.note,
    )


def impact_reply(answer: ImpactAnswer) -> ImpactReply:
    return ImpactReply(
        items=answer.items,
        total=answer.total,
        truncated=answer.truncated,
        snapshot=snapshot_id(answer.snapshot),
        freshness=freshness_of(answer.snapshot, answer.refreshed),
        provider=", ".join(dict.fromkeys(part.provider for part in answer.parts)),
        seconds=rounded(answer.seconds),
        changed=answer.changed,
        parts=answer.parts,
        note=answer.note,
    )
