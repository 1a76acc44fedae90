"""Source text of a snapshot: the unit that a definition is shown with, and lines."""

from __future__ import annotations

from tests.gitrepo import GitRepo

from codenib.core.requests import CURRENT
from codenib.serving.snapshots.reader import split_lines
from codenib.serving.workspace import Workspace


def test_a_declaration_is_the_smallest_unit_that_begins_about_there(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        snapshot = workspace.read("shop/cart.py").snapshot.id
        unit = workspace.reader.declared_at("shop/cart.py", 7, snapshot)
        assert unit is not None
        assert (unit.symbol, unit.span.start_line) == ("Cart.total_price", 7)
        assert unit.text.startswith("    def total_price")
        constant = workspace.reader.declared_at("shop/currency.py", 3, snapshot)
        assert constant is not None
        assert constant.symbol == "RATES"
        assert workspace.reader.declared_at("shop/currency.py", 1, snapshot) is None


def test_files_are_those_of_the_snapshot_in_order(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        files = workspace.reader.files(CURRENT)
    assert files == sorted(files)
    assert "shop/cart.py" in files


def test_a_final_newline_opens_no_further_line() -> None:
    assert split_lines("a\nb\n") == ["a", "b"]
    assert split_lines("a\n\n") == ["a", ""]
    assert split_lines("") == []
