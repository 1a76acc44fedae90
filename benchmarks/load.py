"""Many clients over HTTP for minutes, with edits going on, and every answer checked.

    python -m benchmarks.load CLONE [--clients 200] [--minutes 10] [--edit-every 2]

CLONE is a git clone that may be edited; what is put in is taken out at the end. One more thread edits one of
ten files every few seconds: a function with a new name takes the old one's place. A client that asks after an
edit must be told of the new name by `search` (words and pattern), `definition`, `explore` and `read`, and no
answer may say of itself that it is stale. Prints each half minute what is resident, how many descriptors are
open and the latencies; at the end errors, stale answers, refusals and p99/p50. Ends with 1 when there was an
error or a stale answer.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.served import Connection, Reply, Served, percentile, serving

_FOLDER = "load_probe"
_FILES = 10
_REPORT_S = 30.0


@dataclass
class Repository:
    """Files that change, and which name each has had since when (monotonic)."""

    folder: Path
    names: list[str] = field(default_factory=lambda: [""] * _FILES)
    since: list[float] = field(default_factory=lambda: [0.0] * _FILES)
    lock: threading.Lock = field(default_factory=threading.Lock)
    edits: int = 0

    def edit(self, chance: random.Random) -> None:
        """Put a function with a new name in the place of a file's old one."""
        number = chance.randrange(_FILES)
        self.edits += 1
        name = f"probe_{number}_{self.edits}_{chance.randrange(10**9)}"
        with self.lock:  # while it is written neither name is the right answer
            self.since[number] = float("inf")
        file = self.folder / f"probe_{number}.py"
        new = file.with_suffix(".new")
        new.write_text(f"def {name}(value):\n    return value\n", encoding="utf-8")
        new.replace(file)
        with self.lock:
            self.names[number], self.since[number] = name, time.monotonic()


@dataclass
class Tally:
    """What the clients saw."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    times: dict[str, list[float]] = field(default_factory=dict)
    recent: list[float] = field(default_factory=list)
    wrong: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    checked: int = 0

    def take(self, tool: str, reply: Reply) -> None:
        with self.lock:
            self.times.setdefault(tool, []).append(reply.seconds)
            self.recent.append(reply.seconds)

    def fail(self, kind: str, what: str) -> None:
        with self.lock:
            self.wrong[kind] += 1
            self.examples = [*self.examples[:9], f"{kind}: {what[:300]}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--edit-every", type=float, default=2.0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that a client waits between calls")
    options = parser.parse_args()
    root: Path = options.clone.resolve()
    folder = root / _FOLDER
    folder.mkdir()
    repository, chance = Repository(folder), random.Random(1)
    try:
        while not all(repository.names):
            repository.edit(chance)
        with serving(root, options.clients) as served:
            return _run(served, repository, options)
    finally:
        shutil.rmtree(folder)


def _run(served: Served, repository: Repository, options: argparse.Namespace) -> int:
    tally, stop = Tally(), threading.Event()
    threads = [
        threading.Thread(target=_client, args=(served, number, repository, tally, stop, options.pause))
        for number in range(options.clients)
    ]
    threads.append(threading.Thread(target=_editor, args=(repository, stop, options.edit_every)))
    started = time.monotonic()
    for thread in threads:
        thread.start()
    try:
        while time.monotonic() < started + 60 * options.minutes and served.process.poll() is None:
            time.sleep(min(_REPORT_S, 60 * options.minutes))
            _report_now(served, tally, time.monotonic() - started)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return _report(served, repository, tally, time.monotonic() - started)


def _editor(repository: Repository, stop: threading.Event, every_s: float) -> None:
    chance = random.Random(2)
    while not stop.wait(every_s):
        repository.edit(chance)


def _client(
    served: Served, number: int, repository: Repository, tally: Tally, stop: threading.Event, pause_s: float
) -> None:
    chance = random.Random(number)
    client = served.connect(number)
    while not stop.wait(pause_s * chance.uniform(0.5, 1.5)):
        try:
            _ask(client, chance, repository, tally)
        except OSError as error:
            tally.fail("connection", repr(error))
            client.close()
            client = served.connect(number)
    client.close()


def _ask(client: Connection, chance: random.Random, repository: Repository, tally: Tally) -> None:
    """One call, and whether its answer is of the files as they were when it was asked, or later."""
    tool = chance.choice(["search", "search", "regex", "definition", "read", "read", "explore", "tools/list"])
    probe = chance.randrange(_FILES)
    asked = time.monotonic()
    with repository.lock:
        name, since = repository.names[probe], repository.since[probe]
    path = f"{_FOLDER}/probe_{probe}.py"
    if tool == "tools/list":
        reply = client.ask(tool)
    elif tool == "read":
        reply = client.call("read", {"path": path})
    elif tool == "explore":
        reply = client.call("explore", {"query": f"what does {name} return", "max_tokens": 1000})
    elif tool == "definition":
        reply = client.call("definition", {"name": name})
    elif tool == "regex":
        reply = client.call("grep", {"pattern": name, "k": 5})
    else:
        reply = client.call("search", {"query": name, "k": 5})
    busy = reply.status == 200 and "the server is busy" in reply.text
    if busy or reply.status in (429, 503):
        if reply.retry_after is None and not busy:
            tally.fail("refusal without Retry-After", reply.text)
        with tally.lock:
            tally.refused["busy" if busy else str(reply.status)] += 1
        time.sleep(float(reply.retry_after or 1))
        return
    tally.take(tool, reply)
    with repository.lock:
        same = repository.names[probe] == name and repository.since[probe] == since and since <= asked
    if not reply.answered and (same or tool in ("tools/list", "explore")):
        tally.fail("error", f"{tool}: {reply.status} {reply.text}")
    elif tool != "tools/list" and reply.answered and reply.facts["freshness"]["state"] == "stale":
        tally.fail("stale by its own word", f"{tool}: {reply.text}")
    elif same and tool != "tools/list":
        with tally.lock:
            tally.checked += 1
        if name not in reply.text or (tool in ("search", "regex") and path not in reply.text):
            tally.fail("stale", f"{tool} of {name} in {path}: {reply.text}")


def _report_now(served: Served, tally: Tally, at_s: float) -> None:
    with tally.lock:
        recent, tally.recent = tally.recent, []
    resident, own = served.resident_mb()
    middle, last = percentile(recent, 0.5), percentile(recent, 0.99)
    print(
        f"{at_s:5.0f} s: {len(recent)} calls, p50 {1000 * middle:.0f} ms, p99 {1000 * last:.0f} ms;"
        f" {resident:.0f} MB resident, {own:.0f} MB its own; {served.descriptors()} descriptors,"
        f" {served.threads()} threads; {sum(tally.wrong.values())} wrong",
        flush=True,
    )


def _report(served: Served, repository: Repository, tally: Tally, took_s: float) -> int:
    everything = [value for values in tally.times.values() for value in values]
    for tool, values in sorted(tally.times.items()):
        middle, last = percentile(values, 0.5), percentile(values, 0.99)
        print(f"{tool}: n {len(values)}, p50 {1000 * middle:.0f} ms, p99 {1000 * last:.0f} ms")
    middle, last = percentile(everything, 0.5), percentile(everything, 0.99)
    print(
        f"{len(everything):,} calls in {took_s:.0f} s, {repository.edits} edits, {tally.checked:,} answers"
        f" compared with the files; p50 {1000 * middle:.0f} ms, p99 {1000 * last:.0f} ms"
        f" ({last / middle if middle else 0:.1f}×); refused {dict(tally.refused)}; wrong {dict(tally.wrong)}"
    )
    for line in tally.examples:
        print(f"  {line}")
    return 1 if tally.wrong or served.process.poll() is not None else 0


if __name__ == "__main__":
    sys.exit(main())
