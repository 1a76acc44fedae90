from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.views.graph.sample import facts_of

from codenib.views.graph.classify import Edit, bodies, chains_in, inside, ranges, symbol_changes

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b""]), max_size=12)

OLD = """\
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
NEW = """\
import os

def fmt(x):
    return x

class Shop:
    def run(self):
        self.open = True
        fmt(new(1))

def bar():
    return 1

def new(x):
    return fmt(x)
"""


@given(LINES, LINES)
def test_hunks_turn_the_old_lines_into_the_new_ones(old: list[bytes], new: list[bytes]) -> None:
    edit = Edit(b"\n".join(old), b"\n".join(new))
    made = list(edit.old)
    for begin, end, first, last in reversed(edit.hunks):
        made[begin:end] = edit.new[first:last]
    assert made == edit.new


@given(LINES, LINES)
def test_the_line_map_leads_to_equal_lines_and_covers_all_that_no_hunk_has(
    old: list[bytes], new: list[bytes]
) -> None:
    edit = Edit(b"\n".join(old), b"\n".join(new))
    touched = {line for begin, end, _, _ in edit.hunks for line in range(begin, end)}
    for line, goal in enumerate(edit.line_map.tolist()):
        assert (goal < 0) == (line in touched)
        assert goal < 0 or edit.old[line] == edit.new[goal]


def test_each_declaration_has_its_fate() -> None:
    changes = symbol_changes(facts_of("a.py", OLD), facts_of("a.py", NEW), Edit(OLD.encode(), NEW.encode()))
    found = {each.symbol: (each.change, each.by) for each in changes}
    assert found["old"] == ("deleted", 0)
    assert found["new"] == ("added", 0)
    assert found["Shop.run"][0] == "affected"
    assert found["fmt"] == ("unchanged", 0)
    assert found["bar"] == ("shifted", -3)


def test_an_edit_inside_a_body_is_held_by_that_body_and_one_between_bodies_by_none() -> None:
    facts = facts_of("a.py", OLD)
    held = inside({10, 11}, bodies(facts))
    assert held is not None
    assert chains_in(facts, held) == ["Shop.open", "Shop.run"]
    assert inside({0}, bodies(facts)) is None


def test_lines_are_joined_to_ranges() -> None:
    assert ranges([0, 1, 2, 5, 7, 8]) == [(0, 2), (5, 5), (7, 8)]
