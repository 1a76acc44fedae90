"""Mined pairs in, training arrays out: `python -m training.prepare MINED DATA MINILM`.

Everything stands twice in `data.npz`, with the same numbers: as counted pieces of the package's vocabulary, a
document by its fields, for the model; and as word pieces of the MiniLM, for the teacher.
"""

from __future__ import annotations

import re
import shutil
import sys
from array import array
from collections.abc import Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from training.vocabulary import rows

from codenib.views.dense.embedders import static
from codenib.views.dense.embedders.pieces import Pieces
from codenib.views.dense.embedders.static import fields_of

VOCABULARY = Path(static.__file__).parent / "model" / "vocabulary.txt"
KINDS = ("doc", "comment", "error", "commit")
FIELD_LIMITS = (40, 40, 40, 40, 160)  # distinct pieces kept, the first ones
QUERY_LIMITS = (96,)
DOCUMENT_WORDS, QUERY_WORDS = 160, 80  # word pieces, with the two at the ends
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CLS, _SEP = 101, 102


def plain(text: str) -> str:
    """Identifiers as words, for a tokenizer that knows none."""
    return re.sub(r"\s+", " ", _HUMP.sub(" ", text).replace("_", " "))


def plain_document(text: str) -> str:
    """A document with its symbol first, so that the cut does not lose it."""
    first, _, source = text.partition("\n")
    path, _, symbol = first.rpartition(":")
    return plain(f"{symbol} {path} {source}"[:1600])


class Texts:
    """Texts as counted pieces by field, end to end, and as word pieces."""

    def __init__(self, limits: Sequence[int]) -> None:
        self.limits = limits
        self.ids, self.tf, self.counts = array("H"), array("B"), array("B")
        self.plain: list[str] = []

    def add(self, pieces: Pieces, fields: Sequence[str], text: str) -> int:
        for field, limit in zip(fields, self.limits, strict=True):
            found = list(pieces.counts(field).items())[:limit]
            self.ids.extend(number for number, _ in found)
            self.tf.extend(min(times, 255) for _, times in found)
            self.counts.append(len(found))
        self.plain.append(text)
        return len(self.plain) - 1

    def arrays(self, name: str, tokenizer: Tokenizer, limit: int) -> dict[str, np.ndarray]:
        words, lengths = word_pieces(tokenizer, self.plain, limit)
        return {
            f"{name}_ids": np.array(self.ids, np.uint16),
            f"{name}_tf": np.array(self.tf, np.uint8),
            f"{name}_counts": np.array(self.counts, np.uint8),
            f"{name}_words": words,
            f"{name}_lengths": lengths,
        }


def word_pieces(tokenizer: Tokenizer, texts: list[str], limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The texts' word pieces end to end, and how many each has."""
    found = [
        [_CLS, *encoded.ids[: limit - 2], _SEP]
        for encoded in tokenizer.encode_batch(texts, add_special_tokens=False)
    ]
    flat = array("H", (number for numbers in found for number in numbers))
    return np.array(flat, np.uint16), np.array([len(numbers) for numbers in found], np.uint8)


def tokenizer_of(folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def load_pieces() -> Pieces:
    return Pieces(VOCABULARY.read_text(encoding="utf-8").split("\n")[:-1])


def prepare(path: Path, minilm: Path) -> dict[str, np.ndarray]:
    """The arrays of one source; its pairs are (query, document, kind), numbered within it."""
    pieces, tokenizer = load_pieces(), tokenizer_of(minilm)
    documents, queries = Texts(FIELD_LIMITS), Texts(QUERY_LIMITS)
    known: dict[str, int] = {}
    pairs: list[tuple[int, int, int]] = []
    for row in rows(path):
        if "d" in row:
            text = str(row["d"])
            documents.add(pieces, fields_of(text), plain_document(text))
            continue
        text = str(row["q"])
        if text not in known:
            known[text] = queries.add(pieces, (text,), plain(text[:600]))
        pairs.append((known[text], int(row["i"]), KINDS.index(str(row["k"]))))
    return {
        **documents.arrays("doc", tokenizer, DOCUMENT_WORDS),
        **queries.arrays("query", tokenizer, QUERY_WORDS),
        "pairs": np.array(pairs, np.int64).reshape(-1, 3),
    }


def main(mined: Path, out: Path, minilm: Path) -> None:
    files = sorted(mined.glob("*.jsonl.gz"))
    with Pool() as pool:
        parts = pool.map(partial(prepare, minilm=minilm), files, chunksize=1)
    documents = queries = 0
    for number, part in enumerate(parts):  # pairs get numbers over all sources, and their source's
        source = np.full(len(part["pairs"]), number)
        part["pairs"] = np.column_stack([part["pairs"] + (queries, documents, 0), source]).astype(np.int32)
        documents += len(part["doc_lengths"])
        queries += len(part["query_lengths"])
    data = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    out.mkdir(parents=True, exist_ok=True)
    np.savez(out / "data.npz", **data)
    shutil.copy(VOCABULARY, out / "vocabulary.txt")
    kinds = dict(zip(KINDS, np.bincount(data["pairs"][:, 2], minlength=4).tolist(), strict=True))
    print(
        f"{len(files)} sources, {documents} documents, {queries} queries, {len(data['pairs'])} pairs {kinds}"
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
