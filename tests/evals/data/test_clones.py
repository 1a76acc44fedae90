"""Clones are found, checkouts made and moved, without writing to the clone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evals.conftest import Corpus

from codenib.core.errors import InputError
from codenib.evals.data.clones import Clones, check_out, git, move_to


def test_a_clone_is_found_whatever_the_case_of_its_name(corpus: Corpus, tmp_path: Path) -> None:
    assert Clones(corpus.mirror, tmp_path).find("Acme/Shop") == corpus.repo.path


def test_a_clone_that_is_not_there_is_named_with_what_to_do(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no clone of acme/bank") as caught:
        Clones(corpus.mirror, tmp_path).find("acme/bank")
    assert "git clone --bare" in caught.value.hint


def test_a_url_is_cloned_once(corpus: Corpus, tmp_path: Path) -> None:
    clones = Clones(None, tmp_path / "kept")
    place = clones.find(f"file://{corpus.repo.path}")
    assert Clones(None, tmp_path / "kept").find(f"file://{corpus.repo.path}") == place
    assert clones.has(f"file://{corpus.repo.path}", corpus.commits[0])


def test_a_checkout_moves_to_the_next_commit_and_back(corpus: Corpus, tmp_path: Path) -> None:
    first, second = corpus.commits
    place = tmp_path / "checkout"
    assert check_out(corpus.repo.path, first, place) == []
    assert not (place / "shop/tax.py").exists()
    move_to(place, second)
    assert (place / "shop/tax.py").exists()
    assert "discounted" in (place / "shop/cart.py").read_text()
    move_to(place, first)
    assert not (place / "shop/tax.py").exists()
    assert git(place, "status", "--porcelain").stdout == ""
    assert git(corpus.repo.path, "status", "--porcelain").stdout == ""
