"""Names in code: all that a grammar has, none of comments and strings, and how each is used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.units.languages import grammar_for, parser_for
from codenib.views.graph.facts.code_names import Use, code_names, identifiers


def names(path: str, text: str) -> list[tuple[str, int, int, str]]:
    found, places = code_names(path, text.encode())
    return [(found[name], line, column, Use(use).label) for name, line, column, use in places.tolist()]


def words(path: str, text: str) -> list[str]:
    return [name for name, *_ in names(path, text)]


def walked(data: bytes, language: str) -> list[tuple[int, int, str]]:
    """Every leaf of the tree that is an identifier, one by one."""
    grammar = grammar_for(data, language)
    assert grammar is not None
    lines = data.split(b"\n")
    left = [parser_for(grammar)[0].parse(data).root_node]
    found = []
    while left:
        node = left.pop()
        left += reversed(node.children)
        if not node.children and "identifier" in node.type and node.text:
            row, column = node.start_point
            found.append((row + 1, len(lines[row][:column].decode()), node.text.decode()))
    return found


def test_places_are_lines_and_code_points_with_how_the_name_is_used() -> None:
    text = 'from a import b\né = load()  # load\n"load"; f"{load}"\n@é.wrap\ndef f(): pass\n'
    assert names("a.py", text) == [
        ("a", 0, 5, "import"),
        ("b", 0, 14, "import"),
        ("é", 1, 0, "reference"),
        ("load", 1, 4, "call"),
        ("load", 2, 11, "reference"),
        ("é", 3, 1, "reference"),
        ("wrap", 3, 3, "call"),
        ("f", 4, 4, "call"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.ts", "x.load<T>(`y ${z}`); /* w */", ["x", "load", "T", "z"]),
        ("a.jsx", "<A b={c}>d</A>", ["A", "b", "c", "A"]),
        ("a.go", 'package a\nfunc F() { g.H("i") } // j', ["a", "F", "g", "H"]),
        ("a.rs", 'fn f() { a::b!(c, "d"); }', ["f", "a", "b", "c"]),
        ("a.c", '#include "a.h"\n#define M(x) load(x, "s")\nint f; /* g */', ["M", "x", "load", "x", "f"]),
        ("a.cpp", "é x; // y\n", ["é", "x"]),
        ("a.ipynb", "if True: pass\nload()", ["load"]),
        ("a.md", "load()", []),
    ],
)
def test_each_language_has_its_names(path: str, text: str, expected: list[str]) -> None:
    assert words(path, text) == expected


def test_bytes_that_are_no_text_do_not_move_what_comes_after_their_line() -> None:
    for path in ("a.c", "a.py"):
        found, places = code_names(path, b"a = '\xff\xfe';\nload();\n")
        assert (found[-1], *places[["line", "column"]][-1].tolist()) == ("load", 1, 0)


@given(st.text(st.sampled_from("ab_é('\"# =.\n1{}f@"), max_size=60))
def test_all_identifiers_of_the_tree_are_found(text: str) -> None:
    assert identifiers(text.encode(), "python") == walked(text.encode(), "python")
