"""Fifty hostile requests at once, and what another client waits meanwhile.

    python -m benchmarks.hostile CLONE [--only NAME …] [--at-once 50]

CLONE is a git clone that may be edited: a folder of hostile files is put in, and taken out at the end. Each
request is asked once alone and then by many clients at once, while one more client calls `tools/list` and
`read` in turn. A row has the seconds of the request alone and of all together, what became of them, and the
longest `tools/list` and `read`, also as multiples of the same on the idle server. Ends with 1 when a
`tools/list` took more than a second, or a request had no answer.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.served import Reply, Served, percentile, serving

_FOLDER = "hostile_requests"
_BAR_S = 1.0
_PAUSE_S = 0.02  # between the calls of the client that is measured


def _regex(pattern: str) -> tuple[str, dict[str, Any]]:
    return "search_regex", {"pattern": pattern}


def _search(query: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "search", {"query": query, "k": 200, "max_tokens": 100_000, **more}


_LONG = 19_990
#: Name → tool and arguments.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "regex (a+)+$": _regex("(a+)+$"),
    "regex (a|aa)+$": _regex("(a|aa)+$"),
    "regex .*.*.*x": _regex(".*.*.*.*=.*.*#"),
    "regex backreference": _regex(r"(.*)(.*)(.*)\1\2\3#"),
    "regex lookbehind": _regex(r"(?<=(a+)+b)c"),
    "regex fuzzy": _regex("(?:abcdefghijklmnop){e<=7}"),
    "regex every line": _regex("."),
    "regex 10,000 characters": _regex("(a?b)" * 1999),
    "regex large counts": _regex("(?:" + "[a-z0-9_]{1,90}" * 90 + "){1,9}#"),
    "regex alternatives": _regex("|".join(f"a{n}z+" for n in range(1400))),
    "regex set": _regex("[" + "".join(chr(0x4E00 + n) for n in range(9000)) + "]"),
    "regex recursive": _regex(r"(?R)?a(?R)?b"),
    "query of one letter": _search("A" * _LONG),
    "query of dots": _search("a." * (_LONG // 2)),
    "query of words": _search(" ".join(f"w{n}" for n in range(_LONG // 6))),
    "query of common words": _search("self return def import test name get model field " * (_LONG // 49)),
    "query of paths": _search("a/b.py " * (_LONG // 7)),
    "query of frames": _search('  File "a.py", line 1, in a\n' * (_LONG // 29)),
    "query of brackets": _search("(" * _LONG),
    "query of emoji": _search("\U0001f600" * (_LONG // 2)),
    "query of marks": _search("e" + "\u0301" * (_LONG - 1)),
    "search by meaning": ("search_semantic", {"query": "x " * (_LONG // 2), "k": 200}),
    "explore, widest": ("explore", {"query": "model form view test", "max_tokens": 100_000}),
    "explore, long": ("explore", {"query": "session cookie. " * (_LONG // 17), "max_tokens": 100_000}),
    "explore, nested": ("explore", {"query": "nested hostile function", "max_tokens": 100_000,
                                    "paths": [f"{_FOLDER}/**"]}),
    "globs": _search("model", paths=["**?" * 10] * 100),
    "globs, stars": _search("model", paths=["*a" * 40] * 100),
    "globs, braces": _search("model", paths=["{a,b,c}" * 5] * 100),
    "globs, many": _search("model", paths=[f"**/*{n}*/**/*{n}*.py" for n in range(100)]),
    "map, widest": ("map", {"max_tokens": 100_000}),
    "map with a query": ("map", {"query": "nested " * (_LONG // 7), "max_tokens": 100_000}),
    "read, 5 MB": ("read", {"path": f"{_FOLDER}/long.txt", "max_tokens": 100_000}),
    "read, one line": ("read", {"path": f"{_FOLDER}/line.txt", "max_tokens": 100_000}),
    "read, wrong path": ("read", {"path": "x/" * 9_900}),
    "read, near path": ("read", {"path": f"{_FOLDER}/nestde.js"}),
    "definition, common": ("definition", {"name": "setUp", "max_tokens": 100_000}),
    "definition, long": ("definition", {"name": "a." * (_LONG // 2)}),
    "definition, wild": ("definition", {"name": "*" * _LONG}),
    "references, common": ("references", {"name": "self", "k": 2000, "max_tokens": 100_000}),
    "references, nested": ("references", {"name": "f", "path": f"{_FOLDER}/nested.js", "line": 1}),
    "callers, deep": ("callers", {"name": "save", "depth": 5, "k": 500, "max_tokens": 100_000}),
    "callers, depth 10**9": ("callers", {"name": "save", "depth": 10**9}),
    "callees, deep": ("callees", {"name": "save", "depth": 5, "k": 500, "max_tokens": 100_000}),
    "dependencies": ("dependencies", {"name": "Model", "depth": 5, "k": 500, "max_tokens": 100_000}),
    "route": ("route", {"query": "model " * (_LONG // 6), "k": 200, "max_tokens": 100_000}),
    "history, whole": ("history", {"path": f"{_FOLDER}/chain.py", "k": 500, "max_tokens": 100_000}),
    "status": ("status", {}),
    "tools, many arguments": ("search", {f"a{n}": n for n in range(20_000)}),
    "tools, deep arguments": ("search", {"query": json.loads("[" * 500 + "]" * 500)}),
}  # fmt: skip

#: Bodies that are no tool call.
BODIES: dict[str, bytes] = {
    "body, 1 MB of brackets": b"[" * 999_000,
    "body, 1 MB batch": b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'] * 20_000)
    + b"]",
    "body, 10 MB": b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"' + b"a" * 10_000_000
    + b'"}}',
    "body, 1 MB of keys": b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{'
    + b",".join(b'"k%d":{}' % n for n in range(70_000)) + b"}}",
    "body, deep": b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":'
    + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}}",
    "body, lone surrogate": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    b'{"name":"search","arguments":{"query":"\\ud800 model"}}}',
    "body, long number": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    b'{"name":"search","arguments":{"query":"x","k":' + b"9" * 900_000 + b"}}}",
}  # fmt: skip


@dataclass
class Row:
    """What one case gave."""

    name: str
    alone: Reply
    wall_s: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    lists_s: list[float] = field(default_factory=list)
    reads_s: list[float] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--only", nargs="*", default=[""], help="cases whose name begins with one of these")
    parser.add_argument("--at-once", type=int, default=50)
    options = parser.parse_args()
    root: Path = options.clone.resolve()
    wanted = [name for name in (*CASES, *BODIES) if name.startswith(tuple(options.only))]
    _write_files(root / _FOLDER)
    try:
        subprocess.run([sys.executable, "-P", "-m", "codenib", "-C", str(root), "index"], check=True)
        with serving(root, options.at_once + 2, "--tools", "all") as served:
            return _run(served, wanted, options.at_once)
    finally:
        shutil.rmtree(root / _FOLDER)


def _run(served: Served, wanted: list[str], at_once: int) -> int:
    idle = Row("idle", served.connect(0).ask("tools/list"))
    for _ in range(50):
        _look(served, idle)
    list_s, read_s = percentile(idle.lists_s, 0.5), percentile(idle.reads_s, 0.5)
    print(f"idle: tools/list {1000 * list_s:.1f} ms, read {1000 * read_s:.1f} ms")
    failed = 0
    for name in wanted:
        row = _attack(served, name, at_once)
        slowest, slowest_read = max(row.lists_s), max(row.reads_s)
        bad = slowest > _BAR_S or not all(row.outcomes) or served.process.poll() is not None
        failed += bad
        what = ", ".join(f"{often} {outcome}" for outcome, often in row.outcomes.most_common())
        print(
            f"{'FAIL ' if bad else ''}{name}: alone {row.alone.seconds:.2f} s,"
            f" {at_once} in {row.wall_s:.1f} s;"
            f" tools/list ≤ {slowest:.2f} s ({slowest / list_s:.0f}×),"
            f" read ≤ {slowest_read:.2f} s ({slowest_read / read_s:.0f}×); {what};"
            f" {served.resident_mb()[0]:.0f} MB",
            flush=True,
        )
    print(f"{len(wanted)} kinds of request, {failed} failed")
    return 1 if failed else 0


def _attack(served: Served, name: str, at_once: int) -> Row:
    """One request alone, then many at once beside the client that is measured."""
    first = served.connect(at_once)
    row = Row(name, _send(first, name))
    first.close()
    lock = threading.Lock()
    begin = threading.Event()

    def attack(client: int) -> None:
        connection = served.connect(client)
        begin.wait()
        try:
            outcome = _outcome(_send(connection, name))
        except OSError as error:
            outcome = type(error).__name__
        finally:
            connection.close()
        with lock:
            row.outcomes[outcome] += 1

    threads = [threading.Thread(target=attack, args=(client,)) for client in range(at_once)]
    for thread in threads:
        thread.start()
    started = time.perf_counter()
    begin.set()
    while any(thread.is_alive() for thread in threads):
        _look(served, row)
        time.sleep(_PAUSE_S)
    row.wall_s = time.perf_counter() - started
    _look(served, row)
    return row


def _look(served: Served, row: Row) -> None:
    """What the measured client does, each on a connection of its own as a new client's would be."""
    client = served.connect(-1)
    row.lists_s.append(client.ask("tools/list").seconds)
    row.reads_s.append(client.call("read", {"path": f"{_FOLDER}/nested.rs", "end": 5}).seconds)
    client.close()


def _send(client: Any, name: str) -> Reply:
    reply: Reply = client.post(BODIES[name]) if name in BODIES else client.call(*CASES[name])
    return reply


def _outcome(reply: Reply) -> str:
    if reply.status != 200:
        return f"{reply.status}{' with Retry-After' if reply.retry_after else ''}"
    if reply.answered:
        stopped = reply.facts.get("complete") is False
        return "stopped by the time limit" if stopped else "answered"
    return f"refused ({reply.text[:60]!r})" if "result" in reply.body else f"error {reply.text[:60]!r}"


def _write_files(folder: Path) -> None:
    """Files that are slow to read, to parse or to match."""
    folder.mkdir()
    nested = "x(function(){\n" * 3000 + "})\n" * 3000
    (folder / "nested.js").write_text(nested)
    (folder / "nested_functions.js").write_text("function f(){\n" * 4000 + "}\n" * 4000)
    (folder / "nested.rs").write_text("mod m {\n" * 4000 + "}\n" * 4000)
    (folder / "runs.txt").write_text("".join("a" * (30 + n % 70) + "!\n" for n in range(5000)))
    (folder / "long.txt").write_text("".join(f"line {n} of a long file\n" for n in range(200_000)))
    (folder / "line.txt").write_text("a " * 400_000)
    (folder / "same.py").write_text("".join(f"def same():\n    same({n})\n\n\n" for n in range(5000)))
    calls = "".join(f"def c{n}():\n    c{n + 1}()\n    c{n + 2}()\n\n\n" for n in range(3000))
    (folder / "chain.py").write_text(calls)


if __name__ == "__main__":
    sys.exit(main())
