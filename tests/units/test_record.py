"""Records: what is written is read back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codenib.core.source import BlobUnits, Level, UnitRow
from codenib.units.extract import extract
from codenib.units.record import decode_units, encode_units

rows = st.builds(
    UnitRow,
    start_line=st.integers(1, 1 << 30),
    end_line=st.integers(1, 1 << 30),
    level=st.sampled_from(Level),
    kind=st.text(max_size=12),
    symbol=st.text(max_size=40),
    leaf=st.booleans(),
    test=st.booleans(),
)
units = st.builds(
    BlobUnits,
    language=st.text(max_size=12),
    lines=st.integers(0, 1 << 30),
    rows=st.lists(rows, max_size=20).map(tuple),
    skip=st.text(max_size=12),
)


@given(units)
def test_decoding_gives_what_was_encoded(blob: BlobUnits) -> None:
    assert decode_units(encode_units(blob)) == blob


def test_extracted_units_survive_the_record() -> None:
    blob = extract(b"class A:\n    def b(self): ...\n", "python")
    decoded = decode_units(encode_units(blob))
    assert decoded == blob
    assert all(isinstance(row.level, Level) for row in decoded.rows)
