"""The store of a fleet on a real S3 server, measured: races for a head, the first answer of a cold reader.

    python -m benchmarks.fleet_store races --store s3://fleet/races --races 1000 --writers 8
    python -m benchmarks.fleet_store push --store s3://fleet/x --repository django/django PATH
    python -m benchmarks.fleet_store read --store s3://fleet/x --repository django/django --cache FOLDER

`read` is to be run in a new process each time. Each prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import secrets
import statistics
import time
from pathlib import Path

import msgspec

from codenib.core.requests import CURRENT
from codenib.fleet.store.layout import FleetHead, ObjectRef, head_path
from codenib.fleet.store.objects import ObjectStore


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("races", "push", "read"))
    parser.add_argument("path", nargs="?", default=".")
    parser.add_argument("--store", required=True)
    parser.add_argument("--repository", default="org/app")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--races", type=int, default=1000)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--query", default="how are migrations ordered by their dependencies")
    options = parser.parse_intermixed_args()
    print(json.dumps({"races": races, "push": push_one, "read": read_one}[options.what](options)))


def races(options: argparse.Namespace) -> dict[str, object]:
    """All writers read the same head and try to replace it: how many won each race, and what is left."""
    name = f"race-{secrets.token_hex(4)}"
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(options.writers), context.Queue()
    started = time.perf_counter()
    workers = [
        context.Process(target=_race, args=(options.store, name, options.races, (number, barrier, results)))
        for number in range(options.writers)
    ]
    for worker in workers:
        worker.start()
    wins = [row for _ in workers for row in results.get()]
    for worker in workers:
        worker.join()
    counts = [wins.count(race) for race in range(options.races)]
    head = ObjectStore.open(options.store).head("org/app", name)
    return {
        "races": options.races,
        "writers": options.writers,
        "winners": {number: counts.count(number) for number in sorted(set(counts))},
        "generation": head.generation if head else 0,
        "seconds": round(time.perf_counter() - started, 1),
    }


def _race(store: str, name: str, count: int, place: tuple[int, object, object]) -> None:
    number, barrier, results = place
    objects, path = ObjectStore.open(store), head_path("org/app", name)
    wins = []
    for race in range(count):
        barrier.wait()  # type: ignore[attr-defined]
        stored = objects.backend.read(path)
        now = msgspec.json.decode(stored[0], type=FleetHead) if stored else None
        ours = FleetHead(ObjectRef("0" * 64, 1), f"{race}-{number}", None, 0, {}).after(
            now, f"{race}-{number}"
        )
        barrier.wait()  # type: ignore[attr-defined]
        if objects.backend.replace(path, msgspec.json.encode(ours), stored[1] if stored else ""):
            wins.append(race)
    results.put(wins)  # type: ignore[attr-defined]


def push_one(options: argparse.Namespace) -> dict[str, object]:
    """Push the snapshot of a repository that is indexed."""
    from codenib.fleet.store.publish import push
    from codenib.manifest.store import Store
    from codenib.serving.workspace import Workspace
    from codenib.snapshot.repository import locate

    with Workspace(options.path) as workspace:
        snapshot = workspace.reader.snapshot(CURRENT).id
    started = time.perf_counter()
    pushed = push(
        ObjectStore.open(options.store), options.repository, Store(locate(Path(options.path)).key), snapshot,
        refs=["main"],
    )  # fmt: skip
    took = round(time.perf_counter() - started, 2)
    return {"seconds": took, "objects": pushed.sent_objects, "bytes": pushed.sent_bytes, **pushed.head.views}


def read_one(options: argparse.Namespace) -> dict[str, object]:
    """From opening to the first answers of this process, then the same question again."""
    from codenib.fleet.store.cache import LocalCache
    from codenib.fleet.store.reader import FleetReader

    started = time.perf_counter()
    reader = FleetReader(ObjectStore.open(options.store), LocalCache(options.cache, 20 << 30))
    with reader.open(options.repository) as workspace:
        opened = time.perf_counter()
        answer = workspace.search(options.query)
        texts = sum(len(item.text) for item in answer)
        first = time.perf_counter()
        again = []
        for _ in range(20):
            before = time.perf_counter()
            workspace.search(options.query)
            again.append(time.perf_counter() - before)
    return {
        "open_s": round(opened - started, 3),
        "first_answer_s": round(first - started, 3),
        "warm_ms": round(statistics.median(again) * 1000, 1),
        "best": f"{answer[0].path}:{answer[0].start_line}",
        "characters": texts,
    }


if __name__ == "__main__":
    main()
