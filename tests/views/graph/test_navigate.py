from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from tests.views.graph.facts.test_bind import bound, sources
from tests.views.graph.toy import expected, words

from codenib.core.navigation import Position
from codenib.views.graph.assembly.artifact import write_graph
from codenib.views.graph.facts.bind import Binder
from codenib.views.graph.facts.groups import GroupFacts, GroupOrigin
from codenib.views.graph.inverse import law_breaches, law_count
from codenib.views.graph.navigate import (
    definitions,
    enclosing_node,
    has_meaning,
    location_of,
    occurrence_at,
    references,
)
from codenib.views.graph.read import GraphView
from codenib.views.graph.symbols import resolve, search
from codenib.views.graph.walk import children, edges_of, overrides, shortest, subtypes, walk


def view_of(texts: dict[str, str], folder: Path) -> GraphView:
    (folder / "in").mkdir(parents=True)
    (folder / "out").mkdir()
    facts = bound(texts, folder / "in")
    write_graph([GroupFacts(GroupOrigin("toy", "toy 1", len(facts), True), tuple(facts))], folder / "out")
    return GraphView(folder / "out")


@settings(deadline=None, max_examples=60)
@given(sources)
def test_every_word_answers_with_all_its_declarations_and_places(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]
) -> None:
    view = view_of(texts, tmp_path_factory.mktemp("toy"))
    for path, text in texts.items():
        for line, column, word, _ in words(text):
            declared, places = expected(texts, word)
            for inside in (column, column + len(word) - 1):
                position = Position(path, line + 1, inside)
                found, used = definitions(view, position), references(view, position)
                assert {(each.path, each.line, each.column) for each in found.locations} == declared
                assert {(each.path, each.line, each.column) for each in used.locations} == places
                assert (found.total, used.total) == (len(declared), len(places))
                assert list(used.locations) == sorted(used.locations)
                assert all(each.end_column - each.column == len(word) for each in used.locations)
    assert list(law_breaches(view)) == []


def test_references_that_lack_what_their_declaration_defines_are_named(tmp_path: Path) -> None:
    view = view_of({"a.py": "def load\n", "b.py": "load load\n"}, tmp_path)
    assert law_count(view) == 3
    view.place_ptr = np.zeros_like(view.place_ptr)
    assert [str(each) for each in law_breaches(view)] == [
        f"{place}: references of load (a.py:1:4) lack it" for place in ("a.py:1:4", "b.py:1:0", "b.py:1:5")
    ]


def test_a_declaration_without_any_occurrence_has_no_meaning(tmp_path: Path) -> None:
    view = view_of({"a.py": "def load\n"}, tmp_path)
    assert has_meaning(view, Position("a.py", 1, 4))
    view.place_ptr = np.zeros_like(view.place_ptr)
    view.occurrence_defs, view.occurrence_keys = (np.full_like(view.occurrence_keys, -1) for _ in range(2))
    assert not has_meaning(view, Position("a.py", 1, 4))


def test_limits_count_after_sorting_and_keep_the_total(tmp_path: Path) -> None:
    view = view_of({"b.py": "load", "a.py": "load\nload", "c.py": "def load"}, tmp_path)
    found = references(view, Position("b.py", 1, 0), 2)
    assert [(each.path, each.line) for each in found.locations] == [("a.py", 1), ("a.py", 2)]
    assert found.total == 4
    without = references(view, Position("b.py", 1, 0), declarations=False)
    assert [each.path for each in without.locations] == ["a.py", "a.py", "b.py"]


def test_a_position_without_an_occurrence_answers_with_what_is_around_it_and_says_so(tmp_path: Path) -> None:
    view = scopes(tmp_path)
    found = definitions(view, Position("m.py", 3, 40))
    assert (found.granularity, found.asked) == ("enclosing", "run")
    assert view.names[enclosing_node(view, Position("m.py", 9, 0))] == "m.py"
    assert occurrence_at(view, Position("absent.py", 1, 0)) is None


def scopes(folder: Path) -> GraphView:
    """`class Base: def stop` and `class Car(Base): def run: stop()`, `def stop`, in one file."""
    line = {
        "path": "m.py",
        "encoding": "utf-32",
        "nodes": [
            ["Base", "class", -1, 0, 0, 1, 30, 0, 6, 10, 0],
            ["stop", "method", 0, 1, 4, 1, 30, 1, 8, 12, 0],
            ["Car", "class", -1, 2, 0, 4, 30, 2, 6, 9, 0],
            ["run", "method", 2, 2, 20, 3, 50, 2, 24, 27, 0],
            ["item", "variable", 3, 3, 8, 3, 12, 3, 8, 12, 1],
            ["stop", "method", 2, 4, 4, 4, 30, 4, 8, 12, 0],
        ],
        "targets": [*(["m.py", *at] for at in ((0, 6), (1, 8), (2, 6), (2, 24), (4, 8))), "os.exit"],
        "lists": [[0], [1], [2], [3], [4], [5], [1, 4]],
        "occurrences": [
            *(0, 6, 0, 10, 1, 0, 0, -1), *(1, 8, 1, 12, 1, 1, 1, -1), *(2, 6, 2, 9, 1, 2, 2, -1),
            *(2, 10, 2, 14, 32, 0, 0, -1), *(2, 24, 2, 27, 1, 3, 3, -1), *(3, 20, 3, 24, 4, 6, 4, 6),
            *(3, 28, 3, 32, 4, 5, 5, -1), *(4, 8, 4, 12, 1, 4, 4, -1),
        ],
        "relations": [["also", 4, 1], ["override", 4, 1]],
    }  # fmt: skip
    binder = Binder("toy", lambda path: b"\n" * 9)
    binder.add(json.dumps(line).encode())
    folder.mkdir(exist_ok=True)
    facts = tuple(binder.bind())
    write_graph([GroupFacts(GroupOrigin("toy", "toy 1", 1, True), facts)], folder)
    return GraphView(folder)


def places(view: GraphView, line: int, column: int) -> list[tuple[int, int]]:
    found = references(view, Position("m.py", line, column)).locations
    return [(each.line, each.column) for each in found]


def test_asking_may_collect_more_than_a_place_is_listed_under(tmp_path: Path) -> None:
    view = scopes(tmp_path)
    assert places(view, 2, 8) == [(2, 8), (4, 20)]  # Base.stop defines the call, an occurrence of Car.stop
    assert places(view, 4, 20) == [(2, 8), (4, 20), (5, 8)]  # the call asks for both
    assert places(view, 5, 8) == [(2, 8), (4, 20), (5, 8)]  # Car.stop also collects what it overrides


def test_what_is_outside_the_repository_is_counted_not_shown(tmp_path: Path) -> None:
    view = scopes(tmp_path)
    found = definitions(view, Position("m.py", 4, 28))
    assert (found.locations, found.outside, found.asked) == ((), 1, "os.exit")
    assert places(view, 4, 28) == [(4, 28)]


def test_edges_carry_their_kind_and_their_first_place(tmp_path: Path) -> None:
    view = scopes(tmp_path)
    run, base, car = (resolve(view, name)[0] for name in ("Car.run", "Base", "Car"))
    calls = [(view.qualified(edge.to), edge.kind.label, edge.often) for edge in edges_of(view, run, "out")]
    assert calls == [("Base.stop", "call", 1), ("Car.stop", "call", 1)]  # what defines it, and what it is
    assert subtypes(view, base) == [car]
    assert overrides(view, resolve(view, "Base.stop")[0]) == resolve(view, "Car.stop")
    assert [view.names[node] for node in children(view, car)] == ["run", "stop"]


def test_walks_are_bounded_and_say_when_there_is_more(tmp_path: Path) -> None:
    view = view_of({"a.py": "def f0 f1\ndef f1 f2\ndef f2 f3\ndef f3"}, tmp_path)
    first, last = resolve(view, "f0")[0], resolve(view, "f3")[0]
    assert list(edges_of(view, last, "out")) == []
    near = walk(view, [first], "out", depth=2, limit=10)
    assert [(view.names[node], near.depth_of[node]) for node in near.nodes] == [
        ("f0", 0),
        ("f1", 1),
        ("f2", 2),
    ]
    assert not near.truncated
    chain = shortest(view, [first], [last])
    assert chain is not None and [view.names[edge.to] for edge in chain] == ["f1", "f2", "f3"]
    assert shortest(view, [last], [first]) is None
    assert walk(view, [first], "out", depth=3, limit=1).truncated


def test_a_dotted_name_means_the_end_of_a_path_and_a_qualified_name(tmp_path: Path) -> None:
    view = view_of({"pkg/app.py": "def Flask", "tests/app.py": "def Flask", "x.py": "Flask"}, tmp_path)
    assert len(resolve(view, "Flask")) == 2
    assert [location_of(view, node).path for node in resolve(view, "pkg.app.Flask")] == ["pkg/app.py"]
    assert resolve(view, "flask") == [] == resolve(view, "")


def test_symbols_are_found_by_part_of_their_name_exact_first(tmp_path: Path) -> None:
    view = view_of({"a.py": "def reload\ndef load\ndef load_all\ndef LOAD\ndef other"}, tmp_path)
    found, total = search(view, "load", 10)
    assert sorted(view.names[node] for node in found[:2]) == ["LOAD", "load"]
    assert [view.names[node] for node in found[2:]] == ["load_all", "reload"]
    assert total == 4
    assert search(view, "load", 1)[1] == 4
