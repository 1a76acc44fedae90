"""Docstring to function within a repository, MRR: `python -m training.evaluate REPO.git ...`.

The query is a docstring's first paragraph, the corpus every function of the repository without its docstring.
Prints BM25 over the same documents with the code tokenizer, the static model, and both as the hybrid route adds them.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from training.mine import _worth, doc_pair, functions

from codenib.serving.search.fusion import SHORT_WEIGHT
from codenib.snapshot.blobs import GitBlobs
from codenib.units.marks import marks_of
from codenib.units.tokens import terms_of, words_of
from codenib.views.dense.embedders.static import open_static
from codenib.views.lexical.query import query_terms
from codenib.views.lexical.read import K1, PATH_WEIGHT, SYMBOL_WEIGHT, B


def corpus(git_dir: str) -> tuple[list[str], list[tuple[str, int]]]:
    """Documents without documentation, and (query, document) pairs."""
    listing = subprocess.run(
        ["git", f"--git-dir={git_dir}", "ls-tree", "-r", "-z", "--full-tree", "HEAD"],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")
    entries = [entry.split("\t", 1) for entry in listing.split("\0") if entry]
    files = [(path, meta.split()[2]) for meta, path in entries if path.endswith(".py") and not marks_of(path)]
    documents: list[str] = []
    pairs: list[tuple[str, int]] = []
    blobs = GitBlobs(git_dir)
    for (path, _), data in zip(files, blobs.read([digest for _, digest in files]), strict=True):
        for function in functions(path, data or b""):
            pair = doc_pair(function)
            if pair and _worth(pair[0]):
                pairs.append((pair[0], len(documents)))
            documents.append(function.document(pair[1] if pair else frozenset()))
    return documents, pairs


def chosen_pairs(pairs: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """At most a thousand of them, always the same."""
    return [pairs[n] for n in np.random.default_rng(3).permutation(len(pairs))[:1000]]


class Bm25:
    """The lexical view's formula over the same documents: fields by their line, query terms as it weighs them."""

    def __init__(self, documents: list[str]) -> None:
        self.lengths = np.zeros(len(documents))
        body: dict[str, dict[int, float]] = defaultdict(dict)
        fields: dict[str, dict[int, float]] = defaultdict(dict)
        for number, text in enumerate(documents):
            first, _, source = text.partition("\n")
            path, _, symbol = first.rpartition(":")
            for part, weight in ((path, PATH_WEIGHT), (symbol, SYMBOL_WEIGHT)):
                for term in (term for word in words_of(part) for term in terms_of(word)):
                    fields[term][number] = fields[term].get(number, 0.0) + weight
            for term in (term for word in words_of(source) for term in terms_of(word)):
                body[term][number] = body[term].get(number, 0.0) + 1.0
                self.lengths[number] += 1
        self.norm = 1 - B + B * self.lengths / max(self.lengths.mean(), 1)
        self.rows: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for term in body.keys() | fields.keys():
            docs = sorted(body[term].keys() | fields[term].keys())
            tf = [body[term].get(d, 0.0) / self.norm[d] + fields[term].get(d, 0.0) for d in docs]
            self.rows[term] = (np.array(docs), np.array(tf))

    def scores(self, query: str) -> np.ndarray:
        total = np.zeros(len(self.lengths))
        for term in query_terms(query):
            if term.text in self.rows:
                docs, tf = self.rows[term.text]
                idf = np.log1p((len(total) - len(docs) + 0.5) / (len(docs) + 0.5))
                total[docs] += term.weight * idf * tf * (K1 + 1) / (tf + K1)
        return total


def z(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / (values.std() or 1.0)


def spread(values: np.ndarray) -> float:
    found = values[values > 0]
    return float(found.std()) if len(found) else 1.0


def main(git_dirs: list[str]) -> None:
    model = open_static()
    means = []
    for git_dir in git_dirs:
        documents, pairs = corpus(git_dir)
        pairs = chosen_pairs(pairs)
        vectors = model.embed_documents(documents)
        queries = model.embed_queries([query for query, _ in pairs])
        bm25 = Bm25(documents)
        gains = {"bm25": [], "static": [], "fused": []}  # type: dict[str, list[float]]
        for (query, gold), vector in zip(pairs, queries, strict=True):
            lexical, dense = bm25.scores(query), vectors @ vector
            for name, values in (
                ("bm25", lexical),
                ("static", dense),
                ("fused", lexical + SHORT_WEIGHT * spread(lexical) * np.maximum(z(dense), 0)),
            ):
                gains[name].append(1 / (1 + int((values > values[gold]).sum())))
        row = {name: float(np.mean(values)) for name, values in gains.items()}
        means.append(row)
        print(
            f"{Path(git_dir).parent.name:28} {len(documents):6} functions  "
            + "  ".join(f"{k} {v:.3f}" for k, v in row.items()),
            flush=True,
        )
    print("mean " + "  ".join(f"{name} {np.mean([row[name] for row in means]):.3f}" for name in means[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
