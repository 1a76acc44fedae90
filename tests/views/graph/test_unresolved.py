"""Names in code of which no engine says anything: the graph lists them, in any order of files and edits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.views.graph.facts.test_bind import bound

from codenib.core.facts import Role
from codenib.core.navigation import Position
from codenib.views.graph.assembly.artifact import write_graph
from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.facts.code_names import Use, identifiers
from codenib.views.graph.facts.groups import GroupFacts, GroupOrigin
from codenib.views.graph.maintenance.stale_syntax import StaleSyntax
from codenib.views.graph.navigate import has_meaning, is_guess
from codenib.views.graph.read import GraphView
from codenib.views.graph.unresolved import unknown_places, unknown_within

line = st.sampled_from(
    ["def load", "load(save)", "any.load(save)", "any.größe; load # save", "any.x = 'load'", ""]
)
sources = st.dictionaries(
    st.sampled_from(["a.py", "b/c.py", "b/d.py"]), st.lists(line, max_size=4).map("\n".join), min_size=1
)


def view_of(texts: dict[str, str], folder: Path, stale: dict[str, StaleSyntax] | None = None) -> GraphView:
    (folder / "in").mkdir(parents=True)
    (folder / "out").mkdir()
    facts = tuple(map(canonical, bound(texts, folder / "in")))
    write_graph([GroupFacts(GroupOrigin("toy", "toy 1", len(facts), True), facts)], folder / "out", {}, stale)
    return GraphView(folder / "out")


@settings(deadline=None, max_examples=60)
@given(sources)
def test_all_names_in_code_have_a_meaning_or_are_unknown(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]
) -> None:
    view = view_of(texts, tmp_path_factory.mktemp("toy"))
    unknown = [
        (path, line, column, name)
        for path, text in sorted(texts.items())
        for line, column, name in identifiers(text.encode(), "python")
        if is_guess(view, Position(path, line, column)) or not has_meaning(view, Position(path, line, column))
    ]
    names = {name for *_, name in unknown}
    by_name = [(*each.start, each.name) for name in names for each in unknown_places(view, name)]
    assert sorted(by_name) == unknown
    inside = [
        (*each.start, each.name)
        for path, text in sorted(texts.items())
        for each in unknown_within(view, path, 1, text.count("\n") + 1)
    ]
    assert inside == unknown
    assert unknown_places(view, "nowhere") == []
    assert unknown_within(view, "nowhere.py", 1, 9) == []


def test_they_say_how_they_are_used_and_some_lines_can_be_asked_for(tmp_path: Path) -> None:
    view = view_of({"a.py": "any.load(1)\nany.load\nimport any.load\n"}, tmp_path)
    assert [each.use for each in unknown_places(view, "load")] == [Use.CALL, Use.REFERENCE, Use.IMPORT]
    assert [(each.line, each.name) for each in unknown_within(view, "a.py", 2, 2)] == [
        (2, "any"),
        (2, "load"),
    ]


def test_what_lines_that_no_engine_read_guess_is_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (facts,) = bound({"a.py": "def load\nload()\n"}, folder)
    assert canonical(facts).unknown_names == ()
    facts.occurrences["roles"][-1] |= Role.GUESS
    guessed = canonical(facts)
    assert (guessed.unknown_names, guessed.unknown[["line", "column"]].tolist()) == (("load",), [(1, 0)])


def test_names_on_new_lines_of_a_file_that_does_not_parse_are_unknown(tmp_path: Path) -> None:
    readable, now = b"def load\nload()\n", b"def load\nsave(load\nload()\n"
    stale = {"a.py": StaleSyntax.of("digest", readable, now)}
    view = view_of({"a.py": readable.decode()}, tmp_path, stale)
    assert [(each.line, each.name) for each in unknown_within(view, "a.py", 1, 3)] == [
        (2, "save"),
        (2, "load"),
    ]


def test_numbers_of_names_do_not_depend_on_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (facts,) = map(canonical, bound({"a.py": "known\nany.b\nany.a\n"}, tmp_path / "in"))
    assert facts.unknown_names == ("any", "b", "a")
    assert np.array_equal(facts.unknown["name"], [0, 1, 0, 2])
