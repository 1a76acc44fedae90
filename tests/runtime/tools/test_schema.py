"""Arguments against schemas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.runtime.tools.schema import problems, relaxed

SCHEMA = {
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer", "minimum": 1, "maximum": 9},
        "which": {"type": "string", "enum": ["in", "out"]},
        "globs": {"type": "array", "items": {"type": "string"}},
        "all": {"type": "boolean"},
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "a", "line": 3, "which": "in", "globs": ["x"], "all": True}, []),
        ({}, ["'path' is missing"]),
        ({"path": 3}, ["'path' must be a string, not 3"]),
        ({"path": "a", "line": True}, ["'line' must be an integer, not True"]),
        ({"path": "a", "line": 0}, ["'line' must be at least 1, not 0"]),
        ({"path": "a", "line": 10}, ["'line' must be at most 9, not 10"]),
        ({"path": "a", "which": "up"}, ["'which' must be one of in, out, not 'up'"]),
        ({"path": "a", "globs": ["x", 1]}, ["'globs[]' must be a string, not 1"]),
        ({"path": "a", "file": 1}, ["'file' is not known; there are path, line, which, globs, all"]),
    ],
)
def test_each_problem_is_said_in_words(arguments: dict[str, object], said: list[str]) -> None:
    assert problems(arguments, SCHEMA) == said


def test_what_models_often_get_wrong_is_put_right() -> None:
    given = {"path": "a", "line": " 3", "globs": "x", "which": None}
    assert relaxed(given, SCHEMA) == {"path": "a", "line": " 3", "globs": ["x"]} | {"line": 3}
    assert relaxed({"path": "a", "line": 4.0}, SCHEMA) == {"path": "a", "line": 4}
    assert relaxed({"path": None}, SCHEMA) == {"path": None}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), json_values, max_size=5))
def test_no_arguments_break_the_check(arguments: dict[str, object]) -> None:
    mended = relaxed(arguments, SCHEMA)
    if not problems(mended, SCHEMA):
        assert isinstance(mended["path"], str)
