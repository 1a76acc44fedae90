from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.views.graph.sample import facts_of

from codenib.views.graph.maintenance.classify import (
    Edit,
    bodies,
    chains_at,
    chains_in,
    chains_of_edit,
    inside,
    ranges,
    symbol_changes,
)

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


def edited(old: str, new: str) -> list[str] | None:
    edit = Edit(old.encode(), new.encode())
    return chains_of_edit(facts_of("a.py", old), facts_of("a.py", new), edit)


def test_an_edit_of_a_body_concerns_what_the_body_declares() -> None:
    found = edited(OLD, OLD.replace("self.open = True", "self.open = False"))
    assert found == ["Shop", "Shop.open", "Shop.run"]


def test_a_new_function_concerns_itself_and_its_neighbours() -> None:
    assert edited(OLD, OLD.replace("def bar", "def new():\n    pass\n\ndef bar")) == [
        "Shop", "Shop.open", "Shop.run", "bar", "new",
    ]  # fmt: skip


def test_a_changed_line_outside_bodies_may_concern_all() -> None:
    assert edited(OLD, OLD.replace("import os", "import sys")) is None


def test_a_line_that_cuts_a_body_in_two_concerns_both_parts() -> None:
    old = "def one():\n    a = 1\n\n    b = 2\n\ndef two():\n    pass\n"
    found = edited(old, old.replace("    b = 2", "def half():\n\n    b = 2"))
    assert found is not None
    assert {"one", "half"} <= set(found)


def test_a_body_that_moves_under_another_name_may_concern_all() -> None:
    old = "def one():\n    def inner():\n        pass\n\nx = 1\n"
    assert edited(old, old.replace("def one():", "if x:")) is None


def test_a_loose_line_counts_for_all_that_is_declared_outside_bodies() -> None:
    facts = facts_of("a.py", OLD)
    assert chains_at(facts, {3}) == ["fmt"]
    assert chains_at(facts, {0}) == ["Shop"]  # the sample declares no imports
    assert chains_at(facts, {10, 14}) == ["Shop", "Shop.open", "Shop.run", "bar"]


def test_lines_are_joined_to_ranges() -> None:
    assert ranges([0, 1, 2, 5, 7, 8]) == [(0, 2), (5, 5), (7, 8)]
