"""universal-ctags: the issue's identifiers looked up among all tags; the longest names first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from codenib.evals.data.keywords import keywords
from codenib.evals.metrics.scoring import SourceBlock
from codenib.evals.peers.peer import PeerAnswer, Spent, spend


class Ctags:
    name = "universal-ctags"

    def missing(self) -> str:
        if not shutil.which("ctags"):
            return "no `ctags` program"
        said = spend(["ctags", "--version"], good=(0, 1)).output
        return "" if "Universal Ctags" in said else "`ctags` is not universal-ctags"

    def version(self) -> str:
        return spend(["ctags", "--version"]).output.split(",")[0].removeprefix("Universal Ctags ")

    def build(self, checkout: Path, state: Path) -> Spent:
        tags = state / "tags.jsonl"
        tags.unlink(missing_ok=True)  # it overwrites no file that is not in its own format
        return spend(
            ["ctags", "-R", "--output-format=json", "--fields=+ne", "--exclude=.git", "-f", str(tags), "."],
            place=checkout,
        )

    def update(self, checkout: Path, state: Path) -> Spent:
        """It has no update: the tags are made again."""
        return self.build(checkout, state)

    def ask(self, checkout: Path, state: Path, query: str, k: int) -> PeerAnswer:
        wanted = {word: place for place, word in enumerate(keywords(query))}
        patterns = [part for word in wanted for part in ("-e", f'"name": "{word}"')]
        if not patterns:
            return PeerAnswer((), "", 0.0, 0.0)
        spent = spend(["grep", "-F", *patterns, str(state / "tags.jsonl")], good=(0, 1))
        found = []
        for row in spent.output.splitlines():
            tag = json.loads(row)
            if tag.get("_type") == "tag" and "line" in tag:
                place = wanted.get(tag["name"], len(wanted))
                found.append((place, tag["path"].removeprefix("./"), tag["line"], tag))
        blocks, texts = [], []
        for _, path, line, tag in sorted(found, key=lambda each: each[:3]):
            blocks.append(SourceBlock(path, line, tag.get("end", line), tag["name"]))
            texts.append(f"{path}:{line} {tag.get('kind', '')} {tag['name']}")
        return PeerAnswer(tuple(blocks[: 4 * k]), "\n".join(texts[:k]), spent.seconds, spent.memory_mb)
