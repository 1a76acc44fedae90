from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.views.graph.sample import facts_of

from codenib.views.graph.maintenance.stale_syntax import (
    StaleSyntax,
    breaks_syntax,
    can_go_stale,
    describe,
    rebased,
)

GOOD = b"def first():\n    return 1\n\n\ndef second():\n    return first()\n"


def test_a_half_written_line_breaks_the_syntax_and_a_finished_one_does_not() -> None:
    assert breaks_syntax("a.py", GOOD, GOOD + b"\ndef third(:\n")
    assert not breaks_syntax("a.py", GOOD, GOOD + b"\ndef third(): ...\n")
    assert not can_go_stale("a.py", GOOD, GOOD + b"\ndef third(): ...\n")


@pytest.mark.parametrize("path", ["a.h", "a.cc", "a.md", "a.unknown"])
def test_files_whose_grammar_cannot_be_sure_do_not_go_stale(path: str) -> None:
    assert not can_go_stale(path, b"int f();\n", b"int f(;\n")


@given(
    at=st.integers(0, 6),
    rubbish=st.lists(st.sampled_from(["def x(:", ")", "", "'''"]), max_size=3),
    gone=st.integers(0, 2),
)
def test_names_on_lines_that_are_still_there_are_served_at_their_new_places(
    at: int, rubbish: list[str], gone: int
) -> None:
    lines = GOOD.decode().split("\n")
    now = [*lines[:at], *rubbish, *lines[at + gone :]]
    facts = facts_of("a.py", GOOD.decode())
    stale = StaleSyntax.of("digest", GOOD, "\n".join(now).encode())
    found = rebased(facts, stale)
    still = {stale.line_map[line] for line in facts.occurrences["line"] if stale.line_map[line] >= 0}
    assert set(found.occurrences["line"]) == still
    for line, column, _, end, *_ in found.occurrences.tolist():
        assert now[line][column:end] == "first"
    assert found.identities == facts.identities
    assert found.nodes.shape == facts.nodes.shape
    for places in (found.nodes[name] for name in ("line", "end_line", "name_line")):
        assert np.all((places >= 0) & (places < max(1, len(now))))
    assert np.all(np.diff(found.nodes["line"]) >= 0)


def test_what_is_said_names_the_files() -> None:
    assert describe([]) == ""
    assert describe(["a.py"]).startswith("a.py does not parse now")
    assert describe(list("abcde")).startswith("a, b, c and 2 more do not parse now")
