"""Extraction: what is skipped, and that leaves cover each line once for any bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.units import block_sources, more_sources, sources

from codenib.core.source import BlobUnits, Level, UnitRow
from codenib.units.components import COMPONENTS
from codenib.units.extract import MAX_BYTES, extract
from codenib.units.languages import BY_NAME, PROSE
from codenib.units.notebooks import NOTEBOOK
from codenib.units.outline import PIECE_LINES

SOURCES = {
    name: source.encode()
    for name, (source, _) in (sources.CASES | more_sources.CASES | block_sources.CASES).items()
}
HINTS = [*BY_NAME, *sorted(PROSE), *COMPONENTS, NOTEBOOK, "json", "text", "unknown", ""]
CODE = [
    b"def f():",
    b"class A {",
    b"}",
    b"/*",
    b"*/",
    b"//",
    b"#",
    b'"""',
    b"  ",
    b"\t",
    b"=====",
    b"# t",
    b"```",
    b"<script>",
    b"</script>",
    b'{"cells": [{"source": ["a",',
    b'"b"]}]}',
]
texts = st.one_of(
    st.binary(max_size=400),
    st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")),
    st.lists(st.sampled_from([*CODE, b"", b"\r", b"x = 1", b"fn a() {", b"\xff"]), max_size=60).map(
        b"\n".join
    ),
)


def assert_covered(data: bytes, units: BlobUnits) -> None:
    """Leaves hold each line once and in order; every row is inside of the file."""
    total = len(data.removesuffix(b"\n").split(b"\n")) if data else 0
    assert units.lines == total
    if units.skip or not data:
        assert units.rows == ()
        return
    following = 1
    for row in units.rows:
        assert 1 <= row.start_line <= row.end_line <= total
        if row.leaf:
            assert row.start_line == following
            following = row.end_line + 1
    assert following == total + 1
    whole = [row for row in units.rows if row.level is Level.L0]
    assert len(whole) == 1
    assert whole[0].leaf == (len(units.rows) == 1)


@settings(deadline=None)  # the first use of a grammar takes its time
@given(texts, st.sampled_from(HINTS))
def test_leaves_cover_each_line_once_for_any_bytes(data: bytes, hint: str) -> None:
    assert_covered(data, extract(data, hint))


@settings(deadline=None)
@given(st.binary(max_size=50), st.text(max_size=10))
def test_any_hint_is_answered(data: bytes, hint: str) -> None:
    assert_covered(data, extract(data, hint))


@pytest.mark.parametrize("language", SOURCES)
@settings(max_examples=40, deadline=None)
@given(edits=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 80), st.sampled_from(CODE)), max_size=6))
def test_leaves_cover_each_line_once_in_broken_code(
    language: str, edits: list[tuple[int, int, bytes]]
) -> None:
    data = SOURCES[language]
    for position, length, put in edits:
        start = position % (len(data) + 1)
        data = data[:start] + put + b"\n" * (length % 3) + data[start + length :]
    assert_covered(data, extract(data, language))


@pytest.mark.parametrize("language", SOURCES)
def test_leaves_cover_each_line_once_when_code_is_cut_anywhere(language: str) -> None:
    data = SOURCES[language]
    for end in range(0, len(data), 7):
        assert_covered(data[:end], extract(data[:end], language))


@pytest.mark.parametrize(
    ("data", "hint", "reason"),
    [
        (b"a\0b", "python", "binary"),
        (b"x" * (MAX_BYTES + 1), "text", "huge"),
        (b"x = '" + b"y" * 10_001 + b"'\n", "python", "long line"),
        ((b"var a=1;" * 60 + b"\n") * 20, "javascript", "minified"),
        ((b"var a = 1;\n") * 2000, "javascript", ""),
        ("é".encode() * 9_000, "text", ""),
        (b"", "python", ""),
    ],
)
def test_content_that_cannot_be_read_is_skipped_with_its_reason(data: bytes, hint: str, reason: str) -> None:
    units = extract(data, hint)
    assert units.skip == reason
    assert not (reason and units.rows)


def test_a_file_of_blank_lines_is_one_leaf() -> None:
    assert extract(b"\n \n\n", "python").rows == (UnitRow(1, 3, Level.L0, "file", "", True),)


def test_only_newlines_separate_lines() -> None:
    data = "a = 1\x0b\x0c\u2028b\r\nc = 2\r\n".encode()
    assert extract(data, "python").lines == 2


def test_a_byte_order_mark_is_tolerated() -> None:
    rows = extract(b"\xef\xbb\xbfdef f():\n    pass\n", "python").rows
    assert [(row.kind, row.symbol) for row in rows if row.leaf] == [("function", "f")]


def test_a_long_function_is_cut_into_pieces_of_one_symbol() -> None:
    data = b"def f():\n" + b"    x = 1\n" * 700
    pieces = [row for row in extract(data, "python").rows if row.leaf]
    assert {(row.level, row.kind, row.symbol) for row in pieces} == {(Level.L2, "function", "f")}
    assert max(row.end_line - row.start_line + 1 for row in pieces) <= PIECE_LINES
    assert len(pieces) == 3


def test_a_long_module_is_cut_between_statements() -> None:
    statement = b"x = [\n" + b"    1,\n" * 20 + b"]\n"
    pieces = [row for row in extract(statement * 20, "python").rows if row.leaf]
    assert all((row.start_line - 1) % 22 == 0 for row in pieces)
    assert max(row.end_line - row.start_line + 1 for row in pieces) <= 66


def test_deep_nesting_is_no_danger() -> None:
    for data, hint in [
        (b"(" * 9_000, "python"),
        (b"{[" * 4_000, "javascript"),
        (b"class A{\n" * 5_000, "java"),
    ]:
        assert_covered(data, extract(data, hint))


def test_the_same_input_gives_the_same_units() -> None:
    assert extract(SOURCES["cpp"], "cpp") == extract(SOURCES["cpp"], "cpp")


def test_bare_numbers_are_windows_in_any_language() -> None:
    data = b"/* generated (data) */\n" + b"0x00, 0xff, 0x55,\n" * 1000
    assert {row.kind for row in extract(data, "cpp").rows if row.leaf} == {"window"}
