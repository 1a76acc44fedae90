"""What resembles a place: a search for its text, without itself."""

from __future__ import annotations

import pytest
from tests.gitrepo import GitRepo

import codenib
from codenib.core.errors import InputError


def test_units_like_a_place_are_others_than_the_one_there(shop: GitRepo) -> None:
    shop.write("shop/basket.py", "class Basket:\n    def total_price(self, currency):\n        return 1\n")
    with codenib.open(shop.path) as workspace:
        answer = workspace.search(like="shop/cart.py:8", k=2)
        assert answer[0].symbol == "Basket.total_price"
        assert "Cart.total_price" not in {item.symbol for item in answer}
        assert answer.truncated == (answer.total > len(answer))
        for query, like in (("price", "shop/cart.py:8"), ("", "no/such.py:1"), ("", "")):
            with pytest.raises(InputError):
                workspace.search(query, like=like)
