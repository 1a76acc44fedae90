"""Facts of small Python texts by Python's own parser: declarations, and the names that lead to them."""

from __future__ import annotations

import ast
import json

from codenib.views.graph.facts.bind import Binder
from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.facts.file import FileFacts

_KINDS = {ast.FunctionDef: "function", ast.ClassDef: "class"}

#: A file to edit.
SHOP = """\
import os

def fmt(x):
    return x

def old(x):
    return fmt(x)

class Shop:
    def run(self):
        self.open = True
        print(old(1))

def bar():
    return 1
"""


def facts_of(path: str, text: str) -> FileFacts:
    """The facts of one file: functions, classes, methods, fields that methods set, and uses by name."""
    return canonical(_bound(path, text).bind()[0])


def _bound(path: str, text: str) -> Binder:
    tree = ast.parse(text)
    nodes: list[list[object]] = []
    places: dict[str, list[tuple[int, int]]] = {}
    _declare(tree, -1, nodes, places, text.split("\n"), in_class=-1)
    targets: list[object] = []
    lists: list[list[int]] = []
    occurrences: list[int] = []
    for node in sorted(_uses(tree), key=lambda each: (each.lineno, each.col_offset)):
        found = places.get(node.id, [])
        first = len(targets)
        targets += [[path, line, column] for line, column in found]
        lists.append(list(range(first, len(targets))))
        place = (node.lineno - 1, node.col_offset, node.lineno - 1, node.end_col_offset or 0)
        occurrences += [*place, 0, len(lists) - 1, len(lists) - 1, -1]
    line = {"path": path, "encoding": "utf-8", "nodes": nodes, "targets": targets, "lists": lists}
    binder = Binder("toy", lambda _: text.encode())
    binder.add(json.dumps({**line, "occurrences": occurrences}).encode())
    return binder


def _uses(tree: ast.AST) -> list[ast.Name]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _declare(
    tree: ast.AST,
    parent: int,
    nodes: list[list[object]],
    places: dict[str, list[tuple[int, int]]],
    lines: list[str],
    in_class: int,
) -> None:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            kind = "method" if isinstance(node, ast.FunctionDef) and in_class >= 0 else _KINDS[type(node)]
            line = node.lineno - 1
            column = lines[line].index(node.name)
            end = (node.end_lineno or 1) - 1
            whole = [line, node.col_offset, end, node.end_col_offset or 0]
            places.setdefault(node.name, []).append((line, column))
            at = len(nodes)
            nodes.append([node.name, kind, parent, *whole, line, column, column + len(node.name), 0])
            _declare(node, at, nodes, places, lines, at if kind == "class" else in_class)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and in_class >= 0:
            line, column = node.lineno - 1, (node.end_col_offset or 0) - len(node.attr)
            whole = [line, column, line, column + len(node.attr)]
            nodes.append([node.attr, "field", in_class, *whole, line, column, column + len(node.attr), 0])
        else:
            _declare(node, parent, nodes, places, lines, in_class)
