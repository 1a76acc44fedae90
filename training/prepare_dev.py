"""Repositories that were not trained on, as arrays to report on: `python -m training.prepare_dev DATA MINILM REPO.git …`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from training.evaluate import chosen_pairs, corpus
from training.prepare import (
    DOCUMENT_WORDS,
    FIELD_LIMITS,
    QUERY_LIMITS,
    QUERY_WORDS,
    Texts,
    load_pieces,
    plain,
    plain_document,
    tokenizer_of,
)

from codenib.views.dense.embedders.static import fields_of


def main(out: Path, minilm: Path, git_dirs: list[Path]) -> None:
    pieces, tokenizer = load_pieces(), tokenizer_of(minilm)
    for git_dir in git_dirs:
        documents, pairs = corpus(str(git_dir))
        pairs = chosen_pairs(pairs)
        docs, queries = Texts(FIELD_LIMITS), Texts(QUERY_LIMITS)
        for text in documents:
            docs.add(pieces, fields_of(text), plain_document(text))
        for query, _ in pairs:
            queries.add(pieces, (query,), plain(query[:600]))
        np.savez_compressed(
            out / f"dev-{git_dir.parent.name}.npz",
            **docs.arrays("doc", tokenizer, DOCUMENT_WORDS),
            **queries.arrays("query", tokenizer, QUERY_WORDS),
            gold=np.array([gold for _, gold in pairs], np.int64),
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
