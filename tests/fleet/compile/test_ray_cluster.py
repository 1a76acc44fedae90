"""A fleet compiled by a real Ray cluster on this machine, with workers, nodes and drivers killed."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest
from tests.fleet.compile.conftest import Fleet, git_with

from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.compile.compile import CompileRequest, FleetReport, compile_fleet, silent_progress
from codenib.manifest.home import home

pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.slow]

TEXT_VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM)
_STORE = 80 << 20


class Nodes:
    """A cluster of two nodes with a CPU each, and a head without: tasks run on nodes that a test may kill."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "object_store_memory": _STORE, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address = str(self.cluster.address)
        for _ in range(2):
            self.cluster.add_node(num_cpus=1, object_store_memory=_STORE)

    def shutdown(self) -> None:
        self.cluster.shutdown()  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def shims(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the nodes' PATH, in which a test may put its own git."""
    return tmp_path_factory.mktemp("shims")


@pytest.fixture(scope="module")
def nodes(shims: Path) -> Iterator[Nodes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "token")  # before Ray is imported, which reads it once
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patch.setenv("PATH", f"{shims}:{os.environ['PATH']}")  # what the nodes inherit
        cluster = Nodes()
        yield cluster
        cluster.shutdown()


def _compile(nodes: Nodes) -> FleetReport:
    request = CompileRequest(views=TEXT_VIEWS, on=nodes.address, here_s=0.0)
    return compile_fleet(Catalogue.open(), request, silent_progress)


def _done(report: FleetReport) -> dict[str, set[str]]:
    return {each.name: {view.how for view in each.views.values()} for each in report.results}


def _shim(shims: Path, folder: Path, when: str, then: str) -> Path:
    """Let the nodes' git do something once; the file that appears when it does."""
    git_with(folder, when, then)
    (shims / "git").unlink(missing_ok=True)
    (shims / "git").symlink_to(folder / "git")
    return folder / "done"


def _wait_for(place: Path) -> None:
    while not place.exists():
        sleep(0.02)


def test_a_killed_worker_costs_only_its_unfinished_work(
    fleet: Fleet, nodes: Nodes, shims: Path, tmp_path: Path
) -> None:
    fleet(3)
    killed = _shim(shims, tmp_path / "bin", "r1.git", "kill -9 $PPID")

    first = _compile(nodes)

    assert killed.exists()
    assert first.failures == [] and "Ray" in first.on
    assert _done(first) == {"r0": {"current"}, "r1": {"built"}, "r2": {"built"}}
    assert _compile(nodes).current == 3


def test_a_killed_driver_loses_nothing_published_and_the_next_one_does_the_rest(
    fleet: Fleet, nodes: Nodes, shims: Path, tmp_path: Path
) -> None:
    fleet(3)
    go = tmp_path / "go"
    begun = _shim(shims, tmp_path / "bin", "r1.git", f"while [ ! -e {go} ]; do sleep 0.05; done")
    code = (
        "import sys\n"
        "from codenib.fleet.catalogue.catalogue import Catalogue\n"
        "from codenib.fleet.compile.compile import CompileRequest, compile_fleet, silent_progress\n"
        "from codenib.core.views import ViewKind\n"
        "views = (ViewKind.LEXICAL, ViewKind.TRIGRAM)\n"
        "request = CompileRequest(views=views, on=sys.argv[1], here_s=0.0)\n"
        "compile_fleet(Catalogue.open(), request, silent_progress)\n"
    )
    driver = subprocess.Popen([sys.executable, "-c", code, nodes.address])
    _wait_for(begun)
    driver.kill()
    driver.wait()
    go.touch()
    published = list((home() / "repos").glob("*/manifests/*.json"))

    report = _compile(nodes)

    assert len(published) >= 1
    assert report.failures == []
    assert _done(report)["r0"] == {"current"}  # the first driver's worker published it
    assert all(how <= {"built", "current"} for how in _done(report).values())
    assert set(_done(report)) == {"r0", "r1", "r2"}
    assert all(file.exists() for file in published)


def test_a_killed_node_costs_only_its_unfinished_work(
    fleet: Fleet, nodes: Nodes, shims: Path, tmp_path: Path
) -> None:
    fleet(2)
    go, raylet = tmp_path / "go", tmp_path / "raylet"
    # A worker is a child of its node's daemon.
    tell = (
        f"sed -n 's/^PPid:[[:space:]]*//p' /proc/$PPID/status > {raylet}.new; "
        f"echo $PPID >> {raylet}.new; mv {raylet}.new {raylet}"
    )
    _shim(shims, tmp_path / "bin", "r1.git", f"{tell}; while [ ! -e {go} ]; do sleep 0.05; done")

    def kill_node() -> None:
        _wait_for(raylet)
        node, worker = map(int, raylet.read_text().split())
        for process in (node, worker):  # a machine that is lost takes both
            os.kill(process, signal.SIGKILL)
        go.touch()

    thread = threading.Thread(target=kill_node)
    thread.start()
    report = _compile(nodes)
    thread.join()

    assert report.failures == []
    assert _done(report) == {"r0": {"current"}, "r1": {"built"}}
