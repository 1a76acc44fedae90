"""Rows for the reranker: `python -m training.reranker_rows MINED.jsonl.gz REPO.git COMMIT OUT`.

MINED is what training/mine.py wrote of the repository. Commit messages are asked of the snapshot at COMMIT; its best
answers that the commit did not change are the negatives. Docstrings get the nearest other functions. A line of OUT is
{"k": kind, "q": query, "p": right documents, "n": wrong ones}. Commits that rank in training/ranking_rows.py must be
left out by the caller (give COMMIT before them).
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from codenib.core.views import ViewKind
from codenib.serving.search.rerankers.documents import documents_of
from codenib.serving.workspace import Workspace

MOST_COMMITS, MOST_DOCSTRINGS = 500, 200
NEGATIVES = 24
CHARACTERS = 2500


def commit_rows(workspace: Workspace, commit: str, queries: dict[str, list[str]]) -> Iterator[dict]:
    """A row for each message: what it changed, and what our own search would have said."""
    for query, right in queries.items():
        answer = workspace.search(query, k=40, at=commit, route="hybrid", reranker="none")
        names = {text.split("\n", 1)[0] for text in right}
        wrong = [e for e in answer.items if e.level == "L2" and f"{e.path}:{e.symbol}" not in names][
            :NEGATIVES
        ]
        paths = sorted({item.path for item in wrong})
        texts = {path: workspace.read(path, at=commit).text for path in paths}
        if wrong:
            yield {
                "k": "commit",
                "q": query,
                "p": [text[:CHARACTERS] for text in right[:3]],
                "n": documents_of(wrong, texts, owners=False, characters=CHARACTERS),
            }


def docstring_rows(workspace: Workspace, pairs: list[tuple[str, str]]) -> Iterator[dict]:
    """A row for each docstring: its function without it, and the nearest other functions without theirs."""
    if len(pairs) < 50:
        return
    embedder = workspace._compiler.dense.open_now()
    documents = embedder.embed_documents([text for _, text in pairs])
    queries = embedder.embed_queries([query for query, _ in pairs[:MOST_DOCSTRINGS]])
    for row, near in enumerate(np.asarray(queries) @ np.asarray(documents).T):
        query, right = pairs[row]
        wrong = [pairs[at] for at in np.argsort(-near)[:20].tolist() if at != row]
        yield {
            "k": "doc",
            "q": query,
            "p": [right[:CHARACTERS]],
            "n": [text[:CHARACTERS] for other, text in wrong if text != right and other != query][:12],
        }


def main(mined: str, git_dir: str, commit: str, out: str) -> None:
    documents: list[str] = []
    queries: dict[str, list[str]] = {}
    pairs: list[tuple[str, str]] = []
    for line in gzip.decompress(Path(mined).read_bytes()).decode().splitlines():
        found = json.loads(line)
        if "d" in found:
            documents.append(found["d"])
        elif found["k"] == "commit":
            queries.setdefault(found["q"], []).append(documents[found["i"]])
        elif found["k"] == "doc":
            pairs.append((found["q"], documents[found["i"]]))
    rng = random.Random(git_dir)
    chosen = dict(rng.sample(sorted(queries.items()), min(MOST_COMMITS, len(queries))))
    rng.shuffle(pairs)
    with Workspace(git_dir) as workspace, Path(out).open("w") as stream:
        workspace.index([ViewKind.LEXICAL, ViewKind.DENSE], at=commit)
        for row in (*commit_rows(workspace, commit, chosen), *docstring_rows(workspace, pairs[:2500])):
            stream.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:5])
