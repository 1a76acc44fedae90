"""The wire format: what was encoded comes back, and anything else is the caller's error, never a crash."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.navigation.scip.scip_encode import chunk, encode, number, varint

from codenib.core.errors import InputError
from codenib.navigation.scip.wire import (
    Relationship,
    ScipDocument,
    ScipIndex,
    ScipOccurrence,
    SymbolInformation,
    read_index,
)

SYMBOLS = st.one_of(st.just(""), st.text(max_size=20), st.builds("local {}".format, st.integers(0, 999)))
NUMBERS = st.integers(0, 70_000)
PLACES = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS).map(
    lambda four: (*min(four[:2], four[2:]), *max(four[:2], four[2:]))
)
OCCURRENCES = st.builds(ScipOccurrence, PLACES, SYMBOLS, st.integers(0, 127), st.none() | PLACES)
RELATIONSHIPS = st.builds(Relationship, SYMBOLS, st.booleans(), st.booleans(), st.booleans(), st.booleans())
INFORMATION = st.builds(
    SymbolInformation,
    SYMBOLS,
    st.integers(0, 90),
    SYMBOLS,
    st.lists(RELATIONSHIPS, max_size=2).map(tuple),
    st.text(max_size=20),
)
DOCUMENTS = st.builds(
    ScipDocument,
    st.text(max_size=20),
    st.sampled_from(["utf-8", "utf-16", "utf-32"]),
    st.lists(OCCURRENCES, max_size=4).map(tuple),
    st.lists(INFORMATION, max_size=3).map(tuple),
    st.text(max_size=30),
)
INDEXES = st.builds(
    ScipIndex,
    st.text(max_size=10),
    st.text(max_size=5),
    st.lists(DOCUMENTS, max_size=3).map(tuple),
    st.lists(INFORMATION, max_size=2).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(INDEXES)
def test_what_was_encoded_comes_back(index: ScipIndex) -> None:
    assert read_index(encode(index)) == index


@settings(max_examples=60, deadline=None)
@given(INDEXES, st.data())
def test_a_cut_index_is_an_input_error_or_a_shorter_whole_one(index: ScipIndex, data: st.DataObject) -> None:
    whole = encode(index)
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    try:
        found = read_index(cut)
    except InputError:
        return
    assert found.documents == index.documents[: len(found.documents)]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_an_index_or_an_input_error(data: bytes) -> None:
    with suppress(InputError):
        read_index(data)


def test_a_cut_inside_a_document_is_told() -> None:
    index = ScipIndex(
        "t", "1", (ScipDocument("a.py", "utf-8", (ScipOccurrence((0, 0, 0, 1), "local 1", 1),)),)
    )
    with pytest.raises(InputError, match=r"my\.scip is not a whole SCIP index") as caught:
        read_index(encode(index)[:-2], "my.scip")
    assert caught.value.hint


def test_ranges_one_number_at_a_time_and_unknown_fields_are_read() -> None:
    loose = b"".join(number(1, value) for value in (3, 4, 9))
    unknown = chunk(99, "later") + varint(98 << 3 | 5) + b"1234" + varint(97 << 3 | 1) + b"12345678"
    row = chunk(2, loose + chunk(2, "local 7") + unknown)
    (document,) = read_index(chunk(2, chunk(1, "a.go") + row)).documents
    assert document.occurrences == (ScipOccurrence((3, 4, 3, 9), "local 7"),)


@pytest.mark.parametrize(("tool", "unit"), [("scip-go", "utf-8"), ("scip-typescript", "utf-16")])
def test_an_index_that_does_not_say_its_unit_has_that_of_its_tool(tool: str, unit: str) -> None:
    head = chunk(1, chunk(2, chunk(1, tool)))
    (document,) = read_index(head + chunk(2, chunk(1, "a"))).documents
    assert document.encoding == unit


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(InputError, match="range"):
        read_index(chunk(2, chunk(2, chunk(1, bytes([3, 9, 4])))))
