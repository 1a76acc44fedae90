"""Small repositories with rows, and a way to run a study as a person does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.evals.cli import cli

BASE = {
    "shop/cart.py": '''"""The cart."""


class Cart:
    """What a customer wants to buy."""

    def add_item(self, item, count):
        """Put an item into the cart."""
        self.items[item] = self.items.get(item, 0) + count

    def total_price(self, prices):
        """Sum of the prices of all items in the cart."""
        return sum(prices[item] * count for item, count in self.items.items())
''',
    "shop/mail.py": '''"""Letters."""


def send_receipt(address, total):
    """Mail a receipt to the customer."""
    return f"to {address}: {total}"


def render_template(name, values):
    """Fill a template with values."""
    return name.format(**values)
''',
    "shop/storage.py": '''"""Saving."""


def save_session(session, store):
    """Write the session of a visitor to the store."""
    store[session.key] = session


def load_session(key, store):
    """Read the session of a visitor back."""
    return store[key]
''',
    "README.md": "# Shop\n\nA shop with a cart, sessions and receipts.\n",
}


@dataclass(frozen=True)
class Corpus:
    """Clones below `mirror`, their commits, and a file of rows."""

    mirror: Path
    rows: Path
    repo: GitRepo
    commits: tuple[str, ...]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A repository `acme/shop` with two commits and three rows."""
    repo = GitRepo(tmp_path / "mirror" / "acme+shop" / "repo")
    first = repo.commit(BASE, "a shop")
    changed = BASE["shop/cart.py"].replace("Sum of the prices", "Sum of the discounted prices")
    second = repo.commit({"shop/cart.py": changed, "shop/tax.py": "def tax(x):\n    return x * 0.2\n"}, "tax")
    rows = [
        row("shop-1", first, "total price of the cart is wrong", "shop/cart.py", (11, 13)),
        row("shop-2", first, "session of a visitor is not saved", "shop/storage.py", (4, 6)),
        row("shop-3", second, "receipt is mailed to the wrong address", "shop/mail.py", (4, 6)),
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return Corpus(tmp_path / "mirror", file, repo, (first, second))


def row(name: str, commit: str, query: str, path: str, lines: tuple[int, int]) -> dict[str, Any]:
    block = {"path": path, "start_line": lines[0], "end_line": lines[1], "symbol": ""}
    return {
        "id": name, "repo": "acme/shop", "language": "Python", "base_commit": commit, "query": query,
        "gold_files": [path], "gold_blocks": [block], "source": "test",
    }  # fmt: skip


@pytest.fixture
def study() -> Callable[..., dict[str, Any]]:
    """Runs `codenib eval … --json` in this process; what it prints on standard output."""

    def run(*words: str | Path) -> dict[str, Any]:
        done = CliRunner().invoke(cli, [*(str(word) for word in words), "--json"], catch_exceptions=False)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run
