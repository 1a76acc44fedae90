"""CodeNib as its users run it: the `codenib` command, a process per question."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from codenib import __version__
from codenib.evals.metrics.scoring import SourceBlock
from codenib.evals.peers.peer import PeerAnswer, Spent, spend

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
        return self._run(checkout, state, ["index", "--views", views])

    def update(self, checkout: Path, state: Path) -> Spent:
        return self._run(checkout, state, ["update"])

    def ask(self, checkout: Path, state: Path, query: str, k: int) -> PeerAnswer:
        # A query that starts with a dash is not an option.
        words = ["search", "-k", str(k), "--route", self._route, "--", query]
        spent = self._run(checkout, state, words)
        items = json.loads(spent.output)["items"]
        blocks = [
            SourceBlock(each["path"], each["start_line"], each["end_line"], each["symbol"], each["level"])
            for each in items
        ]
        text = "\n".join(f"{b.path}:{b.start_line}-{b.end_line} {b.symbol}" for b in blocks)
        return PeerAnswer(tuple(blocks), text, spent.seconds, spent.memory_mb)

    def _run(self, checkout: Path, state: Path, words: Sequence[str]) -> Spent:
        command, *options = words
        environment = {"CODENIB_HOME": str(state)}
        return spend([*_RUN, "-C", str(checkout), command, "--json", *options], environment=environment)
