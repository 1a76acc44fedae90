"""Repositories that were not trained on, as arrays for `train.py` to report on: `prepare_dev VOCABULARY OUT REPO…`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from training.evaluate import corpus
from training.prepare import MAX_DOC, MAX_QUERY, Ragged

from codenib.views.dense.embedders.pieces import Pieces


def main(vocabulary: Path, out: Path, git_dirs: list[str]) -> None:
    pieces = Pieces(vocabulary.read_text(encoding="utf-8").split("\n")[:-1])
    for git_dir in git_dirs:
        documents, pairs = corpus(git_dir)
        pairs = [pairs[n] for n in np.random.default_rng(3).permutation(len(pairs))[:1000]]
        rows, queries = Ragged(MAX_DOC), Ragged(MAX_QUERY)
        for text in documents:
            rows.add(pieces.counts(text))
        for query, _ in pairs:
            queries.add(pieces.counts(query))
        arrays = {
            **rows.arrays("doc"),
            **queries.arrays("query"),
            "gold": np.array([gold for _, gold in pairs], np.int32),
        }
        np.savez_compressed(out / f"dev-{Path(git_dir).parent.name}.npz", **arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
