"""Mined pairs in, the vocabulary of pieces out: `python -m training.vocabulary MINED OUT`."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from codenib.views.dense.embedders.pieces import _WORD, parts_of

WHOLE = 25_000
SUBWORDS = 7_000


def rows(path: Path) -> Iterator[dict[str, str | int]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def vocabulary(files: list[Path]) -> list[str]:
    """The most frequent parts, then the pieces that cover the rest best."""
    words: Counter[str] = Counter()
    for path in files:
        seen: Counter[str] = Counter()
        for row in rows(path):
            seen.update(set(_WORD.findall(str(row.get("d") or row.get("q")))))
        for word, times in seen.items():  # a repository's own names must not crowd out the language
            words[word] += min(times, 200)
    parts: Counter[str] = Counter()
    for word, times in words.items():
        for part in parts_of(word):
            parts[part] += times
    whole = [part for part, _ in parts.most_common(WHOLE) if len(part) <= 20]
    held = set(whole)
    pieces: Counter[str] = Counter()
    for part, times in parts.items():
        if part not in held:
            for size in (2, 3, 4, 5):
                for start in range(len(part) - size + 1):
                    pieces[part[start : start + size]] += times * (size - 1)
    letters = [chr(code) for code in (*range(97, 123), *range(48, 58))]
    sub = [piece for piece, _ in pieces.most_common(SUBWORDS + len(held)) if piece not in held][:SUBWORDS]
    return list(dict.fromkeys([*letters, *whole, *sub]))


if __name__ == "__main__":
    found = vocabulary(sorted(Path(sys.argv[1]).glob("*.jsonl.gz")))
    Path(sys.argv[2]).write_text("\n".join(found) + "\n", encoding="utf-8")
