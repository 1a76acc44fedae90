"""Localization rows from a history: `python -m training.ranking_rows REPO.git COMMIT OUT [MOST]`.

The repository as it stood at COMMIT is what gets searched. Later commits that look like fixes give the queries
(their messages) and the targets (the functions that they changed, where COMMIT has them under the same path and
name). A line of OUT has the shape of the development rows: query, gold_files, gold_blocks, base_commit.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from training.mine import _TRAILER, Change, commits, functions, git_paths

from codenib.snapshot.blobs import GitBlobs
from codenib.units.languages import BY_NAME, language_hint
from codenib.units.marks import marks_of

MAX_FILES = 4
MAX_FUNCTIONS = 6
LEAST_WORDS = 5
_NOT_A_FIX = re.compile(
    r"(?i)^(bump|revert|release|merge|chore|docs?|style|ci|build|test|typo|format|upgrade)\b"
)
_REFERENCE = re.compile(r"\s*\(?#\d+\)?|^\w+(\([^)]*\))?!?: ")


def rows(git_dir: str, commit: str, most: int) -> Iterator[dict[str, object]]:
    """Up to `most` rows, the oldest later commits first."""
    held = git_paths(git_dir, commit)
    made = 0
    blobs = GitBlobs(git_dir)
    for message, changes in commits(git_dir, "--reverse", f"{commit}..HEAD"):
        query = _query(message)
        code = [c for c in changes if c.blob and language_hint(c.path) in BY_NAME and not marks_of(c.path)]
        if not query or not 1 <= len(code) <= MAX_FILES or any(c.path not in held for c in code):
            continue
        targets = list(_targets(blobs, code, held))
        if 1 <= len(targets) <= MAX_FUNCTIONS:
            yield {
                "query": query,
                "base_commit": commit,
                "gold_files": sorted({str(target["path"]) for target in targets}),
                "gold_blocks": targets,
            }
            made += 1
            if made == most:
                return


def _query(message: str) -> str:
    text = _TRAILER.sub("", message).strip()
    if _NOT_A_FIX.match(text):
        return ""
    title, _, rest = text.partition("\n")
    text = f"{_REFERENCE.sub('', title).strip()}\n{rest.strip()}".strip()
    return text if len(re.findall(r"[A-Za-z]{2,}", text)) >= LEAST_WORDS else ""


def _targets(blobs: GitBlobs, code: list[Change], held: dict[str, str]) -> Iterator[dict[str, object]]:
    before = blobs.read([change.blob for change in code])
    there = blobs.read([held[change.path] for change in code])
    for change, old, now in zip(code, before, there, strict=True):
        if old is None or now is None or max(len(old), len(now)) > 400_000:
            continue
        names = {
            function.row.symbol
            for function in functions(change.path, old)
            if any(a <= function.row.end_line and b >= function.row.start_line for a, b in change.ranges)
        }
        for function in functions(change.path, now):
            if function.row.symbol in names:
                names.discard(function.row.symbol)
                yield {
                    "path": change.path,
                    "start_line": function.row.start_line,
                    "end_line": function.row.end_line,
                    "symbol": function.row.symbol,
                }


def main(git_dir: str, commit: str, out: str, most: int = 60) -> None:
    found = list(rows(git_dir, commit, most))
    Path(out).write_text("".join(json.dumps(row) + "\n" for row in found))
    print(Path(git_dir).parent.name, len(found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:5]))
