"""A neighbourhood of the graph in, an SVG drawing or an HTML page out. No script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from codenib.core.symbols import GraphAnswer, Symbol

_ROW, _BOX, _GAP, _TOP = 34, 250, 130, 60
_COLOURS = {
    "call": "#1f6feb",
    "import": "#8250df",
    "type-use": "#1a7f37",
    "inherit": "#cf222e",
    "reference": "#6e7781",
}


def svg(before: GraphAnswer, after: GraphAnswer) -> str:
    """What uses the symbol on the left, the symbol, what it uses on the right."""
    centre = after.symbols[0]
    left, right = _columns(before), _columns(after)
    depth = len(left)
    tallest = max([len(after.starts), *map(len, left), *map(len, right)])
    width = (depth + 1 + len(right)) * (_BOX + _GAP) - _GAP + 40
    height = _TOP + tallest * _ROW + 30
    asked = {symbol.id: row for row, symbol in enumerate(after.starts)}
    places = {number: _place(depth, row, len(asked), tallest) for number, row in asked.items()}
    for step, column in enumerate(left, 1):
        for row, symbol in enumerate(column):
            places.setdefault(symbol.id, _place(depth - step, row, len(column), tallest))
    for step, column in enumerate(right, 1):
        for row, symbol in enumerate(column):
            places.setdefault(symbol.id, _place(depth + step, row, len(column), tallest))
    known = {symbol.id: symbol for symbol in (*before.symbols, *after.symbols)}
    edges = {(edge.source, edge.to, edge.kind): edge for edge in (*before.edges, *after.edges)}
    lines = [
        _arrow(places[edge.source], places[edge.to], edge.kind, f"{edge.kind} at {edge.path}:{edge.line}")
        for edge in edges.values()
        if edge.source in places and edge.to in places and edge.source != edge.to
    ]
    boxes = [_box(known[number], place, number in asked) for number, place in places.items()]
    more = " (more exist)" if before.truncated or after.truncated else ""
    title = f"{centre.qualified}: {before.total} use it, it uses {after.total}{more}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="system-ui, sans-serif" font-size="12">',
            f'<rect width="100%" height="100%" fill="#ffffff"/><text x="20" y="24" font-size="15" '
            f'font-weight="600" fill="#1f2328">{escape(title)}</text>{_legend(edges)}',
            *lines,
            *boxes,
            "</svg>",
        ]
    )


def html(before: GraphAnswer, after: GraphAnswer) -> str:
    """The drawing as a page."""
    centre = after.symbols[0]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(centre.qualified)}</title>'
        "<style>body{margin:0;overflow:auto;background:#fff}svg{display:block}</style>"
        f"<body>{svg(before, after)}</body></html>\n"
    )


def _columns(answer: GraphAnswer) -> list[list[Symbol]]:
    """The symbols at each distance from the asked one."""
    deepest = max((symbol.depth for symbol in answer.symbols), default=0)
    return [[each for each in answer.symbols if each.depth == step] for step in range(1, deepest + 1)]


def _place(column: int, row: int, rows: int, tallest: int) -> tuple[float, float]:
    shift = (tallest - rows) * _ROW / 2
    return 20 + column * (_BOX + _GAP), _TOP + shift + row * _ROW


def _box(symbol: Symbol, place: tuple[float, float], centre: bool) -> str:
    x, y = place
    name = symbol.qualified if len(symbol.qualified) <= 34 else f"…{symbol.qualified[-33:]}"
    fill, stroke = ("#ddf4ff", "#1f6feb") if centre else ("#f6f8fa", "#d0d7de")
    return (
        f"<g><title>{escape(f'{symbol.kind} {symbol.qualified}, {symbol.path}:{symbol.line}')}</title>"
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{_BOX}" height="26" rx="5" fill="{fill}" stroke="{stroke}"/>'
        f'<text x="{x + 8:.0f}" y="{y + 17:.0f}" fill="#1f2328">{escape(name)}</text></g>'
    )


def _arrow(start: tuple[float, float], end: tuple[float, float], kind: str, title: str) -> str:
    colour = _COLOURS.get(kind, "#6e7781")
    forward = start[0] <= end[0]
    x1, y1 = start[0] + (_BOX if forward else 0), start[1] + 13
    x2, y2 = end[0] + (0 if forward else _BOX), end[1] + 13
    bend = _GAP / 2 if forward else -_GAP / 2
    tip = 6 if forward else -6
    return (
        f'<g fill="none" stroke="{colour}" stroke-opacity="0.75"><title>{escape(title)}</title>'
        f'<path d="M{x1:.0f} {y1:.0f} C{x1 + bend:.0f} {y1:.0f} {x2 - bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"/>'
        f'<path d="M{x2:.0f} {y2:.0f} l{-tip} -4 l0 8 z" fill="{colour}"/></g>'
    )


def _legend(edges: Iterable[tuple[int, int, str]]) -> str:
    used = {kind for _, _, kind in edges}
    kinds = [kind for kind in _COLOURS if kind in used]
    return "".join(
        f'<text x="{20 + at * 90}" y="44" fill="{_COLOURS[kind]}">→ {kind}</text>'
        for at, kind in enumerate(kinds)
    )
