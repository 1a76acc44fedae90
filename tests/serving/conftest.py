"""Repositories with something to find."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

SHOP = {
    "shop/cart.py": (
        'class Cart:\n    """What a customer wants to buy."""\n\n'
        "    def add_item(self, item, quantity):\n        self.items[item] = quantity\n\n"
        "    def total_price(self, currency):\n"
        "        return sum(convert(price, currency) for price in self.prices)\n"
    ),
    "shop/currency.py": (
        '"""Exchange rates."""\n\nRATES = {"EUR": 1.0}\n\n\n'
        "def convert(amount, currency):\n    return amount * RATES[currency]\n"
    ),
    "tests/test_cart.py": (
        "def test_total_price_converts_currency():\n    assert Cart().total_price('EUR') == 0\n"
    ),
    "docs/cart.md": "# Cart\n\nThe total price is converted to the customer's currency.\n",
    "logo.png": "\0\1\2",
}


@pytest.fixture
def shop(git_repo: Callable[..., GitRepo]) -> GitRepo:
    """A small committed repository."""
    repository = git_repo("shop")
    repository.commit(SHOP)
    return repository
