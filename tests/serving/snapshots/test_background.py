from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.answers import Answer, Route
from codenib.core.views import Status, ViewKind
from codenib.manifest.store import Store
from codenib.serving.snapshots import background
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate

DENSE, HISTORY = ViewKind.DENSE, ViewKind.HISTORY


@pytest.fixture
def hurried(shop: GitRepo) -> Callable[[], Answer]:
    """A new command each time, that waits for nothing; `asked` counts the calls for the background."""

    def search() -> Answer:
        with Workspace(shop.path) as workspace:
            pool = workspace.maintenance.snapshots
            pool.quick_s, pool.catch_up_beside = 0.0, lambda: asked.append(1)
            return workspace.search("total price in a currency")

    asked: list[int] = []
    search.asked = asked  # type: ignore[attr-defined]
    return search


def run_background(repository: GitRepo) -> int:
    command = [sys.executable, "-m", background.__name__, str(repository.path)]
    return subprocess.run(command, check=False, timeout=60).returncode


def test_what_takes_long_is_left_to_the_background_and_the_answer_says_so(
    shop: GitRepo, hurried: Callable[[], Answer]
) -> None:
    first = hurried()
    assert (first.plan.route, first.without) == (Route.LEXICAL, ("dense",))
    assert first.note == "by words alone: vectors are being built; codenib index waits for that"
    assert first.items[0].path == "shop/cart.py"
    assert hurried().note == first.note
    assert hurried.asked == [1, 1]  # type: ignore[attr-defined]
    assert run_background(shop) == 0
    second = hurried()
    assert (second.plan.route, second.note, second.without) == (Route.HYBRID, "", ())
    with Workspace(shop.path) as workspace:
        assert workspace.status().fresh
        assert set(workspace.status().views) == {*TEXT_VIEWS, DENSE, HISTORY}


def test_vectors_of_an_earlier_snapshot_are_never_used(shop: GitRepo, hurried: Callable[[], Answer]) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index()
    shop.write("shop/price.py", "def total_price_of_a_currency():\n    return 1\n")
    answer = hurried()
    assert "shop/price.py" in {item.path for item in answer.items}
    assert (answer.plan.route, answer.without) == (Route.LEXICAL, ("dense",))


def test_a_small_edit_and_a_commit_are_in_the_vectors_and_history_of_the_next_answer(
    shop: GitRepo,
) -> None:
    with Workspace(shop.path) as workspace:
        assert workspace.search("currency").without == ()
    shop.write("shop/price.py", "def total_price_of_a_currency():\n    return 1\n")
    with Workspace(shop.path) as workspace:
        edited = workspace.search("total price of a currency")
        assert (edited.plan.route, edited.items[0].path) == (Route.HYBRID, "shop/price.py")
        pinned = workspace.snapshots.of_snapshot(edited.snapshot.id)
        assert {kind: pinned.manifest.views[kind].how for kind in (DENSE, HISTORY)} == {
            DENSE: "maintained",
            HISTORY: "reused",
        }
    shop.commit(message="prices")
    with Workspace(shop.path) as workspace:
        committed = workspace.search("total price of a currency")
        pinned = workspace.snapshots.of_snapshot(committed.snapshot.id)
        assert {kind: pinned.manifest.views[kind].how for kind in (DENSE, HISTORY)} == {
            DENSE: "reused",
            HISTORY: "maintained",
        }


def test_views_that_were_left_out_stay_out(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index(TEXT_VIEWS)
        answer = workspace.search("currency")
        assert (answer.plan.route, answer.note) == (Route.LEXICAL, "")
        assert set(workspace.status().views) == set(TEXT_VIEWS)


def test_a_revision_without_vectors_says_so(shop: GitRepo) -> None:
    shop.commit({"shop/currency.py": "def convert(amount):\n    return amount\n"})
    with Workspace(shop.path) as workspace:
        workspace.index()
        workspace.maintenance.snapshots.quick_s = 0.0
        answer = workspace.search("currency", at="HEAD~1")
        assert answer.note == "by words alone: vectors are not built for HEAD~1; codenib index --at HEAD~1"
        workspace.index(at="HEAD~1")
        assert workspace.search("currency", at="HEAD~1").note == ""


def test_a_view_that_cannot_be_opened_fails_no_answer(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        record = workspace.index().manifest.views[DENSE]
    store = Store(locate(shop.path).key)
    for part in store.artifact(record.artifact).iterdir():
        part.write_bytes(b"damaged")
    with Workspace(shop.path) as workspace:
        answer = workspace.search("currency", refresh="never")
        assert answer.items
        assert answer.note.startswith("by words alone: the dense view failed")
    with Workspace(shop.path) as workspace:
        assert "damaged in the store, so made again: the dense view" in workspace.search("currency").refreshed


def test_one_background_process_is_enough(shop: GitRepo) -> None:
    repository = locate(shop.path)
    store = Store(repository.key)
    with store.catching_up(repository.worktree_key):
        assert background.start(repository.root, store, repository.worktree_key)
        assert run_background(shop) == 3
    with Workspace(shop.path) as workspace:
        assert workspace.status().indexed_snapshot is None


def test_commands_can_be_told_to_leave_nothing_behind(
    shop: GitRepo, monkeypatch: pytest.MonkeyPatch, hurried: Callable[[], Answer]
) -> None:
    monkeypatch.setenv("CODENIB_BACKGROUND", "off")
    repository = locate(shop.path)
    assert not background.start(repository.root, Store(repository.key), repository.worktree_key)
    assert hurried().note == "by words alone: vectors are not built yet; codenib index builds all"


def test_a_failed_history_fails_no_answer(shop: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODENIB_HISTORY_COMMITS", "many")
    with Workspace(shop.path) as workspace:
        answer = workspace.search("The total is wrong\nIt is in another currency than the prices.\nWhy?\n")
        assert answer.items
        assert workspace.status().views[HISTORY].status is not Status.FRESH
