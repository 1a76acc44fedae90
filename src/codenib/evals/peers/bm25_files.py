"""Textbook BM25 over whole files (k1 = 1.2, b = 0.75), words split at underscores and case. No tuning."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from codenib.evals.metrics.scoring import SourceBlock
from codenib.evals.peers.peer import PeerAnswer, Spent, spend

K1, B = 1.2, 0.75
_MOST_BYTES = 1_000_000


def words(text: str) -> list[str]:
    """Lower-case parts of identifiers, and the identifiers themselves."""
    found = []
    for name in re.findall(r"[A-Za-z_][A-Za-z0-9_]+", text):
        found.append(name.lower())
        parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
        if len(parts) > 1:
            found += [part.lower() for part in parts]
    return found


class Bm25Files:
    name = "BM25 over files"

    def missing(self) -> str:
        return ""

    def version(self) -> str:
        return "Okapi, in Python"

    def build(self, checkout: Path, state: Path) -> Spent:
        return self._run("build", checkout, state, "")

    def update(self, checkout: Path, state: Path) -> Spent:
        """There is no other way than to count again."""
        return self._run("build", checkout, state, "")

    def ask(self, checkout: Path, state: Path, query: str, k: int) -> PeerAnswer:
        spent = self._run(f"ask {2 * k}", checkout, state, query)
        blocks = tuple(SourceBlock(path, 1, lines, level="L0") for path, lines in json.loads(spent.output))
        return PeerAnswer(blocks, "\n".join(b.path for b in blocks[:k]), spent.seconds, spent.memory_mb)

    def _run(self, what: str, checkout: Path, state: Path, given: str) -> Spent:
        command = [sys.executable, "-P", "-m", "codenib.evals.peers.bm25_files", *what.split()]
        return spend([*command, str(checkout), str(state / "counts.json")], given=given)


def build(checkout: Path, file: Path) -> None:
    """Count the words of every text file that git lists."""
    listed = subprocess.run(
        ["git", "-C", str(checkout), "ls-files", "-z"], capture_output=True, text=True, check=True
    ).stdout.split("\0")
    counts: dict[str, tuple[int, dict[str, int]]] = {}
    for name in filter(None, listed):
        place = checkout / name
        if not place.is_file() or place.is_symlink() or place.stat().st_size > _MOST_BYTES:
            continue
        data = place.read_bytes()
        if b"\0" not in data:
            text = data.decode("utf-8", "replace")
            counts[name] = (text.count("\n") + 1, Counter(words(f"{name} {text}")))
    file.write_text(json.dumps(counts))


def ask(file: Path, query: str, k: int) -> list[tuple[str, int]]:
    """The best files with their number of lines."""
    counts = json.loads(file.read_text())
    lengths = {name: sum(found.values()) for name, (_, found) in counts.items()}
    mean = sum(lengths.values()) / max(len(lengths), 1)
    scores: defaultdict[str, float] = defaultdict(float)
    for word in set(words(query)):
        having = [name for name, (_, found) in counts.items() if word in found]
        weight = math.log(1 + (len(counts) - len(having) + 0.5) / (len(having) + 0.5))
        for name in having:
            often = counts[name][1][word]
            score = weight * often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[name] / mean))
            scores[name] += score
    best = sorted(scores, key=lambda name: (-scores[name], name))[:k]
    return [(name, counts[name][0]) for name in best]


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        print(json.dumps(ask(Path(sys.argv[4]), sys.stdin.read(), int(sys.argv[2]))))
