from __future__ import annotations

from tests.write_coverage import ranges


def test_ranges_go_on_over_lines_that_are_no_statements() -> None:
    assert ranges([3, 4, 6, 9], {1, 2, 7, 8}) == ["3-6", "9"]
    assert ranges([], {1}) == []
