"""The folded trigrams of a blob."""

from __future__ import annotations

import re
import sys

import numpy as np
import regex  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from codenib.core.source import BlobUnits
from codenib.views.trigram.derive import FOLDED, TrigramDeriver, fold, grams_of, pack, unpack

UNITS = BlobUnits("text", 1)


def texts_of(record: bytes) -> set[bytes]:
    return {record[at : at + 3] for at in range(0, len(record), 3)}


def test_folded_characters_are_all_that_regex_matches_with_ascii() -> None:
    others = "".join(chr(code) for code in range(128, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    found = {
        match.group(): char.lower()
        for char in map(chr, range(128))
        for match in regex.finditer(regex.escape(char), others, regex.IGNORECASE)
    }
    assert found == FOLDED


def test_folding_in_a_word_is_folding_each_character() -> None:
    for char, letter in FOLDED.items():
        assert fold(f"A{char}B".encode()) == f"a{letter}b".encode()
        assert regex.fullmatch(f"a{letter}b|a{letter.upper()}b", f"A{char}B", regex.IGNORECASE)


@given(st.binary(max_size=300) | st.text("aAbB\n\u212a\u017fé", max_size=300).map(str.encode))
def test_record_holds_each_trigram_of_each_line_once(data: bytes) -> None:
    record = TrigramDeriver().derive(data, UNITS)
    lines = fold(data).split(b"\n")
    expected = {line[at : at + 3] for line in lines for at in range(len(line) - 2)}
    assert texts_of(record) == expected
    assert len(record) == 3 * len(expected)
    assert np.all(np.diff(unpack(record).astype(np.int64)) > 0)


@given(st.lists(st.integers(0, (1 << 24) - 1), unique=True))
def test_unpack_reads_what_pack_wrote(values: list[int]) -> None:
    grams = np.array(values, np.uint32)
    assert np.array_equal(unpack(pack(grams)), grams)


def test_a_line_break_is_in_no_trigram() -> None:
    assert len(grams_of(b"ab\ncd\nef")) == 0
    assert not re.search(rb"\n", TrigramDeriver().derive(b"abc\ndef\n", UNITS))
