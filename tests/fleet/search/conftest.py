"""A small fleet of real repositories, indexed once for each test that asks it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

import codenib
from codenib.core.views import ViewKind
from codenib.fleet.search.members import FleetMember

TEXT = (ViewKind.LEXICAL, ViewKind.TRIGRAM)
REPOSITORIES = {
    "team/shop": {
        "shop/cart.py": "class Cart:\n    def checkout(self, prices):\n"
        "        return add_prices(prices)\n\n\ndef add_prices(prices):\n    return sum(prices)\n",
        "README.md": "# Shop\n\nA cart with prices.\n",
    },
    "team/mailer": {
        "mailer/send.py": "def send_message(address, body):\n    connection = connect(address)\n"
        "    return connection.write(body)\n\n\ndef connect(address):\n    return open(address)\n",
        "mailer/prices.py": "def total(prices):\n    return sum(prices)\n",
    },
    "other/parser": {
        "parser/tokens.py": "def tokenize(text):\n    return text.split()\n\n\n"
        "def parse_tokens(tokens):\n    return [token.upper() for token in tokens]\n",
    },
}


@pytest.fixture
def fleet_members(git_repo: Callable[..., GitRepo]) -> dict[str, FleetMember]:
    """Members by name, each committed and with its text views published."""
    members = {}
    for name, files in REPOSITORIES.items():
        repository = git_repo(name.replace("/", "-"))
        repository.commit(files)
        index_text(repository)
        members[name] = FleetMember(name, repository.path)
    return members


def index_text(repository: GitRepo) -> None:
    """Publish the text views of what a repository has now."""
    with codenib.open(repository.path) as workspace:
        workspace.index(TEXT)
