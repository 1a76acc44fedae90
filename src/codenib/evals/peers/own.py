"""CodeNib as its users run it: the `codenib` command, a process per question."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from codenib import __version__
from codenib.evals.metrics.scoring import Block
from codenib.evals.peers.peer import Ranked, Spent, spend

_RUN = (sys.executable, "-P", "-m", "codenib")


class Own:
    """The product; `route` is asked for explicitly."""

    def __init__(self, route: str = "hybrid") -> None:
        self._route = route

    @property
    def name(self) -> str:
        return f"codenib ({self._route})"

    def missing(self) -> str:
        return ""

    def version(self) -> str:
        return __version__

    def build(self, checkout: Path, state: Path) -> Spent:
        views = "lexical" if self._route == "lexical" else "lexical,dense"
        return self._run(checkout, state, "index", "--views", views)

    def update(self, checkout: Path, state: Path) -> Spent:
        return self._run(checkout, state, "update")

    def ask(self, checkout: Path, state: Path, query: str, k: int) -> Ranked:
        # A query that starts with a dash is not an option.
        spent = self._run(checkout, state, "search", "-k", str(k), "--route", self._route, "--", query)
        items = json.loads(spent.output)["results"]
        blocks = [
            Block(each["path"], each["start_line"], each["end_line"], each["symbol"], each["level"])
            for each in items
        ]
        text = "\n".join(f"{b.path}:{b.start_line}-{b.end_line} {b.symbol}" for b in blocks)
        return Ranked(tuple(blocks), text, spent.seconds, spent.memory_mb)

    def _run(self, checkout: Path, state: Path, command: str, *words: str) -> Spent:
        environment = {"CODENIB_HOME": str(state)}
        return spend([*_RUN, "-C", str(checkout), command, "--json", *words], environment=environment)
