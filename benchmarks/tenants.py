"""Two tenants under load: no answer of the other's code, no error, equal shares, memory within a cap.

    python -m benchmarks.tenants --red CLONE [CLONE…] --blue CLONE [CLONE…] [--clients 64] [--minutes 10]
        [--open-mb 20] [--patience 2] [--expensive]

Three of four clients are red's, so shares are equal only where the server sees to it. Each clone is copied
and has a file of its own with a name that nobody else has. Clients ask for their own names and for the
other's; an answer of another repository's snapshot, file or name is a leak. Shares are of the time that calls
had their turn, by the server's audit log. `--open-mb` is the server's memory for open repositories: with less
than all of them take, they are closed and opened again. `--expensive` asks long questions alone, and so more
than the server can answer: what counts then is that p99 stays near `--patience`, and that every answer by a
cheaper plan says so. Ends with 1 where there was a leak, an error, an answer that got less without saying so,
shares that differ by more than 20 % or memory over the cap.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.served import Connection, Reply, Served, percentile, serving
from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.fleet.scheduler.measured import recorded_trace
from codenib.fleet.scheduler.trace import write_trace
from codenib.fleet.tenants.audit import AuditRow, read_audit
from codenib.fleet.tenants.grant import Grant

_WORDS = (
    "open a connection",
    "parse the header",
    "route of a request",
    "default value",
    "error message",
    "close",
)
#: Long texts, as issues are: their order is the most expensive one.
_LONG = (
    "When a client closes the connection before the response was read completely the worker keeps the socket"
    " open, and after some hundred such requests no further one is accepted. Expected: the connection is"
    " released and an error is logged. The stack trace ends where the next chunk of the body is read",
    "Headers that a middleware sets are lost when the handler raises, because the error response is made from"
    " nothing. It should keep what was set before, at least cookies and cache control, as the documentation"
    " says that functions after the request always run. Reproduced with the latest version",
    "The default timeout is applied to the whole request though the documentation says that it is for one"
    " read. A slow but steady download therefore fails, with a message that names the wrong option, and"
    " retries begin from the first byte. Please make both limits configurable and name them in the error",
)
_MOST_APART = 0.2


@dataclass(frozen=True)
class Owned:
    """A repository of a tenant: its copy, the name that it alone has, and its files."""

    tenant: str
    root: Path
    marker: str
    files: frozenset[str]
    commit: str

    @property
    def sources(self) -> list[str]:
        """Files that can be read: those that hold secrets by their name cannot."""
        return sorted(file for file in self.files if file.endswith((".py", ".go")))


@dataclass
class Tally:
    """What the clients saw."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # by tenant
    wrong: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    cheaper: int = 0
    most_mb: float = 0.0
    open_mb: float = 0.0
    numbers: dict[str, float] = field(default_factory=dict)  # of the server, at the end

    def fail(self, kind: str, what: str) -> None:
        with self.lock:
            self.wrong[kind] += 1
            self.examples = [*self.examples[:9], f"{kind}: {what[:300]}"]


#: One call of a client: its connection, chance, repository, all repositories, and what is counted.
Ask = Callable[[Connection, random.Random, Owned, list[Owned], Tally], None]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--red", type=Path, nargs="+", required=True)
    parser.add_argument("--blue", type=Path, nargs="+", required=True)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--memory-mb", type=float, default=1500.0)
    parser.add_argument("--open-mb", type=int, help="the server's memory for open repositories")
    parser.add_argument("--patience", type=int, help="seconds that the server lets a call wait")
    parser.add_argument("--expensive", action="store_true", help="ask long questions alone")
    parser.add_argument("--record", type=Path, help="write the calls here, for codenib fleet simulate")
    options = parser.parse_args()
    for name, value in (("MEMORY_MB", options.open_mb), ("PATIENCE_S", options.patience)):
        if value:
            os.environ[f"CODENIB_SERVE_{name}"] = str(value)
    with tempfile.TemporaryDirectory() as folder:
        owned = [
            _copy(clone, Path(folder) / tenant, tenant)
            for tenant, clones in (("red", options.red), ("blue", options.blue))
            for clone in clones
        ]
        red = [each for each in owned if each.tenant == "red"]
        blue = [each for each in owned if each.tenant == "blue"]
        # Three clients of red to one of blue; of its repositories the n-th has 1/n as many as the first.
        turns = [_shared_out(red if at % 4 else blue, at) for at in range(options.clients)]
        grants = [Grant(tenant=each.tenant, repositories=(str(each.root),)) for each in turns]
        more = [word for each in owned[1:] for word in ("--repo", str(each.root))]
        began = time.time()
        known = AccessTokens()
        row, operator = known.create(f"benchmark {os.getpid()}", grant=Grant(), metrics=True)
        with serving(owned[0].root, options.clients, "--metrics", *more, grants=grants) as served:
            ask = _ask_long if options.expensive else _ask
            tally = _run(served, turns, owned, options.minutes, ask=ask, operator=operator)
            alive = served.process.poll() is None
        known.revoke(row.id)
        if options.record:
            write_trace(recorded_trace(), options.record)
        return _report(tally, began, options.memory_mb, alive)


def _shared_out(repositories: list[Owned], client: int) -> Owned:
    weights = [1 / number for number in range(1, len(repositories) + 1)]
    return random.Random(client).choices(repositories, weights)[0]


def _copy(clone: Path, folder: Path, tenant: str) -> Owned:
    root = folder / clone.resolve().name.removesuffix(".git").split("+")[-1]
    subprocess.run(["git", "clone", "--quiet", str(clone), str(root)], check=True)
    marker = f"only_{tenant}_has_{root.name.replace('-', '_')}_{random.Random(tenant).randrange(10**9)}"
    (root / f"{marker}.py").write_text(f"def {marker}(value):\n    return value\n", encoding="utf-8")
    identity = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost"]
    for words in (["add", "."], [*identity, "commit", "--quiet", "-m", "a name of its own"]):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], check=True, capture_output=True, text=True)
    head = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    return Owned(tenant, root.resolve(), marker, frozenset(listed.stdout.splitlines()), head.stdout.strip())


def _run(
    served: Served, turns: list[Owned], owned: list[Owned], minutes: float, *, ask: Ask, operator: str
) -> Tally:
    tally, stop = Tally(), threading.Event()

    def client(number: int, mine: Owned) -> None:
        chance, connection = random.Random(number), served.connect(number)
        while not stop.is_set():
            try:
                ask(connection, chance, mine, owned, tally)
            except OSError as error:
                tally.fail("connection", repr(error))
                connection.close()
                connection = served.connect(number)
        connection.close()

    threads = [threading.Thread(target=client, args=(number, mine)) for number, mine in enumerate(turns)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    while time.monotonic() < started + 60 * minutes and served.process.poll() is None:
        time.sleep(1.0)
        tally.most_mb = max(tally.most_mb, served.resident_mb()[0])
        tally.numbers = _numbers(served.port, operator)
        tally.open_mb = max(tally.open_mb, tally.numbers.get("codenib_open_bytes", 0.0) / 1e6)
    stop.set()
    for thread in threads:
        thread.join()
    return tally


def _numbers(port: int, operator: str) -> dict[str, float]:
    """What the server says of itself, where it has time to."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {operator}"})
        answer = connection.getresponse()
        rows = (line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if line[:1] != "#")
        return {name: float(value) for name, value in rows} if answer.status == 200 else {}
    finally:
        connection.close()


def _ask(client: Connection, chance: random.Random, mine: Owned, owned: list[Owned], tally: Tally) -> None:
    """One call, and whether all of its answer is of the client's own repository."""
    other = chance.choice([each for each in owned if each is not mine])
    name = chance.choice([mine.marker, other.marker, chance.choice(_WORDS)])
    tool = chance.choice(["search", "search", "explore", "grep", "definition", "read", "outline"])
    arguments: dict[str, object] = {
        "search": {"query": name, "k": 5},
        "explore": {"query": name, "max_tokens": 1000},
        "grep": {"pattern": name, "k": 5},
        "definition": {"name": name},
        "read": {"path": f"{name}.py" if "_" in name else chance.choice(mine.sources)},
        "outline": {"path": "."},
    }[tool]  # type: ignore[assignment]
    reply = client.call(tool, arguments)
    if not _refused(reply, mine, tally):
        _check(reply, tool, name, mine, owned, tally)


def _ask_long(
    client: Connection, chance: random.Random, mine: Owned, owned: list[Owned], tally: Tally
) -> None:
    """A long question, which no answer is in anybody's cache for."""
    tool = chance.choice(["search", "explore"])
    query = f"{chance.choice(_LONG)} {chance.choice(_WORDS)} {chance.randrange(10**6)}"
    reply = client.call(tool, {"query": query})
    if not _refused(reply, mine, tally):
        _check(reply, tool, query, mine, owned, tally)


def _refused(reply: Reply, mine: Owned, tally: Tally) -> bool:
    """Whether a client is told to come back later; it does. Else the answer is counted."""
    busy = reply.status == 200 and "the server is busy" in reply.text and not reply.answered
    if busy or reply.status in (429, 503):
        if reply.retry_after is None and not busy:
            tally.fail("refusal without Retry-After", reply.text)
        with tally.lock:
            tally.refused["busy" if busy else str(reply.status)] += 1
        time.sleep(min(float(reply.retry_after or 1), 5.0))
        return True
    with tally.lock:
        tally.times[mine.tenant].append(reply.seconds)
        tally.cheaper += "the server is busy" in reply.text
    return False


def _check(reply: Reply, tool: str, name: str, mine: Owned, owned: list[Owned], tally: Tally) -> None:
    expected = name in (each.marker for each in owned if each is not mine)
    if not reply.answered:
        missing = expected and tool in ("read", "definition")
        if not missing and not (tool == "definition" and name in _WORDS):
            tally.fail("error", f"{tool} {name}: {reply.status} {reply.text}")
        return
    said = reply.text.replace(name, "") if expected else reply.text  # an answer may repeat the question
    for each in owned:
        if each is not mine and each.marker in said:
            tally.fail("leak of a name", f"{tool} {name} in {mine.root.name}: {reply.text}")
    paths = {
        item["path"] for item in reply.facts.get("items", ()) if isinstance(item, dict) and "path" in item
    }
    if strange := [path for path in paths if path.rstrip("/") not in mine.files and not _folder(path, mine)]:
        tally.fail("leak of a file", f"{tool} {name} in {mine.root.name}: {strange}")
    if expected and any(name in path for path in paths):
        tally.fail("leak of a file", f"{tool} {name} in {mine.root.name}: {paths}")
    if reply.facts.get("snapshot", {}).get("commit", mine.commit) != mine.commit:
        tally.fail("leak of a snapshot", f"{tool}: {reply.facts['snapshot']}")
    if name == mine.marker and tool in ("search", "grep", "definition") and name not in reply.text:
        tally.fail("own name not found", f"{tool} {name}: {reply.text}")


def _folder(path: str, mine: Owned) -> bool:
    return any(file.startswith(f"{path.rstrip('/')}/") for file in mine.files)


def _report(tally: Tally, began: float, memory_mb: float, alive: bool) -> int:
    rows = [row for row in read_audit() if row.time >= began and row.tool and row.tenant in ("red", "blue")]
    served: dict[str, float] = defaultdict(float)
    for row in rows:
        served[row.tenant] += row.served_ms / 1000
    for tenant in ("red", "blue"):
        values, waits = tally.times[tenant], [row.waited_ms / 1000 for row in rows if row.tenant == tenant]
        print(
            f"{tenant}: {len(values):,} answers, p50 {1000 * percentile(values, 0.5):.0f} ms, "
            f"p99 {1000 * percentile(values, 0.99):.0f} ms, "
            f"waited p50 {1000 * percentile(waits, 0.5):.0f} ms; "
            f"turns of {served[tenant]:.1f} s"
        )
    less = sum(row.plan == "cheaper" and row.outcome == "answered" for row in rows)
    if less > tally.cheaper:  # what was cut off at the end has a row and no reader
        cut_off = sum(row.outcome == "cancelled" for row in rows)
        if less - cut_off > tally.cheaper:
            tally.fail("less without a label", f"{less} answers by a cheaper plan, {tally.cheaper} say so")
    apart = abs(served["red"] - served["blue"]) / max(served["red"], served["blue"], 1e-9)
    print(
        f"turns differ by {apart:.1%}; at most {tally.most_mb:.0f} MB resident (cap {memory_mb:.0f}); "
        f"refused {dict(tally.refused)}; cheaper plans {less}, labelled {tally.cheaper}; "
        f"wrong {dict(tally.wrong)}"
    )
    opened, closed, budget = (
        tally.numbers.get(f"codenib_{name}", 0.0) for name in ("opened", "evicted", "open_budget_bytes")
    )
    print(
        f"opened {opened:.0f}, closed {closed:.0f}; open at most {tally.open_mb:.1f} of {budget / 1e6:.0f} MB"
    )
    for line in tally.examples:
        print(f"  {line}")
    _print_kinds(rows)
    return 1 if tally.wrong or apart > _MOST_APART or tally.most_mb > memory_mb or not alive else 0


def _print_kinds(rows: list[AuditRow]) -> None:
    for tool in sorted({row.tool for row in rows}):
        values = [row.served_ms / 1000 for row in rows if row.tool == tool]
        print(f"  {tool}: n {len(values)}, its turn p50 {1000 * percentile(values, 0.5):.1f} ms")


if __name__ == "__main__":
    sys.exit(main())
