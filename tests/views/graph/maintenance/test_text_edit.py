from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codenib.views.graph.maintenance.text_edit import TextEdit, ranges

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e", b""]), max_size=12)


@given(LINES, LINES)
def test_hunks_turn_the_old_lines_into_the_new_ones(old: list[bytes], new: list[bytes]) -> None:
    edit = TextEdit(b"\n".join(old), b"\n".join(new))
    made = list(edit.old)
    for begin, end, first, last in reversed(edit.hunks):
        made[begin:end] = edit.new[first:last]
    assert made == edit.new


@given(LINES, LINES)
def test_the_line_map_leads_to_equal_lines_and_covers_all_that_no_hunk_has(
    old: list[bytes], new: list[bytes]
) -> None:
    edit = TextEdit(b"\n".join(old), b"\n".join(new))
    touched = {line for begin, end, _, _ in edit.hunks for line in range(begin, end)}
    for line, goal in enumerate(edit.line_map.tolist()):
        assert (goal < 0) == (line in touched)
        assert goal < 0 or edit.old[line] == edit.new[goal]


def test_lines_are_joined_to_ranges() -> None:
    assert ranges([0, 1, 2, 5, 7, 8]) == [(0, 2), (5, 5), (7, 8)]
