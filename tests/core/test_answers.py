"""Answers read as lists, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.gitrepo import GitRepo

from codenib.core.answers import Evidence
from codenib.core.errors import StateError
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace

CART = (
    "class Cart:\n    def total_price(self):\n        return '<b>' + self.price\n\n    def drop(self): ...\n"
)
PAGE = "from cart import Cart\n\n\ndef page(cart):\n    return cart.total_price()\n"


@pytest.fixture
def repository(git_repo: Callable[..., GitRepo]) -> GitRepo:
    made = git_repo()
    made.commit({"cart.py": CART, "page.py": PAGE}, "Add carts")
    return made


@pytest.fixture
def workspace(repository: GitRepo) -> Iterator[Workspace]:
    with Workspace(repository.path) as opened:
        opened.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.HISTORY])
        yield opened


def test_an_answer_is_a_sequence_of_its_items(workspace: Workspace) -> None:
    answer = workspace.search("total price")
    assert list(answer) == list(answer.items)
    assert (len(answer), answer[0], answer[:1]) == (len(answer.items), answer.items[0], answer.items[:1])
    assert not workspace.search("zzyzx")


def test_an_item_has_the_text_that_its_snapshot_has(workspace: Workspace, repository: GitRepo) -> None:
    best = workspace.search("total price")[0]
    repository.write("cart.py", "# nothing any more\n")
    assert best.text == "    def total_price(self):\n        return '<b>' + self.price\n"


def test_places_of_navigation_have_their_lines(workspace: Workspace) -> None:
    found = workspace.definition("total_price", provider="auto")
    assert [place.text for place in found] == ["    def total_price(self):"]


def test_an_item_from_nowhere_says_so() -> None:
    item = Evidence("a.py", 1, 2, "f", "function", "L2", "python", 1.0)
    with pytest.raises(StateError, match="without its answer"):
        _ = item.text


def test_a_repr_is_short_and_names_the_places(workspace: Workspace, repository: GitRepo) -> None:
    answer = workspace.search("total price", k=1)
    assert repr(answer).splitlines() == [
        f"<Answer: 1 of {answer.total}, {repository.head()[:7]}>",
        "  cart.py:2-4 Cart.total_price",
    ]
    assert repr(workspace.history("cart.py")).splitlines()[1].endswith("Test: Add carts")
    assert repr(workspace.regex("def")).splitlines()[1] == "  cart.py:2"


def test_a_notebook_shows_the_source_escaped(workspace: Workspace) -> None:
    shown = workspace.search("total price")._repr_html_()
    assert "cart.py:2-4 Cart.total_price" in shown
    assert "return &#x27;&lt;b&gt;&#x27; + self.price" in shown
    assert "<b>'" not in shown
    for other in (workspace.explore("price"), workspace.map(), workspace.history("cart.py")):
        assert other._repr_html_().startswith("<p><b>")
