"""Both ranked views in one answer."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tests.gitrepo import GitRepo

from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.answers import Route
from codenib.core.views import ViewKind
from codenib.manifest.cache import RecordCache
from codenib.manifest.home import home
from codenib.serving.workspace import Workspace
from codenib.views.dense.embedders.static import DIMENSION


def test_hybrid_lifts_units_that_mean_the_query(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        lexical = {item.symbol: item.score for item in workspace.search("currency", route="lexical").items}
        hybrid = {item.symbol: item.score for item in workspace.search("currency", route="hybrid").items}
    assert hybrid.keys() >= lexical.keys()
    assert hybrid["convert"] > lexical["convert"]


def test_auto_becomes_hybrid_once_the_dense_view_is_there(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index(TEXT_VIEWS)
        answer = workspace.search("currency")
        assert (answer.plan.route, answer.note) == (Route.LEXICAL, "")  # the views that were chosen
        workspace.index()
        assert workspace.search("currency").plan.route is Route.HYBRID


def test_hybrid_finds_nothing_for_nonsense(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        assert workspace.search("zzyzx qwfpgj", route="hybrid").total == 0


def test_hybrid_answers_are_equal_after_maintenance_and_after_a_rebuild(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.search("total price", route="hybrid")
        shop.write("shop/refund.py", "def refund_price(order):\n    return order.total\n")
        workspace.update()
        maintained = workspace.search("total price", route="hybrid")
        workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE], rebuild=True)
        rebuilt = workspace.search("total price", route="hybrid")
    assert maintained.items == rebuilt.items
    assert "shop/refund.py" in {item.path for item in maintained.items}


def test_an_edited_file_keeps_its_vectors_when_another_is_edited(shop: GitRepo) -> None:
    parts = [f"shop/part_{number}.py" for number in range(20)]
    for number, path in enumerate(parts):
        shop.write(path, f"def part_{number}(order):\n    return order.rows[{number}]\n")
    views = [ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE]
    with Workspace(shop.path) as workspace:
        workspace.index(views)
        for number, path in enumerate(parts[:4]):
            shop.write(path, f"def total_{number}(order):\n    return order.price + {number}\n")
        workspace.update()
        shop.write(parts[9], "def last_part(order):\n    return order.rows[-1]\n")
        workspace.update()
        maintained = workspace.search("total price", route="hybrid")
        workspace.index(views, rebuild=True)
        rebuilt = workspace.search("total price", route="hybrid")
    assert maintained.items == rebuilt.items


def test_verify_trusts_no_stored_vector_of_the_embedded_model(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index([ViewKind.DENSE])
    (vectors,) = home().glob("embeddings.sqlite")
    with closing(sqlite3.connect(vectors)) as database:
        keys = [key for (key,) in database.execute("SELECT key FROM records")]
    with closing(RecordCache(vectors)) as cache:  # wrong ones with a right checksum
        cache.put([(key, bytes(4 * DIMENSION)) for key in keys])
    shop.write("shop/other.py", "def unrelated(value):\n    return value\n\n\nprint(unrelated)\n")
    with Workspace(shop.path) as workspace:
        workspace.index([ViewKind.DENSE], rebuild=True)  # takes the wrong vectors
        found = workspace.verify([ViewKind.DENSE])
    assert "shop/currency.py: vectors not equal" in found[ViewKind.DENSE]
