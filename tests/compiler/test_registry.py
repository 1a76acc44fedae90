from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.gitrepo import GitRepo
from tests.views.dense.hashing import open_hashing

from codenib.compiler.compiler import silent
from codenib.compiler.registry import (
    DEFAULT_VIEWS,
    TEXT_VIEWS,
    VIEWS,
    RegisteredView,
    ViewContext,
    derivers_of,
    parse_views,
)
from codenib.core.errors import InputError
from codenib.core.protocols import ViewChoice
from codenib.core.views import ViewKind
from codenib.manifest.store import Store
from codenib.navigation.registry import backends_of
from codenib.snapshot.repository import locate


@pytest.fixture
def context(git_repo: Callable[..., GitRepo]) -> ViewContext:
    repository = git_repo()
    repository.commit({"a.py": "x = 1\n"})
    located = locate(repository.path)
    return ViewContext(located, Store(located.key), silent, open_hashing, backends_of)


@pytest.mark.parametrize("kind", list(ViewKind))
def test_every_kind_is_registered(kind: ViewKind) -> None:
    assert VIEWS[kind].kind is kind


@pytest.mark.parametrize("view", VIEWS.values(), ids=lambda view: view.kind)
def test_the_cheap_profile_is_the_builders_own(
    view: RegisteredView[ViewChoice, Any], context: ViewContext
) -> None:
    choice = view.choose(context)
    builder = choice.builder()
    expected = builder.profile()  # first: an embedder that was never opened has no identity
    assert choice.profile() == expected
    assert builder.kind is view.kind


def test_views_are_parsed_in_the_registrys_order() -> None:
    assert parse_views(" trigram, lexical,") == TEXT_VIEWS
    assert parse_views("history,dense,trigram,lexical") == DEFAULT_VIEWS
    assert parse_views("trigram") == (ViewKind.TRIGRAM,)


@pytest.mark.parametrize("names", ["", ",", "lexical,semantic", "LEXICAL"])
def test_an_unknown_view_is_refused_with_those_there_are(names: str) -> None:
    with pytest.raises(InputError, match="unknown view") as caught:
        parse_views(names)
    assert "lexical,trigram" in caught.value.hint


def test_no_two_views_share_the_name_of_a_deriver() -> None:
    names = [deriver.name for view in VIEWS.values() for deriver in view.derivers()]
    assert sorted(derivers_of(list(ViewKind))) == sorted(names)


def test_the_dense_view_has_no_derivers_of_its_own() -> None:
    assert list(derivers_of([ViewKind.DENSE])) == []
