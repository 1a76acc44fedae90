"""Routes."""

from __future__ import annotations

import pytest

from codenib.core.answers import Route
from codenib.core.errors import InputError, StateError
from codenib.planner.plan import plan


def test_auto_takes_the_lexical_route_and_says_why() -> None:
    chosen = plan("auto", {"ranked:lexical"}, 7)
    assert (chosen.route, chosen.k_retrieve, chosen.reason) == (Route.LEXICAL, 7, "the only ranked view")


def test_auto_uses_both_ranked_views_when_both_are_fresh() -> None:
    fresh = {"ranked:lexical", "ranked:semantic", "ranked:semantic:instant"}
    assert plan("auto", fresh, 5).route is Route.HYBRID


def test_hybrid_without_the_dense_view_names_the_command_that_builds_it() -> None:
    with pytest.raises(StateError) as caught:
        plan("hybrid", {"ranked:lexical"}, 10)
    assert caught.value.hint == "codenib index --views dense"


def test_an_explicit_route_is_honoured() -> None:
    assert plan("lexical", {"ranked:lexical"}, 1).reason == "asked for"


def test_an_unknown_route_is_refused() -> None:
    with pytest.raises(InputError, match="unknown route 'telepathic'"):
        plan("telepathic", {"ranked:lexical"}, 10)


def test_the_semantic_route_is_honoured_or_refused_never_changed() -> None:
    assert plan("semantic", {"ranked:lexical", "ranked:semantic"}, 3).route is Route.SEMANTIC
    assert plan("semantic", {"ranked:semantic"}, 3).reason == "asked for"
    with pytest.raises(StateError, match="dense view") as caught:
        plan("semantic", {"ranked:lexical"}, 3)
    assert caught.value.hint == "codenib index --views dense"


def test_auto_never_waits_for_a_model_that_is_not_the_embedded_one() -> None:
    chosen = plan("auto", {"ranked:lexical", "ranked:semantic"}, 3)
    assert chosen.route is Route.LEXICAL


def test_a_missing_view_names_the_command_that_builds_it() -> None:
    with pytest.raises(StateError) as caught:
        plan("auto", {"regex"}, 10)
    assert caught.value.hint == "codenib index --views lexical"


def test_a_width_below_one_is_refused() -> None:
    with pytest.raises(InputError):
        plan("auto", {"ranked:lexical"}, 0)
