"""A scripted client over stdio: 500 mixed calls, 50 edits in between, each answer checked on the worktree.

    python benchmarks/mcp.py CLONE [--calls 500] [--edits 50] [--seed 1] [--language-servers]

CLONE is a git clone of Python code that may be edited; it is put back at the end. Prints the seconds to the
first answers, p50 and p95 by tool, errors, false answers and memory. Without --language-servers definitions
go by the static graph or by name, as on a machine without engines.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_DEF = re.compile(r"^( *)def ([a-z]\w{4,})\(", re.MULTILINE)
_INFO = {"name": "benchmark", "version": "1"}
_LIMITS_MS = {"search": 30, "definition": 30, "explore": 80}


@dataclass
class Client:
    """One server process, and what was measured of it."""

    process: subprocess.Popen[bytes]
    number: int = 0
    times: dict[str, list[float]] = field(default_factory=dict)
    after_edit: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    edited: bool = False
    cpu: dict[str, list[float]] = field(default_factory=dict)  # of the server's threads, without edits

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.send(message)
        assert self.process.stdout is not None
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return dict(answer)

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """The text and the facts of a reply; counts an error that nobody asked for."""
        worked, started = _cpu_s(self.process.pid), time.perf_counter()
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        taken = time.perf_counter() - started
        if not self.edited:
            self.cpu.setdefault(tool, []).append(_cpu_s(self.process.pid) - worked)
        (self.after_edit if self.edited else self.times).setdefault(tool, []).append(taken)
        self.edited = False
        result = answer.get("result") or {"isError": True, "content": [{"text": json.dumps(answer)}]}
        text = result["content"][0]["text"]
        if result.get("isError"):
            self.errors.append(f"{tool} {arguments}: {text}")
        return text, result.get("_meta", {}).get("codenib/reply", {})

    def check(self, true: bool, what: str) -> None:
        if not true:
            self.false.append(what)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--edits", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language-servers", action="store_true")
    options = parser.parse_args()
    root: Path = options.clone.resolve()
    before = _git(root, "rev-parse", "HEAD")
    with tempfile.TemporaryDirectory() as nothing:
        env = dict(os.environ) if options.language_servers else {**os.environ, "CODENIB_TOOLBOX": nothing}
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "codenib", "mcp", "-C", str(root)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env,
        )  # fmt: skip
        try:
            return _run(Client(process), root, options, started)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)
            _git(root, "checkout", "-q", "-f", before)
            _git(root, "clean", "-q", "-f", "-d")


def _run(client: Client, root: Path, options: argparse.Namespace, started: float) -> int:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _INFO}
    client.ask("initialize", params)
    first_s = time.perf_counter() - started
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    client.ask("tools/list", {})
    tools_s = time.perf_counter() - started
    while client.ask("tools/call", {"name": "search", "arguments": {"query": "ready"}})["result"].get(
        "isError"
    ):
        time.sleep(0.2)
    ready_s = time.perf_counter() - started
    print(f"initialize {first_s:.2f} s, tools/list {tools_s:.2f} s, first search {ready_s:.2f} s")
    chance = random.Random(options.seed)
    files = [
        path for path in _git(root, "ls-files", "*.py").split("\n") if (root / path).stat().st_size > 2000
    ]
    for tool in ("search", "definition", "explore", "references"):  # the first of each opens its views
        _ask(client, root, files, chance, tool)
    for rows in (client.times, client.after_edit, client.cpu):
        rows.clear()
    edits = _edits(root, files, chance)
    at = set(chance.sample(range(options.calls), options.edits))
    for number in range(options.calls):
        if number in at:
            next(edits)(client)
        else:
            tool = chance.choice(
                ["search", "search", "definition", "definition", "explore", "read", "references"]
            )
            _ask(client, root, files, chance, tool)
    _report(client, root)
    return 1 if client.errors or client.false else 0


def _ask(client: Client, root: Path, files: list[str], chance: random.Random, tool: str) -> None:
    """One random question, with its answer checked."""
    path = chance.choice([each for each in files if (root / each).exists()])
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    found = list(_DEF.finditer(text))
    if tool == "read" or not found:
        start = chance.randrange(1, max(2, text.count("\n") - 20))
        said, _ = client.call("read", path=path, start=start, end=start + 15)
        lines = text.split("\n")[start - 1 : start + 15]
        shown = [f"{at} {line}".rstrip() for at, line in enumerate(lines, start)][: said.count("\n")]
        client.check(said.split("\n")[1:] == shown, f"read {path}:{start}")
        return
    match = chance.choice(found)
    name, line = match[2], text.count("\n", 0, match.start()) + 1
    if tool in ("definition", "references"):
        said, facts = client.call(tool, name=name, path=path, line=line)
        here = {"path": path, "line": line}
        places = [{"path": each["path"], "line": each["line"]} for each in facts.get("items", [])]
        partial = facts.get("truncated", False) or facts.get("completeness") == "unknown"  # names alone
        client.check(here in places or partial, f"{tool} {path}:{line} {name}")
        _check_lines(client, root, tool, places, name)
    elif tool == "search":
        _, facts = client.call("search", query=name.replace("_", " "), k=10)
        _check_spans(client, root, facts)
    else:
        said, facts = client.call("explore", query=f"how does {name} work", max_tokens=3000)
        client.check(facts.get("tokens", 10**9) <= 3000, f"explore {name}: {facts.get('tokens')} tokens")
        _check_spans(client, root, facts)


def _check_lines(client: Client, root: Path, tool: str, places: list[dict[str, Any]], name: str) -> None:
    """Each place has the name on its line."""
    for place in places:
        file = root / place["path"]
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n") if file.exists() else []
        held = place["line"] <= len(lines) and name in lines[place["line"] - 1]
        client.check(held, f"{tool} {name}: not at {place['path']}:{place['line']}")


def _check_spans(client: Client, root: Path, facts: dict[str, Any]) -> None:
    """Each span exists, and its name is said by then: a stretch of a long class is below its name."""
    for place in facts.get("items", []):
        file = root / place["path"]
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n") if file.exists() else []
        inside = lines[place["line"] - 1 : place["end_line"]] and lines[: place["end_line"]]
        heading = place["symbol"].split(" > ")  # a section of prose has the path of its headings
        name = heading[-1] if len(heading) > 1 else place["symbol"].split(", ")[0].rpartition(".")[2]
        client.check(bool(inside) and name in "\n".join(inside), f"{place}")


def _edits(root: Path, files: list[str], chance: random.Random) -> Iterator[Any]:
    """Edits without end, of many kinds; each asks for what it made, at once."""
    number = 0
    while True:
        number += 1
        kind = ("insert", "append", "rename", "delete", "commit", "branch")[number % 6]
        path = chance.choice([each for each in files if (root / each).exists()])
        yield lambda client, kind=kind, path=path, number=number: _edit(client, root, kind, path, number)


def _edit(client: Client, root: Path, kind: str, path: str, number: int) -> None:
    name = f"freshly_made_{number}_thing"
    file = root / path
    client.edited = True
    if kind == "rename":
        file.rename(file.with_name(f"renamed_{number}_{file.name}"))
    elif kind == "delete":
        file.unlink()
    elif kind == "commit":
        _git(root, "add", "-A")
        _git(root, "-c", "user.name=b", "-c", "user.email=b@b", "commit", "-q", "--allow-empty", "-m", "edit")
    elif kind == "branch":
        _git(root, "stash", "-q", "-u")
        _git(root, "switch", "-q", "--detach", "HEAD~1")
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    if kind in ("rename", "delete"):
        _, facts = client.call("search", query=Path(path).stem.replace("_", " "), k=20)
        gone = all(place["path"] != path for place in facts.get("items", []))
        client.check(gone, f"{path} is gone and was found")
        _check_spans(client, root, facts)
        return
    if kind in ("commit", "branch"):
        _, facts = client.call("search", query="session", k=10)
        client.check(
            facts["snapshot"]["commit"] == _git(root, "rev-parse", "HEAD"), f"{kind}: another commit"
        )
        _check_spans(client, root, facts)
        return
    made = f"def {name}(value):\n    return value\n"
    file.write_text(f"{made}\n\n{text}" if kind == "insert" else f"{text}\n\n{made}", encoding="utf-8")
    _, facts = client.call("search", query=name, k=3)
    places = facts.get("items", [])
    right = any(place["path"] == path and place["symbol"] == name for place in places)
    client.check(right, f"search does not see {name} in {path}: {places}")
    _, facts = client.call("definition", name=name)
    line = 1 if kind == "insert" else (text + "\n\n").count("\n") + 1
    client.check(facts.get("items", [{}])[0].get("line") == line, f"definition of {name} is not at {line}")


def _report(client: Client, root: Path) -> None:
    load = Path("/proc/loadavg").read_text().split()[0]
    print(f"{len(_git(root, 'ls-files').split(chr(10))):,} files; load {load} on {os.cpu_count()} processors")
    for tool in sorted(client.times.keys() | client.after_edit.keys()):
        for label, times in (("", client.times), (" after an edit", client.after_edit)):
            rows = sorted(1000 * value for value in times.get(tool, []))
            if rows:
                p95 = rows[min(len(rows) - 1, int(len(rows) * 0.95))]
                bar = f", bar {_LIMITS_MS[tool]}" if tool in _LIMITS_MS and not label else ""
                if not label:
                    bar += f"; CPU p50 {1000 * statistics.median(client.cpu[tool]):.1f} ms"
                middle = statistics.median(rows)
                print(f"{tool}{label}: n {len(rows)}, p50 {middle:.1f} ms, p95 {p95:.1f} ms{bar}")
    print(f"errors {len(client.errors)}, false answers {len(client.false)}")
    for line in [*client.errors[:5], *client.false[:5]]:
        print(f"  {line[:300]}")
    own, peak, children = _memory(client.process.pid)
    print(f"memory: server {own} MB now, {peak} MB at most (RSS with mapped views); children {children} MB")


def _cpu_s(process: int) -> float:
    """Seconds that a process's threads have run: what a call costs, however busy the machine is."""
    files = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


def _memory(process: int) -> tuple[int, int, int]:
    """Resident megabytes of a process now and at most, and of its children now."""

    def field_of(number: int, name: str) -> int:
        rows = Path(f"/proc/{number}/status").read_text().split("\n")
        return next((int(row.split()[1]) // 1024 for row in rows if row.startswith(name)), 0)

    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False
    )
    children = sum(field_of(int(number), "VmRSS") for number in found.stdout.split())
    return field_of(process, "VmRSS"), field_of(process, "VmHWM"), children


def _git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
