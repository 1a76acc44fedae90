"""The text of an issue in, words to search for out: the same for every tool that searches by word."""

from __future__ import annotations

import re
from collections import Counter

_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*(?:[._][A-Za-z_]\w*)+\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z][a-z]+[A-Z]\w+\b")
_WORD = re.compile(r"\b[A-Za-z_]\w{4,}\b")
_COMMON = frozenset(
    {
        *("about", "above", "after", "again", "because", "before", "being", "below", "could", "error"),
        *("errors", "example", "expected", "following", "issue", "issues", "other", "please", "python"),
        *("request", "return", "should", "since", "something", "there", "these", "thing", "think", "this"),
        *("using", "value", "version", "where", "which", "while", "would"),
    }
)


def keywords(issue: str) -> list[str]:
    """Identifiers of the issue, the longest first; plain words where it has none."""
    found = Counter(_IDENTIFIER.findall(issue))
    named = sorted({name.rpartition(".")[2] for name in found}, key=lambda name: (-len(name), name))
    plain = [word for word in _WORD.findall(issue) if word.lower() not in _COMMON]
    counted = sorted(Counter(plain).items(), key=lambda each: (-each[1], -len(each[0]), each[0]))
    return list(dict.fromkeys([*(name for name in named if len(name) > 3), *(word for word, _ in counted)]))
