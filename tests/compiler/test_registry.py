from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo
from tests.views.dense.hashing import open_hashing

from codenib.compiler.compiler import silent
from codenib.compiler.dense import DenseChoice
from codenib.compiler.graph import GraphChoice
from codenib.compiler.history import HistoryChoice
from codenib.compiler.registry import DEFAULT_VIEWS, builder_of, derivers_of, parse_views, profile_of
from codenib.core.errors import InputError
from codenib.core.views import ViewKind
from codenib.manifest.store import Store
from codenib.snapshot.repository import locate


@pytest.fixture
def dense() -> DenseChoice:
    return DenseChoice(Store("some"), "worktree", silent, open_hashing)


@pytest.fixture
def graph(git_repo: Callable[..., GitRepo]) -> GraphChoice:
    repository = git_repo()
    repository.commit({"a.py": "x = 1\n"})
    found = locate(repository.path)
    return GraphChoice(found, Store(found.key), silent)


@pytest.fixture
def history(git_repo: Callable[..., GitRepo]) -> HistoryChoice:
    return HistoryChoice(locate(git_repo("past").path), silent)


@pytest.mark.parametrize("kind", list(ViewKind))
def test_the_cheap_profile_is_the_builders_own(
    kind: ViewKind, dense: DenseChoice, graph: GraphChoice, history: HistoryChoice
) -> None:
    dense.open_now()  # before, an embedder that was never opened has no identity
    builder = builder_of(kind, dense, graph, history)
    assert profile_of(kind, dense, graph, history) == builder.profile()
    assert builder.kind is kind


def test_views_are_parsed_in_the_registrys_order() -> None:
    assert parse_views(" trigram, lexical,") == DEFAULT_VIEWS
    assert parse_views("trigram") == (ViewKind.TRIGRAM,)


@pytest.mark.parametrize("names", ["", ",", "lexical,semantic", "LEXICAL"])
def test_an_unknown_view_is_refused_with_those_there_are(names: str) -> None:
    with pytest.raises(InputError, match="unknown view") as caught:
        parse_views(names)
    assert "lexical,trigram" in caught.value.hint


def test_no_two_views_share_the_name_of_a_deriver() -> None:
    kinds = [kind for kind in ViewKind if kind not in (ViewKind.DENSE, ViewKind.GRAPH, ViewKind.HISTORY)]
    names = [deriver.name for kind in kinds for deriver in builder_of(kind).derivers()]
    assert sorted(derivers_of(list(ViewKind))) == sorted(names)


def test_the_dense_view_reads_no_records_of_its_own(dense: DenseChoice) -> None:
    assert list(builder_of(ViewKind.DENSE, dense).derivers()) == []
