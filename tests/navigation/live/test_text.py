"""Columns in every encoding, and texts that follow the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codenib.navigation.live.text import ENCODINGS, DiskTexts, Encoding, SourceText, column_of, units_of

LINES = st.text(alphabet=st.sampled_from("aé ß漢𝕏😀\u0301\t"), max_size=30) | st.text(
    alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=30
)
_CODECS: dict[Encoding, tuple[str, int]] = {
    "utf-8": ("utf-8", 1),
    "utf-16": ("utf-16-le", 2),
    "utf-32": ("utf-32-le", 4),
}


@settings(deadline=None)
@given(LINES, st.sampled_from(ENCODINGS), st.data())
def test_columns_survive_the_way_to_the_server_and_back(
    line: str, encoding: Encoding, data: st.DataObject
) -> None:
    column = data.draw(st.integers(0, len(line)))
    units = units_of(line, column, encoding)
    codec, size = _CODECS[encoding]
    assert units == len(line[:column].encode(codec)) // size
    assert column_of(line, units, encoding) == column


@settings(deadline=None)
@given(LINES, st.sampled_from(ENCODINGS), st.integers(0, 200))
def test_any_unit_number_is_a_column_of_the_line(line: str, encoding: Encoding, units: int) -> None:
    column = column_of(line, units, encoding)
    assert 0 <= column <= len(line)
    assert units_of(line, column, encoding) <= units or units > units_of(line, len(line), encoding)


def test_lines_end_as_in_the_protocol() -> None:
    text = SourceText("\ufeffa\r\nb\rc\x0cd\u2028e\n".encode())
    assert text.lines == ["a", "b", "c\x0cd\u2028e", ""]


def test_bytes_that_are_not_utf8_are_still_a_text() -> None:
    assert SourceText(b"caf\xe9 x").lines == ["caf\ufffd x"]


def test_a_text_is_read_again_only_when_the_file_changed(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one")
    os.utime(file, ns=(1, 1))
    texts = DiskTexts(tmp_path)
    first = texts.read("a")
    assert first is not None
    assert texts.read("a") is first
    file.write_text("two")
    second = texts.read("a")
    assert second is not None and second.text == "two"
    file.unlink()
    assert texts.read("a") is None


def test_a_write_within_one_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "a"
    texts = DiskTexts(tmp_path)
    for number in range(50):
        file.write_text(f"{number:03}")
        found = texts.read("a")
        assert found is not None and found.text == f"{number:03}"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_past_the_last_line_there_is_only_column_zero(encoding: Encoding) -> None:
    assert SourceText(b"a\n").column(7, 3, encoding) == 0
