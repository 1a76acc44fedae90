"""The embedded model's tokenizer: text in, counted piece numbers out.

A word is split like an identifier (snake_case, camelCase, digits) and lower-cased; a part that the vocabulary
does not hold whole is cut greedily into the longest pieces that it does hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+")
_PART_BEYOND_ASCII = re.compile(r"[^\W\d_]+|\d+")
_LONGEST_WORD = 64  # longer runs are data
_LONGEST_NUMBER = 4
MAX_PIECE = 20
_REMEMBERED = 1 << 19  # words


def parts_of(word: str) -> list[str]:
    """The lower-cased parts of a word."""
    if len(word) > _LONGEST_WORD:
        return []
    found = (_PART if word.isascii() else _PART_BEYOND_ASCII).findall(word)
    return [part.lower() for part in found if not (part.isdigit() and len(part) > _LONGEST_NUMBER)]


class Pieces(dict[str, tuple[int, ...]]):
    """A vocabulary, with the pieces of every word that it has met."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        super().__init__()
        self._numbers: Mapping[str, int] = {piece: number for number, piece in enumerate(vocabulary)}

    def counts(self, text: str) -> dict[int, int]:
        """How often each piece stands in a text, in order of first appearance."""
        # Looked up and counted in C: this is half of the time that an index of vectors takes.
        return Counter(chain.from_iterable(map(self.__getitem__, _WORD.findall(text))))

    def __missing__(self, word: str) -> tuple[int, ...]:
        numbers = tuple(number for part in parts_of(word) for number in self.cut(part))
        if len(self) > _REMEMBERED:
            self.clear()
        self[word] = numbers
        return numbers

    def cut(self, part: str) -> list[int]:
        """The pieces of a part, longest first from the left; what no piece holds is left out."""
        whole = self._numbers.get(part)
        if whole is not None:
            return [whole]
        found: list[int] = []
        at = 0
        while at < len(part):
            for end in range(min(len(part), at + MAX_PIECE), at, -1):
                number = self._numbers.get(part[at:end])
                if number is not None:
                    found.append(number)
                    at = end
                    break
            else:
                at += 1
        return found
