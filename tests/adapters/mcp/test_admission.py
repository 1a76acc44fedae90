"""Builds beside a server wait for their turn, and what they took is remembered."""

from __future__ import annotations

import threading

import pytest
from tests.gitrepo import GitRepo

from codenib.adapters.mcp.admission import BuildAdmission
from codenib.core.errors import StateError
from codenib.fleet.compile.records import MeasuredCost
from codenib.fleet.scheduler.admit import BuildBudget, BuildNeed


def test_builds_run_within_the_budget_and_all_of_them_run() -> None:
    admission = BuildAdmission(BuildBudget(cpus=2, memory_bytes=100))
    lock, most, done = threading.Lock(), [0.0], []

    def build(number: int) -> None:
        with admission.admitted(BuildNeed(1 + number % 3, 20.0 * (number % 4))) as processors:
            with lock:
                most[0] = max(most[0], admission.memory_bytes)
                done.append(processors)
            assert admission.running <= 2

    threads = [threading.Thread(target=build, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(done) == 24
    assert set(done) == {1, 2}  # what asked for three got what there is
    assert most[0] <= 100
    assert (admission.running, admission.waiting) == (0, 0)


def test_a_first_index_passes_what_nobody_waits_for() -> None:
    admission, order = BuildAdmission(BuildBudget(1, 100)), []

    def build(name: str, need: BuildNeed) -> None:
        with admission.admitted(need):
            order.append(name)

    with admission.admitted(BuildNeed(1, 10.0)):
        threads = []
        for name, need in (("vectors", BuildNeed(1, 10.0)), ("first", BuildNeed(1, 10.0, "interactive"))):
            threads.append(threading.Thread(target=build, args=(name, need)))
            threads[-1].start()
            while admission.waiting < len(threads):
                pass
    for thread in threads:
        thread.join(20)
    assert order == ["first", "vectors"]


def test_a_build_that_waits_gives_up_when_the_server_ends() -> None:
    admission = BuildAdmission(BuildBudget(1, 100))
    with (
        admission.admitted(BuildNeed(1, 10.0)),
        pytest.raises(StateError),
        admission.admitted(BuildNeed(1, 10.0), given_up=lambda: True),
    ):
        pass
    with admission.admitted(BuildNeed(1, 10.0)):  # nobody is in its way
        assert admission.running == 1


def test_what_a_build_took_is_what_the_next_one_needs_also_of_another_server(shop: GitRepo) -> None:
    admission = BuildAdmission(BuildBudget(4, 1e9))
    guess = admission.need_of(shop.path, "background")
    assert guess.memory_bytes > 256 << 20  # a floor, and something for the files
    admission.measured(shop.path, MeasuredCost(cpu_s=130.0, peak_bytes=10_000_000))
    known = BuildAdmission(BuildBudget(4, 1e9)).need_of(shop.path, "background")
    assert (known.cpus, known.memory_bytes) == (3, 12_500_000)
