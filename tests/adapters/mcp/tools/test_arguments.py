"""Arguments as models write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.adapters.mcp.tools.arguments import Parameter, parse, schema_of
from codenib.core.errors import InputError

PARAMETERS = (
    Parameter("query", "string", required=True),
    Parameter("k", "integer", "how many", 10, least=1, most=50),
    Parameter("paths", "strings"),
    Parameter("regex", "boolean", default=False),
    Parameter("way", "string", default="in", choices=("in", "out")),
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"query": "a"}, {"query": "a", "k": 10, "paths": None, "regex": False, "way": "in"}),
        ({"query": "a", "k": "7"}, {"k": 7}),
        ({"query": "a", "k": 7.0}, {"k": 7}),
        ({"query": "a", "k": None}, {"k": 10}),
        ({"query": "a", "paths": "src/**"}, {"paths": ["src/**"]}),
        ({"query": "a", "regex": "true"}, {"regex": True}),
        ({"query": "a", "way": "out"}, {"way": "out"}),
    ],
)
def test_values_are_taken_as_they_are_meant(given: dict[str, Any], expected: dict[str, Any]) -> None:
    found = parse("t", PARAMETERS, given)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    "given",
    [
        {}, {"query": " "}, {"query": 5}, {"query": "a\0"}, {"query": "a", "k": True},
        {"query": "a", "k": 51},
        {"query": "a", "paths": [1]}, {"query": "a", "way": "up"}, {"query": "a", "more": 1},
        {"query": "a" * 20_001}, {"query": "a", "regex": "perhaps"},
    ],
)  # fmt: skip
def test_wrong_values_are_refused_with_what_is_right(given: dict[str, Any]) -> None:
    with pytest.raises(InputError) as raised:
        parse("t", PARAMETERS, given)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"query": "a" * 100_000}, "query has 100,000 characters"),
        ({"query": "a", "paths": ["b"] * 101}, "paths has 101 items"),
        ({"query": "a\0"}, "query has a NUL character"),
        ({"query": 5}, "query must be a string"),
    ],
)
def test_a_refusal_names_the_true_reason(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse("t", PARAMETERS, given)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([each.name for each in PARAMETERS]), JSON))
def test_anything_is_taken_or_refused_and_nothing_else(given: dict[str, Any]) -> None:
    try:
        found = parse("t", PARAMETERS, given)
    except InputError:
        return
    assert isinstance(found["query"], str)
    assert 1 <= found["k"] <= 50
    assert found["way"] in ("in", "out")


def test_the_schema_says_what_is_required_and_what_is_the_default() -> None:
    schema = schema_of(PARAMETERS)
    assert schema["required"] == ["query"]
    assert schema["properties"]["k"] == {"type": "integer", "description": "how many", "default": 10}
    assert schema["properties"]["paths"]["items"] == {"type": "string"}
    assert schema["properties"]["way"]["enum"] == ["in", "out"]
