"""A push publishes all or nothing, once, beside other writers; a kill at any step loses nothing published."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fleet.store.conftest import Indexed
from tests.fleet.store.faulty import dying_pusher
from tests.gitrepo import GitRepo

from codenib.core.errors import StateError
from codenib.core.views import ViewKind
from codenib.fleet.store.layout import FleetHead
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.publish import fresh_views, push
from codenib.manifest.store import Store
from codenib.snapshot.repository import locate

TEXT = (ViewKind.LEXICAL, ViewKind.TRIGRAM)


def test_a_second_push_sends_nothing(objects: ObjectStore, indexed: Indexed) -> None:
    first = push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    assert first.sent_objects > 10
    assert first.moved == ("main",)
    second = push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    assert (second.sent_objects, second.sent_bytes) == (0, 0)
    assert second.head == first.head
    head = objects.head("org/app", "main")
    assert head is not None
    assert (head.publication, head.generation) == (first.head.publication, 1)


def test_an_edit_sends_what_changed(objects: ObjectStore, indexed: Indexed) -> None:
    indexed.repo.commit({f"lib/module_{number}.py": f"value = {number}\n" * 400 for number in range(60)})
    indexed.index()
    first = push(objects, "org/app", indexed.store, indexed.snapshot, views=TEXT)
    indexed.repo.commit({"app/more.py": "def more():\n    return 2\n"})
    indexed.index()
    second = push(objects, "org/app", indexed.store, indexed.snapshot, views=TEXT)
    assert second.sent_bytes < first.sent_bytes / 3


def test_a_fork_sends_only_what_it_has_of_its_own(
    objects: ObjectStore, indexed: Indexed, git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, views=TEXT)
    fork = tmp_path / "fork"
    indexed.repo.git("clone", "-q", str(indexed.repo.path), str(fork))
    other = Indexed(GitRepo(fork), Store(locate(fork).key), "")
    other.index()
    pushed = push(objects, "fork/app", other.store, other.snapshot, views=TEXT)
    assert pushed.sent_objects <= 3  # the publication, and view.json or seal.json if a name differs


def test_views_that_two_machines_publish_of_one_snapshot_are_both_there(
    objects: ObjectStore, indexed: Indexed
) -> None:
    def publish(kind: ViewKind) -> None:
        push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=[kind])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(publish, TEXT))
    for head in (objects.head("org/app", "main"), objects.snapshot("org/app", indexed.snapshot)):
        assert head is not None
        publication = objects.publication(head)
        assert fresh_views(publication).keys() == set(TEXT)
        assert head.views.keys() == set(TEXT)
        assert all(objects.has(ref) for ref in publication.refs().values())


def test_a_branch_that_went_on_is_not_set_back(objects: ObjectStore, indexed: Indexed) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    older = indexed.snapshot
    indexed.repo.commit({"app/more.py": "def more():\n    return 2\n"})
    newer = indexed.index()
    push(objects, "org/app", indexed.store, newer, refs=["main"])

    def is_ancestor(head: FleetHead) -> bool:
        return head.snapshot != newer

    late = push(objects, "org/app", indexed.store, older, refs=["main", "old"], supersedes=is_ancestor)
    assert (late.moved, late.refused) == (("old",), ("main",))
    assert {name: head.snapshot for name, head in objects.heads("org/app").items()} == {
        "main": newer,
        "old": older,
    }


def test_a_view_that_is_not_fresh_is_not_pushed(objects: ObjectStore, indexed: Indexed) -> None:
    with pytest.raises(StateError, match="zoekt"):
        push(objects, "org/app", indexed.store, indexed.snapshot, views=[ViewKind.ZOEKT])
    with pytest.raises(StateError, match="not published here"):
        push(objects, "org/app", indexed.store, "0" * 32)
    assert objects.repositories() == []


def test_a_kill_at_any_step_loses_nothing_published(indexed: Indexed, tmp_path: Path) -> None:
    """The pusher dies before or after its first write, its second, … until one push ends by itself."""
    objects = ObjectStore.open((tmp_path / "store").as_uri())
    first = push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=TEXT)
    indexed.repo.commit({"app/more.py": "def more():\n    return 2\n"})
    newer = indexed.index()
    statuses: list[int] = []
    snapshots: set[str] = set()
    with dying_pusher(indexed.store.folder.name, newer) as push_until:
        while not statuses or statuses[-1]:
            store = tmp_path / f"store-{len(statuses)}"
            shutil.copytree(tmp_path / "store", store)
            statuses.append(push_until(len(statuses) + 1, store.as_uri()))
            left = ObjectStore.open(store.as_uri())
            for head in (*left.heads("org/app").values(), *left.snapshots("org/app").values()):
                assert all(left.has(ref) for ref in left.publication(head).refs().values())
            assert left.snapshot("org/app", first.head.snapshot) == first.head
            snapshots.update(head.snapshot for head in left.heads("org/app").values())
    assert set(statuses[:-1]) == {signal.SIGKILL}
    assert len(statuses) > 10
    assert snapshots == {first.head.snapshot, newer}
