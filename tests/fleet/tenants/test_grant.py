"""What a token is for: roots and globs, names of a catalogue, and values that no token can have."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.core.errors import InputError
from codenib.core.views import ViewKind
from codenib.fleet.tenants.grant import Grant, check_grant


@pytest.mark.parametrize(
    ("pattern", "root", "allowed"),
    [
        ("*", "/srv/any", True),
        ("/srv/acme/*", "/srv/acme/web", True),
        ("/srv/acme/*", "/srv/acme-2/web", False),
        ("web-*", "/srv/acme/web-shop", True),
        ("web-*", "/srv/web-old/secret", False),  # the folder's own name, no part of its path
        ("/srv/a", "/srv/a", True),
        ("/srv/a", "/srv/ab", False),
        ("/srv/a[1]", "/srv/a1", False),
    ],
)
def test_a_token_is_for_what_its_patterns_name(pattern: str, root: str, allowed: bool) -> None:
    assert Grant(repositories=(pattern,)).allows(Path(root)) is allowed


def test_a_repository_of_another_tenant_is_not_there_whatever_the_pattern() -> None:
    grant = Grant(tenant="red", repositories=("*",))
    assert grant.allows_name("web", "red")
    assert grant.allows_name("web")  # nobody's
    assert not grant.allows_name("web", "blue")


def test_no_views_are_all_views() -> None:
    assert Grant().view_kinds is None
    assert Grant(views=("lexical", "graph")).view_kinds == frozenset({ViewKind.LEXICAL, ViewKind.GRAPH})


@pytest.mark.parametrize(
    "grant",
    [
        Grant(repositories=("  ",)),
        Grant(repositories=("*",), views=("lexicall",)),
        Grant(repositories=("*",), requests_per_s=0),
        Grant(repositories=("*",), concurrent=-1),
        Grant(repositories=("*",), tokens_per_day=0),
        Grant(repositories=("*",), requests_per_s=float("nan")),
    ],
)
def test_what_no_token_can_mean_is_refused(grant: Grant) -> None:
    with pytest.raises(InputError):
        check_grant(grant)
