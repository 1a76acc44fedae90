"""What a server has open: within its memory, never without what a call uses, and every call gets its turn."""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random

from codenib.adapters.mcp.open_repositories import OpenRepositories
from codenib.fleet.scheduler.uses import read_uses


class Site:
    """A repository that is open or not, and must never be closed while it is used."""

    def __init__(self, key: str, size: float, reopen_s: float = 0.1) -> None:
        self.key, self._size, self._reopen_s = key, size, reopen_s
        self.users = self.opened = 0
        self.is_open = False

    def need_bytes(self) -> float:
        return self._size

    def open_bytes(self) -> float:
        return self._size if self.is_open else 0.0

    def opening_s(self) -> float:
        return self._reopen_s if self.is_open else 0.0

    def release(self) -> Callable[[], None]:
        assert self.users == 0
        self.is_open = False
        return lambda: None

    def open(self) -> None:
        self.opened += not self.is_open
        self.is_open = True


def test_many_threads_over_more_than_fits_keep_to_the_budget_and_all_end() -> None:
    sites = [Site(str(number), size) for number, size in enumerate((60, 50, 40, 30, 20, 10, 150))]
    opened = OpenRepositories(100)
    lock, wrong, done = threading.Lock(), [], []

    def work(seed: int) -> None:
        chance = Random(seed)
        for _ in range(60):
            site = chance.choice(sites)
            with opened.using(site):
                with lock:
                    site.users += 1
                    site.open()
                    taken = [each for each in sites if each.users]
                    total = sum(each.open_bytes() for each in taken)
                    if total > 100 and len(taken) > 1:
                        wrong.append(total)
                with lock:
                    site.users -= 1
            if opened.size_bytes > 150:
                wrong.append(opened.size_bytes)
        done.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (sorted(done), wrong) == (list(range(8)), [])
    assert opened.evicted > 0


def test_a_call_that_needs_what_is_in_use_gets_it_though_others_go_on_asking() -> None:
    """Without a queue, calls that come for what is open would keep it open for ever."""
    small, large = Site("small", 60), Site("large", 80)
    opened = OpenRepositories(100)
    began, got, after = threading.Event(), threading.Event(), threading.Event()

    def want_large() -> None:
        began.set()
        with opened.using(large):
            large.open()
            got.set()

    def want_small_again() -> None:
        with opened.using(small):
            assert got.is_set()  # it came later, and waited behind
            after.set()

    with opened.using(small):
        small.open()
        first = threading.Thread(target=want_large)
        first.start()
        assert began.wait(20)
        while not opened.waiting:
            pass
        second = threading.Thread(target=want_small_again)
        second.start()
        while opened.waiting < 2:
            pass
        assert not got.is_set()
    assert got.wait(20) and after.wait(20)
    first.join(20)
    second.join(20)


def test_what_was_asked_often_and_costs_most_is_opened_first_after_a_start_within_the_budget() -> None:
    sites = {
        key: Site(key, size, cost) for key, size, cost in (("a", 60, 1.0), ("b", 60, 0.1), ("c", 30, 0.1))
    }
    before = OpenRepositories(1000)
    for key, uses in (("a", 5), ("b", 5), ("c", 1)):
        for _ in range(uses):
            with before.using(sites[key]):
                sites[key].open()
    before.save()
    assert set(read_uses()) == {"a", "b", "c"}
    after = OpenRepositories(100)
    assert after.preload(sites) == ["a", "c"]  # b would not fit beside a
    assert OpenRepositories(100).preload({"b": sites["b"]}) == ["b"]  # what is not served is not opened


def test_a_damaged_memory_of_uses_opens_nothing_and_is_no_error() -> None:
    from codenib.serving.installation import home_file

    home_file("serve-uses.json").parent.mkdir(parents=True, exist_ok=True)
    home_file("serve-uses.json").write_bytes(b"{damaged")
    assert OpenRepositories(100).preload({"a": Site("a", 1)}) == []
