from __future__ import annotations

from tests.views.graph.sample import SHOP, facts_of

from codenib.views.graph.maintenance.bodies import (
    bodies,
    bodies_of_lines,
    chains_at,
    chains_in,
    chains_of_edit,
)
from codenib.views.graph.maintenance.text_edit import TextEdit


def test_a_line_inside_a_body_belongs_to_that_body_and_one_between_bodies_to_none() -> None:
    facts = facts_of("a.py", SHOP)
    touched = bodies_of_lines({10, 11}, bodies(facts))
    assert touched is not None
    assert chains_in(facts, touched) == ["Shop.open", "Shop.run"]
    assert bodies_of_lines({0}, bodies(facts)) is None


def edited(old: str, new: str) -> list[str] | None:
    edit = TextEdit(old.encode(), new.encode())
    return chains_of_edit(facts_of("a.py", old), facts_of("a.py", new), edit)


def test_an_edit_of_a_body_concerns_what_the_body_declares() -> None:
    found = edited(SHOP, SHOP.replace("self.open = True", "self.open = False"))
    assert found == ["Shop", "Shop.open", "Shop.run"]


def test_a_new_function_concerns_itself_and_its_neighbours() -> None:
    assert edited(SHOP, SHOP.replace("def bar", "def new():\n    pass\n\ndef bar")) == [
        "Shop", "Shop.open", "Shop.run", "bar", "new",
    ]  # fmt: skip


def test_a_changed_line_outside_bodies_may_concern_all() -> None:
    assert edited(SHOP, SHOP.replace("import os", "import sys")) is None


def test_a_line_that_cuts_a_body_in_two_concerns_both_parts() -> None:
    old = "def one():\n    a = 1\n\n    b = 2\n\ndef two():\n    pass\n"
    found = edited(old, old.replace("    b = 2", "def half():\n\n    b = 2"))
    assert found is not None
    assert {"one", "half"} <= set(found)


def test_a_body_that_moves_under_another_name_may_concern_all() -> None:
    old = "def one():\n    def inner():\n        pass\n\nx = 1\n"
    assert edited(old, old.replace("def one():", "if x:")) is None


def test_a_loose_line_counts_for_all_that_is_declared_outside_bodies() -> None:
    facts = facts_of("a.py", SHOP)
    assert chains_at(facts, {3}) == ["fmt"]
    assert chains_at(facts, {0}) == ["Shop"]  # the sample declares no imports
    assert chains_at(facts, {10, 14}) == ["Shop", "Shop.open", "Shop.run", "bar"]
