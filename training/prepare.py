"""Mined pairs in, the vocabulary and the training arrays out: `python -m training.prepare MINED OUT`."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from codenib.views.dense.embedders.pieces import _WORD, Pieces, parts_of

WHOLE = 25_000
SUBWORDS = 7_000
MAX_DOC = 192  # distinct pieces kept of a document, the first ones
MAX_QUERY = 96
KINDS = ("doc", "comment", "error", "commit")


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


class Ragged:
    """Rows of counted pieces, end to end."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.ids: list[int] = []
        self.tf: list[int] = []
        self.ends: list[int] = [0]

    def add(self, counts: dict[int, int]) -> int:
        for number, times in list(counts.items())[: self.limit]:
            self.ids.append(number)
            self.tf.append(min(times, 255))
        self.ends.append(len(self.ids))
        return len(self.ends) - 2

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        return {
            f"{name}_ids": np.array(self.ids, np.uint16),
            f"{name}_tf": np.array(self.tf, np.uint8),
            f"{name}_ends": np.array(self.ends, np.int64),
        }


def main(mined: Path, out: Path) -> None:
    files = sorted(mined.glob("*.jsonl.gz"))
    words = vocabulary(files)
    out.mkdir(parents=True, exist_ok=True)
    (out / "vocabulary.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    pieces = Pieces(words)
    documents, queries = Ragged(MAX_DOC), Ragged(MAX_QUERY)
    pairs: list[tuple[int, int, int, int]] = []
    for repository, path in enumerate(files):
        first = len(documents.ends) - 1
        known: dict[str, int] = {}
        for row in rows(path):
            if "d" in row:
                documents.add(pieces.counts(str(row["d"])))
            else:
                text = str(row["q"])
                query = known.get(text)
                if query is None:
                    query = known[text] = queries.add(pieces.counts(text))
                pairs.append((query, first + int(row["i"]), KINDS.index(str(row["k"])), repository))
    np.savez_compressed(out / "documents.npz", **documents.arrays("doc"))
    np.savez_compressed(out / "pairs.npz", **queries.arrays("query"), pairs=np.array(pairs, np.int32))
    counts = f"{len(documents.ends) - 1} documents, {len(pairs)} pairs"
    print(f"{len(files)} sources, {len(words)} pieces, {counts}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
