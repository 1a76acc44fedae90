"""A language server for tests: `def NAME` defines, each other NAME refers; the argument says how it fails.

{"log": file of every message, "encoding": ..., "crash": {"on": method, "times": n, "count": file},
"hang": method, "deaf": true, "gate": FIFO that ends its loading, "growing": answers that differ,
"asks": requests to the client, "child": file for the pid of a child, "refuse": [code, message, times]}
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import unquote

WORD = re.compile(r"\w+")
WIDTH = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
SIZE = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


class Fake:
    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.encoding = plan.get("encoding", "utf-16")
        self.open: dict[Path, str] = {}
        self.root = Path()
        self.loading = "gate" in plan
        self.growing = plan.get("growing", 0)
        self.refusals = plan.get("refuse", [0, "", 0])[2]
        self.lock = threading.Lock()

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with self.lock:
            sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            sys.stdout.buffer.flush()

    def run(self) -> None:
        if "child" in self.plan:
            child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
            Path(self.plan["child"]).write_text(str(child.pid))
        while header := sys.stdin.buffer.readline():
            sys.stdin.buffer.readline()
            message = json.loads(sys.stdin.buffer.read(int(header.split(b":")[1])))
            if "log" in self.plan:
                with Path(self.plan["log"]).open("a") as log:
                    log.write(json.dumps(message) + "\n")
            if "method" in message:
                self.handle(message["method"], message.get("id"), message.get("params"))

    def handle(self, method: str, number: int | None, params: Any) -> None:
        self.misbehave(method)
        if method == "exit":
            sys.exit(0)
        if number is None:
            self.notified(method, params)
        elif method == self.plan.get("hang"):
            if self.plan.get("deaf"):
                threading.Event().wait()
        elif self.refusals and method.startswith("textDocument/"):
            self.refusals -= 1
            code, text, _ = self.plan["refuse"]
            self.send(id=number, error={"code": code, "message": text})
        else:
            self.send(id=number, result=self.answer(method, params))

    def misbehave(self, method: str) -> None:
        crash = self.plan.get("crash")
        if crash and crash["on"] == method:
            count = Path(crash["count"])
            done = int(count.read_text()) if count.exists() else 0
            if done < crash["times"]:
                count.write_text(str(done + 1))
                print("FATAL: out of cheese", file=sys.stderr, flush=True)
                os._exit(3)

    def notified(self, method: str, params: Any) -> None:
        if method == "initialized":
            for number, (asked, with_params) in enumerate(self.plan.get("asks", [])):
                self.send(id=f"fake-{number}", method=asked, params=with_params)
            if self.loading:
                self.send(
                    method="$/progress", params={"token": "load", "value": {"kind": "begin", "title": ""}}
                )
                threading.Thread(target=self.load, daemon=True).start()
        elif method == "textDocument/didOpen":
            self.open[self.path(params)] = params["textDocument"]["text"]
        elif method == "textDocument/didChange":
            self.open[self.path(params)] = params["contentChanges"][-1]["text"]
        elif method == "textDocument/didClose":
            del self.open[self.path(params)]

    def load(self) -> None:
        Path(self.plan["gate"]).read_bytes()  # blocks until the test opens the gate
        self.loading = False
        self.send(method="$/progress", params={"token": "load", "value": {"kind": "end"}})

    def answer(self, method: str, params: Any) -> Any:
        if method == "initialize":
            self.root = Path(params["rootPath"])
            return {"capabilities": {"positionEncoding": self.encoding}}
        if method == "textDocument/definition":
            return self.places(params, r"\bdef ({})\b")
        if method == "textDocument/references":
            return self.places(params, r"\b({})\b")
        if method == "textDocument/documentSymbol":
            return self.symbols(self.path(params))
        return None

    def path(self, params: Any) -> Path:
        return Path(unquote(params["textDocument"]["uri"].removeprefix("file://")))

    def places(self, params: Any, pattern: str) -> Any:
        if self.loading:
            return []
        line = self.text(self.path(params)).split("\n")[params["position"]["line"]]
        at = len(self.cut(line, params["position"]["character"]))
        word = next((m[0] for m in WORD.finditer(line) if m.start() <= at <= m.end()), None)
        if word is None:
            return None
        found = [
            {"uri": path.as_uri(), "range": span}
            for path in sorted(self.root.rglob("*.fake"))
            for span in self.spans(path, re.compile(pattern.format(re.escape(word))))
        ]
        if self.growing:
            self.growing -= 1
            found = found[: len(found) - self.growing]
        return [*found, {"uri": "file:///usr/lib/outside.fake", "range": self.span(0, "", 0, 0)}]

    def text(self, path: Path) -> str:
        return self.open.get(path) or path.read_text("utf-8")

    def spans(self, path: Path, pattern: re.Pattern[str]) -> list[dict[str, Any]]:
        return [
            self.span(number, line, match.start(1), match.end(1))
            for number, line in enumerate(self.text(path).split("\n"))
            for match in pattern.finditer(line)
        ]

    def span(self, number: int, line: str, start: int, end: int) -> dict[str, Any]:
        return {
            "start": {"line": number, "character": self.units(line[:start])},
            "end": {"line": number, "character": self.units(line[:end])},
        }

    def units(self, text: str) -> int:
        return len(text.encode(WIDTH[self.encoding])) // SIZE[self.encoding]

    def cut(self, line: str, units: int) -> str:
        return line.encode(WIDTH[self.encoding])[: units * SIZE[self.encoding]].decode(WIDTH[self.encoding])

    def symbols(self, path: Path) -> list[dict[str, Any]]:
        spans = self.spans(path, re.compile(r"\bdef (\w+)"))
        return [{"name": f"s{n}", "kind": 12, "range": s, "selectionRange": s} for n, s in enumerate(spans)]


if __name__ == "__main__":
    Fake(json.loads(sys.argv[1])).run()
