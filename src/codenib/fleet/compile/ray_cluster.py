"""Batches in, results out, by tasks of a Ray cluster; the only module that imports Ray.

Workers import the installed package: no working directory is copied to them, and the driver's current folder,
which may be a stranger's repository, is not on their path. Ray repeats what a lost worker or node was doing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import sys
from typing import TYPE_CHECKING, Any

from codenib.core.errors import InputError, ProviderError, extra_hint
from codenib.fleet.compile.build import run_order
from codenib.fleet.compile.executor import FinishedBatch, order_of
from codenib.fleet.compile.task import TaskBatch, decode_order, decode_results, encode_order, encode_results
from codenib.manifest.home import home

if TYPE_CHECKING:
    from types import ModuleType

#: How often Ray repeats a task whose worker or node was lost.
_RETRIES = 3
_MEMORY_SHARE = 0.8  # of the largest node that one task may ask for
_OBJECT_STORE = 128 << 20  # what travels is small: the views stay where they are built
_NOTE = "codenib fleet index --on local"
_TOKEN = "ray status --address HOST:PORT, and set RAY_AUTH_MODE and RAY_AUTH_TOKEN if the cluster has a token"


def run_batch(order: bytes) -> bytes:
    """What a task does, on a node of the cluster."""
    return encode_results(run_order(decode_order(order)))


class RayTasks:
    """Tasks of the cluster at `address`: `ray://…`, `auto`, HOST:PORT, or `ray` for one of this run alone."""

    def __init__(self, address: str) -> None:
        self._ray = _import_ray(address)
        self._connect(address)
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        self._most_cpus = max((int(node.get("CPU", 0)) for node in nodes), default=0)
        if not self._most_cpus:
            self.close()
            raise ProviderError(f"the cluster {address} has no node with a CPU", hint=_NOTE)
        self._most_memory = int(max(node.get("memory", 0) for node in nodes) * _MEMORY_SHARE)
        self._resources = {name for node in nodes for name in node}
        self.workers = sum(int(node.get("CPU", 0)) for node in nodes)
        self.where = f"Ray {self._ray.__version__}, {len(nodes)} nodes with {self.workers} CPUs"
        self._remote = self._ray.remote(run_batch)
        self._batches: dict[Any, TaskBatch] = {}  # by the reference of a task's result

    def submit(self, batch: TaskBatch) -> None:
        cpus = max(1, min(batch.cpus, self._most_cpus))
        options: dict[str, Any] = {
            "num_cpus": cpus,
            "memory": min(batch.memory_bytes, self._most_memory),
            "max_retries": _RETRIES,
            "name": batch.tasks[0].entry.name
            if len(batch.tasks) == 1
            else f"{len(batch.tasks)} repositories",
            # A cluster where no node says that it has engines builds what it can anywhere.
            "resources": {name: 0.01 for name in batch.engines if name in self._resources},
        }
        order = encode_order(order_of(batch, cpus))
        self._batches[self._remote.options(**options).remote(order)] = batch

    def next_finished(self) -> FinishedBatch:
        done, _ = self._ray.wait(list(self._batches), num_returns=1)
        batch = self._batches.pop(done[0])
        try:
            return FinishedBatch(batch, tuple(decode_results(self._ray.get(done[0]))))
        except self._ray.exceptions.RayError as error:
            return FinishedBatch(batch, lost=_first_line(error))

    def close(self) -> None:
        """Leave the cluster: what still runs there for this driver ends."""
        self._ray.shutdown()

    def _connect(self, address: str) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address == "ray":
            options |= {"address": "local", "include_dashboard": False, "object_store_memory": _OBJECT_STORE}
        else:
            options["address"] = address
        safe = home() / "fleet"
        safe.mkdir(parents=True, exist_ok=True)
        try:
            with contextlib.chdir(safe):  # Ray puts the driver's current folder on the path of its workers
                self._ray.init(**options)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            what = f"no Ray cluster answers at {address}: {_first_line(error)}"
            client = "pip install 'ray[client]', or --on HOST:PORT" if "ray[client]" in str(error) else ""
            raise ProviderError(what, hint=client or (_TOKEN if address != "ray" else _NOTE)) from error


def _import_ray(address: str) -> ModuleType:
    """Ray, with what it reads when it is imported."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # it reports its use to its makers unless told not to
    if address == "ray" and "RAY_AUTH_MODE" not in os.environ and "ray" not in sys.modules:
        # Else Ray would write a token into the user's home, for all clusters to come.
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # its future default, else a warning
    try:
        import ray
    except ImportError as error:
        raise InputError("a cluster needs the library Ray", hint=extra_hint("fleet")) from error
    return ray


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__
