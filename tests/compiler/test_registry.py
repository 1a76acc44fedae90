from __future__ import annotations

import pytest

from codenib.compiler.registry import DEFAULT_VIEWS, builder_of, derivers_of, parse_views, profile_of
from codenib.core.errors import InputError
from codenib.core.views import ViewKind


@pytest.mark.parametrize("kind", list(ViewKind))
def test_the_cheap_profile_is_the_builders_own(kind: ViewKind) -> None:
    assert profile_of(kind) == builder_of(kind).profile()
    assert builder_of(kind).kind is kind


def test_views_are_parsed_in_the_registrys_order() -> None:
    assert parse_views(" trigram, lexical,") == DEFAULT_VIEWS
    assert parse_views("trigram") == (ViewKind.TRIGRAM,)


@pytest.mark.parametrize("names", ["", ",", "lexical,semantic", "LEXICAL"])
def test_an_unknown_view_is_refused_with_those_there_are(names: str) -> None:
    with pytest.raises(InputError, match="unknown view") as caught:
        parse_views(names)
    assert "lexical,trigram" in caught.value.hint


def test_no_two_views_share_the_name_of_a_deriver() -> None:
    names = [deriver.name for kind in ViewKind for deriver in builder_of(kind).derivers()]
    assert sorted(derivers_of(list(ViewKind))) == sorted(names)
