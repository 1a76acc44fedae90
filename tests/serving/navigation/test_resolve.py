"""What a model gives (a name, a path, a line that is about right), resolved."""

from __future__ import annotations

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError
from codenib.core.requests import CURRENT
from codenib.serving.workspace import Workspace


def test_a_name_near_a_line_is_the_place_of_the_name(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        places = workspace.navigator.places
        assert places.near("Cart.total_price", "shop/cart.py", 5, CURRENT) == (
            "shop/cart.py:7",
            "total_price",
        )
        assert places.near("convert", "shop/currency.py", None, CURRENT) == ("shop/currency.py:6", "convert")
        assert places.near(None, "shop/cart.py", 4, CURRENT) == ("shop/cart.py:4", "")
        assert places.near("convert", None, None, CURRENT) == ("convert", "")


def test_what_names_nothing_is_refused_with_what_to_give(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        places = workspace.navigator.places
        with pytest.raises(InputError, match="no name and no path"):
            places.near(None, None, None, CURRENT)
        with pytest.raises(InputError, match="which name"):
            places.near(None, "shop/cart.py", None, CURRENT)
        with pytest.raises(InputError, match="has no 'absent'"):
            places.near("absent", "shop/cart.py", 1, CURRENT)
