"""Text in, its number of tokens out: the tokenizer cl100k_base, counted as tiktoken counts it.

The vocabulary is in the package (0.4 MB), so nothing is downloaded. The PyPI package rs-bpe counts the same
but is 26 MB; on our own source and on random text the two and this module agree token for token.
"""

from __future__ import annotations

import zlib
from functools import cache, lru_cache
from heapq import heapify, heappop, heappush
from pathlib import Path

import regex  # type: ignore[import-untyped]

#: The name that every answer with a budget carries.
TOKENIZER = "cl100k_base"

_VOCABULARY = Path(__file__).parent / "vocabulary" / "cl100k_base.zlib"
_NUMBER = 4  # bytes of the count at the head of the file
_PIECE = regex.compile(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
    r"|\s*[\r\n]|\s+(?!\S)|\s"
)


def count(text: str) -> int:
    """How many tokens `text` has. Marks of chat formats count as the plain text that they are.

    >>> count("def total_price(self):")
    5
    """
    return sum(map(_tokens, _PIECE.findall(text)))


@cache
def _ranks() -> dict[bytes, int]:
    """Each token's rank: the lower pair is merged first."""
    data = zlib.decompress(_VOCABULARY.read_bytes())
    total = int.from_bytes(data[:_NUMBER], "little")
    at = _NUMBER + total
    ranks = {}
    for rank, size in enumerate(data[_NUMBER:at]):
        ranks[data[at : at + size]] = rank
        at += size
    return ranks


@lru_cache(maxsize=1 << 16)
def _tokens(piece: str) -> int:
    """How many tokens byte pair encoding leaves of one piece."""
    data, ranks = piece.encode("utf-8", "replace"), _ranks()
    if len(data) == 1 or data in ranks:
        return 1
    size = len(data)
    after = [*range(1, size + 1), size]  # where the part that begins here ends
    before = list(range(-1, size))
    alive = [True] * size
    pairs = [(ranks[pair], at, at + 2) for at in range(size - 1) if (pair := data[at : at + 2]) in ranks]
    heapify(pairs)
    left = size
    while pairs:
        _, start, end = heappop(pairs)
        middle = after[start]
        if not alive[start] or middle == size or after[middle] != end:
            continue  # one of its parts was merged with another meanwhile
        alive[middle] = False
        after[start] = end
        before[end] = start
        left -= 1
        if end < size and (rank := ranks.get(data[start : after[end]])) is not None:
            heappush(pairs, (rank, start, after[end]))
        if start and (rank := ranks.get(data[before[start] : end])) is not None:
            heappush(pairs, (rank, before[start], end))
    return left
