"""Fixtures for the runtime: a small repository, and scripts for models."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.gitrepo import GitRepo

from codenib.runtime.context.messages import Message, ToolCall

FILES = {
    "shop/cart.py": (
        "class Cart:\n"
        "    def add(self, item, count=1):\n"
        "        self.items.append((item, count))\n"
        "\n"
        "    def total_price(self):\n"
        "        return sum(item.price for item, count in self.items)\n"
    ),
    "shop/tax.py": "RATE = 0.2\n\n\ndef with_tax(price):\n    return price * (1 + RATE)\n",
    "shop/order.py": (
        "from shop.cart import Cart\nfrom shop.tax import with_tax\n\n\n"
        "def place_order(cart: Cart):\n    return with_tax(cart.total_price())\n"
    ),
    "README.md": "# Shop\n\nA cart with a total price.\n",
}
ISSUE = "The total price of a cart ignores how many of each item there are."
ANSWER = json.dumps(
    {
        "summary": "total_price must multiply by count",
        "locations": [{"path": "shop/cart.py", "start_line": 5, "end_line": 6, "symbol": "Cart.total_price"}],
    }
)


@pytest.fixture
def shop(git_repo: Callable[..., GitRepo]) -> GitRepo:
    repository = git_repo("shop")
    repository.commit(FILES)
    return repository


def says(text: str = "", *calls: tuple[str, dict[str, Any]]) -> Message:
    """An assistant's message with tool calls, which the runner gives ids."""
    return Message("assistant", text, tuple(ToolCall("", name, arguments) for name, arguments in calls))
