"""Golden rankings: a change of ranking shows as a diff of `golden.json` in review.

The corpus is a part of our own source as it once was, so that only a change of ranking moves the file.
`CODENIB_GOLDEN=write pytest tests/serving` rewrites it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from codenib.serving.workspace import Workspace

GOLDEN = Path(__file__).parent / "golden.json"
CORPUS = Path(__file__).parent / "golden_corpus.json"

#: question → the symbol that answers it
QUESTIONS = {
    "which folder holds the state": "home",
    "write a file so that a crash loses nothing": "replace_file",
    "hold the writer lock of a repository": "Store.writing",
    "split camelCase identifiers into terms": "terms_of",
    "fold plural and past tense": "fold",
    "is this path a test file": "marks_of",
    "language of a file from its extension": "language_hint",
    "difference between two snapshots with renames": "diff",
    "read the bytes of a blob from git": "GitBlobs.read",
    "take a snapshot of the worktree with uncommitted edits": "take_worktree",
    "drop old manifests that nothing reaches": "Store.sweep",
    "choose the route for a query": "plan",
    "exit code when the caller can fix it": "InputError",
    "git blob id of some bytes": "blob_digest",
    "markdown headings": "_markdown_headings",
    "encode_units": "encode_units",
}


@pytest.fixture(scope="module")
def rankings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The first five results of each question, as `path symbol`."""
    corpus = tmp_path_factory.mktemp("golden") / "corpus"
    for path, text in json.loads(CORPUS.read_text(encoding="utf-8")).items():
        file = corpus / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODENIB_HOME", str(corpus.parent / "home"))
        with Workspace(corpus) as workspace:
            return {
                question: [f"{item.path} {item.symbol}" for item in workspace.search(question, k=5).items]
                for question in QUESTIONS
            }


def test_rankings_are_the_reviewed_ones(rankings: dict[str, list[str]]) -> None:
    if os.environ.get("CODENIB_GOLDEN") == "write":
        GOLDEN.write_text(json.dumps(rankings, indent=2) + "\n")
    assert rankings == json.loads(GOLDEN.read_text())


def test_most_questions_find_their_answer_near_the_top(rankings: dict[str, list[str]]) -> None:
    gains = []
    for question, symbol in QUESTIONS.items():
        found = [row.split(" ", 1)[1] for row in rankings[question]]
        gains.append(1 / (found.index(symbol) + 1) if symbol in found else 0.0)
    assert sum(gain > 0 for gain in gains) / len(gains) >= 0.8  # recall at five
    assert sum(gains) / len(gains) >= 0.6  # mean reciprocal rank
