"""ripgrep over the issue's identifiers: files ranked by rare words, lines as blocks. No index."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections import defaultdict
from pathlib import Path

from codenib.evals.data.keywords import keywords
from codenib.evals.metrics.scoring import SourceBlock
from codenib.evals.peers.peer import NOTHING, PeerAnswer, Spent, spend

WORDS = 12
_NEAR = 10  # lines around a hit


class Ripgrep:
    name = "ripgrep keywords"

    def missing(self) -> str:
        return "" if self._program() else "no `rg` program"

    def version(self) -> str:
        return spend([self._program(), "--version"]).output.split("\n")[0].removeprefix("ripgrep ")

    def build(self, checkout: Path, state: Path) -> Spent:
        return NOTHING

    def update(self, checkout: Path, state: Path) -> Spent:
        return NOTHING

    def ask(self, checkout: Path, state: Path, query: str, k: int) -> PeerAnswer:
        words = keywords(query)[:WORDS]
        if not words:
            return PeerAnswer((), "", 0.0, 0.0)
        patterns = [part for word in words for part in ("-e", word)]
        spent = spend(
            [self._program(), "--json", "-F", "-w", "--max-count", "200", *patterns, "."],
            place=checkout, good=(0, 1, 2),
        )  # fmt: skip
        hits: dict[str, dict[str, list[int]]] = {}
        texts: dict[tuple[str, int], str] = {}
        for row in spent.output.splitlines():
            event = json.loads(row)
            if event["type"] != "match" or "text" not in event["data"]["path"]:
                continue
            path, line = event["data"]["path"]["text"].removeprefix("./"), event["data"]["line_number"]
            texts[(path, line)] = event["data"]["lines"].get("text", "").strip()[:160]
            for part in event["data"]["submatches"]:
                word = part["match"].get("text", "")
                hits.setdefault(word, {}).setdefault(path, []).append(line)
        files = {path for found in hits.values() for path in found}
        scores: defaultdict[str, float] = defaultdict(float)
        for found in hits.values():
            rare = math.log(1 + len(files) / len(found))
            for path, lines in found.items():
                scores[path] += rare * (1 + math.log(len(lines)))
        blocks: list[SourceBlock] = []
        shown: list[str] = []
        for path in sorted(scores, key=lambda name: (-scores[name], name))[: k * 2]:
            rarest = min((found for found in hits.values() if path in found), key=len)
            line = rarest[path][0]
            blocks.append(SourceBlock(path, max(1, line - _NEAR), line + _NEAR))
            shown.append(f"{path}:{line}: {texts[(path, line)]}")
        text = "\n".join(shown[:k])
        return PeerAnswer(tuple(blocks), text, spent.seconds, spent.memory_mb)

    def _program(self) -> str:
        beside = Path(sys.executable).parent / "rg"
        return shutil.which("rg") or (str(beside) if beside.exists() else "")
