"""A request of wrong types is an input error that names the field, and says what is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from codenib.core import requests
from codenib.core.calls.checked import check_lines, check_path
from codenib.core.errors import InputError
from codenib.core.requests import IndexRequest, RegexRequest, SearchRequest
from codenib.core.views import ViewKind

UNTYPED: Any = requests
CASES: list[tuple[Callable[[], object], str]] = [
    (lambda: UNTYPED.SearchRequest(1), "query must be a string, not 1"),
    (lambda: UNTYPED.SearchRequest("q", k="5"), "k must be a whole number, not '5'"),
    (lambda: UNTYPED.SearchRequest("q", k=True), "k must be a whole number, not True"),
    (lambda: UNTYPED.SearchRequest("q", paths="src"), "paths must be a list: each a string, not 'src'"),
    (
        lambda: UNTYPED.SearchRequest("q", tests="some"),
        "tests must be 'include' or 'exclude' or",
    ),
    (lambda: UNTYPED.SearchRequest("q", snapshot="HEAD"), "snapshot must be a SnapshotRequest"),
    (lambda: UNTYPED.RegexRequest("p", timeout_s="1"), "timeout_s must be a number"),
    (lambda: UNTYPED.NavigationRequest(None), "where must be a string or a Position, not NoneType"),
    (lambda: UNTYPED.HistoryRequest("a.py", start=1.5), "start must be a whole number or None, not 1.5"),
    (lambda: UNTYPED.ImpactRequest(diff=b"x"), "diff must be a string, not bytes"),
    (lambda: UNTYPED.SnapshotRequest(refresh="soon"), "refresh must be 'auto' or 'never', not 'soon'"),
    (lambda: UNTYPED.IndexRequest("graph"), "views must be a list"),
    (lambda: UNTYPED.IndexRequest(["grape"]), "views must be a list"),
    (lambda: check_path(3), "path must be a string or a Path, not 3"),
    (lambda: check_lines(["1", None]), "a line must be a whole number or None, not '1'"),
]


@pytest.mark.parametrize(("ask", "said"), CASES)
def test_a_wrong_type_is_an_input_error(ask: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        ask()
    assert said in caught.value.message


def test_what_fits_is_taken_as_it_is() -> None:
    assert SearchRequest("q", paths=["a"], k=3).paths == ["a"]
    assert RegexRequest("p", k=None, timeout_s=3).timeout_s == 3
    assert IndexRequest([ViewKind.GRAPH]).views == (ViewKind.GRAPH,)
    assert UNTYPED.IndexRequest(["graph"]).views == (ViewKind.GRAPH,)
