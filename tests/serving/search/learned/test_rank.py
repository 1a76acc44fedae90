"""Issue texts over a small real repository, ranked by the learned model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.gitrepo import GitRepo

from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.answers import Answer
from codenib.serving.workspace import Workspace

FILES = {
    "shop/cart.py": (
        "class Cart:\n"
        "    def add_item(self, item, quantity):\n        self.items[item] = quantity\n\n"
        "    def total(self, currency):\n        return sum(self.prices) * rate(currency)\n"
    ),
    "shop/rates.py": "def rate(currency):\n    return TABLE[currency]\n\n\ndef refresh():\n    fetch()\n",
    "shop/mail.py": "def send(letter):\n    deliver(letter)\n\n\ndef total(letters):\n    return 1\n",
    "tests/test_cart.py": "def test_total_of_a_cart_in_a_currency():\n    assert Cart().total('EUR') == 0\n",
}
STORY = "Wrong amount is shown\nThe sum of the cart is wrong for every customer since the last release.\n"


@pytest.fixture
def workspace(git_repo: Callable[..., GitRepo]) -> Iterator[Workspace]:
    repository = git_repo("shop")
    repository.commit(FILES)
    with Workspace(repository.path) as opened:
        yield opened


def symbols(answer: Answer) -> list[str]:
    assert answer.plan.fusion == "learned"
    return [item.symbol for item in answer.items]


def test_a_frame_of_a_trace_brings_its_function_up(workspace: Workspace) -> None:
    trace = 'Traceback:\n  File "/srv/shop/rates.py", line 2, in rate\nKeyError: EUR\n'
    with_trace = symbols(workspace.search(STORY + trace))
    assert with_trace.index("rate") < 2


def test_a_named_method_is_found_among_its_namesakes(workspace: Workspace) -> None:
    found = symbols(workspace.search("Sum is wrong\n`Cart.total` ignores the quantity of an item.\n"))
    assert found[0] == "Cart.total"


def test_files_are_ranked_too_and_tests_behind(workspace: Workspace) -> None:
    answer = workspace.search(STORY + "See `Cart.total`, total in EUR currency.\n", level="file")
    paths = [item.path for item in answer.items]
    assert paths[0] == "shop/cart.py"
    assert paths.index("tests/test_cart.py") > 0
    assert answer.items[0].end_line == 6


def test_every_view_that_is_there_is_used_and_none_is_needed(workspace: Workspace) -> None:
    issue = STORY + "The cart's total in another currency.\n"
    workspace.index(TEXT_VIEWS)
    words = workspace.search(issue)
    assert (words.plan.route, words.plan.fusion) == ("lexical", "learned")
    workspace.index()
    both = workspace.search(issue)
    assert both.plan.route == "hybrid"
    assert {item.path for item in both.items} >= {"shop/cart.py"}
    assert [item.score for item in words.items] != [item.score for item in both.items]


def test_scores_fall_and_the_width_is_kept(workspace: Workspace) -> None:
    answer = workspace.search(STORY + "cart total currency rate item quantity letter\n", k=3)
    scores = [item.score for item in answer.items]
    assert scores == sorted(scores, reverse=True)
    assert (len(answer.items), answer.truncated) == (3, True)
    assert answer.total > 3


def test_paths_and_tests_that_are_excluded_stay_out(workspace: Workspace) -> None:
    issue = STORY + "cart total currency rate\n"
    assert {item.path for item in workspace.search(issue, paths=["shop/rates.py"]).items} == {"shop/rates.py"}
    assert not any("test" in item.marks for item in workspace.search(issue, tests="exclude").items)
