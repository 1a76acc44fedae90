"""A snapshot in, source-grounded questions with known answers out; no language model writes them.

The paper's kinds that need none: behavioral (what a function is said to do, without its name), file hint,
module hint and symbol hint. Reasoning and traversal questions need a model or a graph and are not made.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.core.source import Level
from codenib.evals.data.clones import git
from codenib.evals.data.history_rows import last_line
from codenib.evals.runs import Record
from codenib.learning.rows import NOT_SOURCE, group_of
from codenib.units.extract import extract
from codenib.units.languages import language_hint
from codenib.units.marks import marks_of

BUDGET = {"behavioral": 7, "file hint": 3, "module hint": 3, "symbol hint": 2}  # the paper's, of twenty
LEAST_CHARACTERS = 100  # of an anchor's source
LEAST_WORDS = 5  # of its description
_LEADING = re.compile(r"^\s*(?:///?!?|/?\*+/?|#|--|\"\"\"|''')\s?")
_NO_PROSE = re.compile(r"^(?:@|:param|Args:|TODO|FIXME|eslint|noqa|pragma|type:|SPDX|Copyright)|[{};=<>]{2,}")


@dataclass(frozen=True, slots=True)
class DescribedFunction:
    """A described function."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    description: str

    @property
    def name(self) -> str:
        return re.split(r"[.:#]+", self.symbol)[-1]


def synthesize(clone: Path, repo: str, revision: str, seed: int) -> list[Record]:
    """Up to fifteen rows of one snapshot; same snapshot and seed, same rows."""
    commit = git(clone, "rev-parse", "--verify", f"{revision}^{{commit}}").stdout.strip()
    found = list(anchors_of(clone, commit))
    often = Counter(anchor.description for anchor in found)
    anchors = [anchor for anchor in found if often[anchor.description] == 1]  # else it has two answers
    random.Random(f"{seed} {commit}").shuffle(anchors)
    rows: list[Record] = []
    for kind, count in BUDGET.items():
        for _ in range(count):
            anchor = next((each for each in anchors if _fits(kind, each)), None)
            if anchor is None:
                break
            anchors.remove(anchor)
            rows.append(_row(repo, commit, kind, anchor, len(rows)))
    return rows


def anchors_of(clone: Path, commit: str) -> Iterator[DescribedFunction]:
    """Functions outside tests that are long enough and say what they do."""
    listed = git(clone, "ls-tree", "-r", "--name-only", "-z", commit).stdout.split("\0")
    for path in listed:
        if not group_of(path) or marks_of(path) & NOT_SOURCE:
            continue
        done = git(clone, "cat-file", "blob", f"{commit}:{path}", check=False)
        if done.returncode != 0:
            continue
        units = extract(done.stdout.encode("utf-8", "surrogateescape"), language_hint(path))
        lines = done.stdout.split("\n")
        last = 0
        for row in sorted(units.rows, key=lambda row: (row.start_line, -row.end_line)):
            if row.level is not Level.L2 or row.start_line <= last:
                continue
            last = row.end_line
            text = lines[row.start_line - 1 : row.end_line]
            if sum(map(len, text)) >= LEAST_CHARACTERS:
                said = description(text, lines[max(0, row.start_line - 13) : row.start_line - 1])
                if len(said.split()) >= LEAST_WORDS:
                    end = last_line(lines, row.start_line, row.end_line)
                    yield DescribedFunction(path, row.start_line, end, row.symbol, said)


def description(text: Sequence[str], before: Sequence[str]) -> str:
    """The first sentence of a docstring or of the comment above; empty when there is none.

    >>> description(["def f():", '    \"\"\"Open the file and read it whole. Slowly.\"\"\"'], [])
    'Open the file and read it whole.'
    """
    for at, line in enumerate(text[:6]):
        if line.strip().startswith(('"""', "'''")):
            return _sentence(text[at:])
    above: list[str] = []
    for line in reversed(before):
        if not _LEADING.match(line):
            break
        above.insert(0, line)
    inside = [line for line in text[:8] if re.match(r"\s*(?:///|/\*\*|\*)", line)]
    return _sentence(above or inside)


def _sentence(lines: Sequence[str]) -> str:
    words: list[str] = []
    ended = False
    for line in lines:
        if ended:
            break
        ended = line.rstrip().endswith(('"""', "'''")) and len(line.strip()) > 3
        plain = _LEADING.sub("", line).strip().rstrip("*/").replace('"""', "").strip()
        if not plain and words:
            break
        if plain and _NO_PROSE.search(plain):
            break
        words.append(plain)
    joined = " ".join(" ".join(words).split())
    found = re.match(r".+?[.!?](?=\s|$)", joined)
    return found[0] if found else joined[:200]


def _fits(kind: str, anchor: DescribedFunction) -> bool:
    """Only a symbol hint may name the function: the others would give the answer away."""
    leaks = anchor.name.lower() in anchor.description.lower()
    return kind == "symbol hint" or not leaks


def _row(repo: str, commit: str, kind: str, anchor: DescribedFunction, number: int) -> Record:
    folder = str(Path(anchor.path).parent)
    prefix = {
        "behavioral": "Where is this done: ",
        "file hint": f"In {anchor.path}, where is this done: ",
        "module hint": f"Somewhere below {folder}, where is this done: ",
        "symbol hint": f"Find {anchor.name}: ",
    }[kind]
    block = {
        "path": anchor.path, "start_line": anchor.start_line, "end_line": anchor.end_line,
        "symbol": anchor.symbol,
    }  # fmt: skip
    return {
        "id": f"{repo.replace('/', '__')}-{commit[:10]}-{number:02d}",
        "repo": repo,
        "language": group_of(anchor.path),
        "base_commit": commit,
        "query": prefix + anchor.description,
        "gold_files": [anchor.path],
        "gold_blocks": [block],
        "source": "synthesis without a language model",
        "kind": kind,
    }
