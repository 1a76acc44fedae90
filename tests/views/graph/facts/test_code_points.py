from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.views.graph.toy import columns

from codenib.views.graph.facts.code_points import offsets, to_code_points

PLACE = np.dtype([("line", "<i4"), ("column", "<i4")])
lines = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=12)


@given(lines, st.sampled_from(["utf-8", "utf-16"]))
def test_every_column_comes_back_from_its_encoding(line: str, encoding: str) -> None:
    back = offsets(line.encode(), encoding)
    assert [back[columns(line, at, encoding)] for at in range(len(line) + 1)] == list(range(len(line) + 1))


@given(st.lists(lines, min_size=1, max_size=5), st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.data())
def test_a_table_of_positions_becomes_code_points(
    text: list[str], encoding: str, data: st.DataObject
) -> None:
    places = data.draw(
        st.lists(
            st.integers(0, len(text) - 1).flatmap(
                lambda line: st.tuples(st.just(line), st.integers(0, len(text[line])))
            ),
            max_size=6,
        )
    )
    rows = np.array([(line, columns(text[line], column, encoding)) for line, column in places], PLACE)
    to_code_points("\n".join(text).encode(), encoding, (rows, (("line", "column"),)))
    assert [tuple(row) for row in rows.tolist()] == places
