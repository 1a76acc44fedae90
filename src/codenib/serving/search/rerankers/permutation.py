"""A language model's reply in, an order of documents out: tolerant of how it is written, or none at all."""

from __future__ import annotations

import re

_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_LIST_MARK = re.compile(r"^\s*\d+[.)]\s+(?=\[?\d)", re.MULTILINE)  # "1. [4]" ranks 4 first
_CHAIN = re.compile(r"\[?\b\d+\b\]?(?:(?:\s*(?:>+|,|;|->|→)\s*|\s+)\[?\b\d+\b\]?)+")
_NUMBER = re.compile(r"\d+")
_BRACKETED = re.compile(r"\[(\d+)\]")


def read_permutation(reply: str, total: int) -> list[int] | None:
    """The order (0-based) that `reply` gives of `total` numbered documents, or None when it gives none.

    Numbers out of range and repeated ones are dropped, those left out come last in their first order. A reply
    that names fewer than half of the documents is no order: prose has numbers too.

    >>> read_permutation("The order is [2] > [3] > [1].", 3)
    [1, 2, 0]
    >>> read_permutation("I cannot rank 3 documents.", 3) is None
    True
    """
    text = _LIST_MARK.sub("", _THOUGHTS.sub(" ", reply))
    chains = [_valid(_NUMBER.findall(chain.group()), total) for chain in _CHAIN.finditer(text)]
    bracketed = _valid(_BRACKETED.findall(text), total)
    # A chain says an order; of several the longest does, and the last of these is the conclusion.
    best = max(enumerate([bracketed, *chains]), key=lambda each: (len(each[1]), each[0]))[1]
    if 2 * len(best) < total or not best:
        return None
    return best + [row for row in range(total) if row not in set(best)]


def _valid(numbers: list[str], total: int) -> list[int]:
    rows = (int(number) - 1 for number in numbers if len(number) <= len(str(total)))
    return list(dict.fromkeys(row for row in rows if 0 <= row < total))
