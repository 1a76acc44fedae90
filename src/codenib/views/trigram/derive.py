"""A blob's bytes in, the sorted set of its folded trigrams out.

One index serves case-sensitive and case-insensitive queries because text and pattern are folded alike before
they are cut into trigrams. That makes the index a superset filter: matches are verified against the text.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from codenib.core.source import BlobUnits
from codenib.views.trigram.profile import TRIGRAMS

Grams = NDArray[np.uint32]

NEWLINE = 0x0A

#: The non-ASCII characters that `regex` matches with an ASCII letter under IGNORECASE, found by trying every
#: code point with every ASCII character (test_derive.py repeats the experiment). A first byte of
#: UTF-8 always starts a character, even after broken bytes, so replacing bytes is replacing characters.
FOLDED = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}

_FOLDED_BYTES = [(char.encode(), letter.encode()) for char, letter in FOLDED.items()]


def fold(data: bytes) -> bytes:
    """ASCII lower case, with the characters of `FOLDED` as their letters. Folds character by character."""
    if not data.isascii():
        for char, letter in _FOLDED_BYTES:
            data = data.replace(char, letter)
    return data.lower()


def grams_of(folded: bytes) -> Grams:
    """The trigrams of folded bytes that hold no line break, each once, in no order."""
    text = np.frombuffer(folded, np.uint8)
    if len(text) < 3:
        return np.empty(0, np.uint32)
    grams = text[:-2].astype(np.uint32) << 16
    grams |= text[1:-1].astype(np.uint32) << 8
    grams |= text[2:]
    inside = text != NEWLINE
    return _unique(grams[inside[:-2] & inside[1:-1] & inside[2:]])


def pack(grams: Grams) -> bytes:
    """Three bytes a trigram, big-endian: a quarter smaller than words, and as quick to read as one array."""
    words = np.ascontiguousarray(grams, dtype=">u4")
    return words.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()


def unpack(record: bytes) -> Grams:
    """What `pack` packed; several records joined give their trigrams one after the other."""
    rows = np.frombuffer(record, np.uint8).reshape(-1, 3)
    grams: Grams = rows[:, 0].astype(np.uint32)
    for column in (1, 2):
        grams <<= np.uint32(8)
        grams |= rows[:, column]
    return grams


class TrigramDeriver:
    """The record of a blob: its folded trigrams, sorted and packed."""

    name = "trigrams"
    version = TRIGRAMS

    def derive(self, data: bytes, units: BlobUnits) -> bytes:
        return pack(np.sort(grams_of(fold(data))))


class _LastPlaces(threading.local):
    """A word for each trigram, one table a thread; uninitialised, so only touched pages cost memory."""

    def __init__(self) -> None:
        self.last: NDArray[np.int32] = np.empty(1 << 24, np.int32)


_places = _LastPlaces()


def _unique(grams: Grams) -> Grams:
    """Keep the last occurrence of each trigram.

    Django's 5,699 files (38 MB), one core: 74 MB/s, against 49 MB/s for sorting all occurrences; at 300 KB a
    file 137 against 40 MB/s.
    """
    last = _places.last
    order = np.arange(len(grams), dtype=np.int32)
    last[grams] = order
    unique: Grams = grams[last[grams] == order]
    return unique
