"""Which tags a Go file needs to be in a build."""

from __future__ import annotations

import pytest

from codenib.navigation.go.constraints import tags_of


@pytest.mark.parametrize(
    ("constraint", "tags"),
    [
        ("special", ("special",)),
        ("b && (a || !c)", ("b",)),
        ("(a || b) && !a", ("b",)),
        ("!a", ()),
        ("a && !a", None),
        ("ignore", None),
        ("plan9", None),
        ("plan9 || x", ("x",)),
        ("a &&", None),
        ("gc && go1.18 && x", ("x",)),
    ],
)
def test_the_fewest_tags_that_include_a_file(constraint: str, tags: tuple[str, ...] | None) -> None:
    assert tags_of(f"// A comment.\n\n//go:build {constraint}\n\npackage p\n") == tags


def test_a_line_below_the_package_clause_is_no_constraint() -> None:
    assert tags_of("package p\n\n//go:build special\n") == ()
