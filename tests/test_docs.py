"""Pages for people name files that exist."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"))
    if path.name != "coverage.md"
)
_QUOTED = re.compile(r"`([\w./{},-]+)`")
_OURS = re.compile(
    r"^(?:src/codenib/|tests/|docs/|benchmarks/|training/)"
    r"|^(?:core|snapshot|units|views|navigation|manifest|compiler|planner|serving|runtime|adapters|evals)/.*"
    r"(?:/|\.(?:py|md|json|scm|js|go|rs))$"
)
_PLACEHOLDER = re.compile(r"NAME|NNNN|VIEW|KEY|\.\.\.|…")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_a_page_names_is_there(page: Path) -> None:
    missing = [
        path
        for quoted in _QUOTED.findall(page.read_text(encoding="utf-8"))
        if _OURS.search(quoted) and not _PLACEHOLDER.search(quoted)
        for path in _expanded(quoted)
        if not any((base / path).exists() for base in (ROOT, ROOT / "src" / "codenib", ROOT / "tests"))
    ]
    assert missing == []


def _expanded(path: str) -> list[str]:
    """`a/{b,c}.py` as `a/b.py` and `a/c.py`."""
    parts = re.split(r"\{([^{}]*)\}", path)
    choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
    return ["".join(words) for words in product(*choices)]
