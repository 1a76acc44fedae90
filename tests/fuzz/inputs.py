"""Seeds of a format in, inputs near them out: a seed after a few edits, or any bytes at all.

Hypothesis draws for short runs, because it shrinks what fails; a seeded generator draws the same edits for
long ones, because it takes microseconds instead of a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

#: Where, how many bytes go, what comes instead, how often.
Edit = tuple[int, int, bytes, int]
_PLACES, _GONE, _EDITS = 2000, 12, 5
#: Mostly once; many times for what nests, and for what only shows when it is long.
_TIMES = (*(1,) * 12, 2, 2, 40, 6000)
_BYTES = (b"\0", b"\xff", b"\x80", b"\xed\xa0\x80", b"\n", b" ", b"-1", b"9" * 20, "é𝕏".encode())


def near(seeds: Sequence[bytes], words: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """What hypothesis draws: edits that put words of the format or any bytes in."""
    piece = st.sampled_from([*words, *_BYTES]) | st.binary(max_size=6)
    edit = st.tuples(st.integers(0, _PLACES), st.integers(0, _GONE), piece, st.sampled_from(_TIMES))
    edited = st.builds(_apply, st.sampled_from(list(seeds)), st.lists(edit, max_size=_EDITS))
    return edited | st.binary(max_size=40)


def near_by(random: Random, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """The same by a generator."""
    if random.random() < 0.02:
        return random.randbytes(random.randrange(40))
    edits: list[Edit] = []
    for _ in range(random.randint(1, _EDITS)):
        known = random.random() < 0.7
        piece = random.choice([*words, *_BYTES]) if known else random.randbytes(random.randrange(7))
        gone = random.choice((0, 1, random.randint(0, _GONE)))
        edits.append((random.randrange(_PLACES), gone, piece, random.choice(_TIMES)))
    return _apply(random.choice(seeds), edits)


def _apply(seed: bytes, edits: list[Edit]) -> bytes:
    for at, gone, piece, times in edits:
        start = at % (len(seed) + 1)
        seed = seed[:start] + piece * times + seed[start + gone :]
    return seed
