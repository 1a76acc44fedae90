"""zoekt: the issue's identifiers as an `or` query over its shards, ranked by zoekt."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from codenib.evals.data.keywords import keywords
from codenib.evals.metrics.scoring import SourceBlock
from codenib.evals.peers.peer import PeerAnswer, Spent, spend

WORDS = 8
_LINE = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+):(?P<text>.*)$")


class ZoektPeer:
    name = "zoekt"

    def missing(self) -> str:
        lacking = [name for name in ("zoekt", "zoekt-index") if not shutil.which(name)]
        return f"no {' and no '.join(f'`{name}`' for name in lacking)} on the path" if lacking else ""

    def version(self) -> str:
        return "as installed"

    def build(self, checkout: Path, state: Path) -> Spent:
        return spend(["zoekt-index", "-index", str(state), "-ignore_dirs", ".git", str(checkout)])

    def update(self, checkout: Path, state: Path) -> Spent:
        """`zoekt-index` writes its shards again."""
        return self.build(checkout, state)

    def ask(self, checkout: Path, state: Path, query: str, k: int) -> PeerAnswer:
        words = keywords(query)[:WORDS]
        if not words:
            return PeerAnswer((), "", 0.0, 0.0)
        spent = spend(["zoekt", "-index_dir", str(state), f"({' or '.join(words)})"], good=(0, 1))
        blocks, texts = [], []
        for row in spent.output.splitlines():
            found = _LINE.match(row)
            if found:
                line = int(found["line"])
                blocks.append(SourceBlock(found["path"], max(1, line - 10), line + 10))
                texts.append(row[:200])
        return PeerAnswer(tuple(blocks[: 10 * k]), "\n".join(texts[:k]), spent.seconds, spent.memory_mb)
