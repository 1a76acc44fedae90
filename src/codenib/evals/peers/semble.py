"""semble in an environment of its own: `$CODENIB_SEMBLE_PYTHON` names the interpreter that has it.

Its index lives in memory, so that every question builds it: the build is part of the query's time.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from codenib.evals.metrics.scoring import SourceBlock
from codenib.evals.peers.peer import NOTHING, PeerAnswer, Spent, spend

PYTHON = "CODENIB_SEMBLE_PYTHON"
_CODE = """
import json, sys
from semble import SembleIndex
index = SembleIndex.from_path(sys.argv[1])
found = index.search(sys.stdin.read(), top_k=int(sys.argv[2]))
rows = [[r.chunk.file_path, r.chunk.start_line, r.chunk.end_line, r.chunk.content] for r in found]
print(json.dumps(rows))
"""


class Semble:
    name = "semble"

    def missing(self) -> str:
        return "" if os.environ.get(PYTHON) else f"${PYTHON} names no interpreter that has it"

    def version(self) -> str:
        code = "from importlib.metadata import version; print(version('semble'))"
        return spend([os.environ[PYTHON], "-c", code]).output.strip()

    def build(self, checkout: Path, state: Path) -> Spent:
        return NOTHING

    def update(self, checkout: Path, state: Path) -> Spent:
        return NOTHING

    def ask(self, checkout: Path, state: Path, query: str, k: int) -> PeerAnswer:
        spent = spend([os.environ[PYTHON], "-c", _CODE, str(checkout), str(2 * k)], given=query)
        rows = json.loads(spent.output.strip().splitlines()[-1])
        blocks = tuple(
            SourceBlock(os.path.relpath(path, checkout) if Path(path).is_absolute() else path, start, end)
            for path, start, end, _ in rows
        )
        text = "\n".join(f"{path}:{start}-{end}\n{content}" for path, start, end, content in rows[:k])
        return PeerAnswer(blocks, text, spent.seconds, spent.memory_mb)
