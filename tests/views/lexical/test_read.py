"""Scores of the lexical view."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from codenib.units.tokens import terms_of
from codenib.views.lexical import read
from codenib.views.lexical.read import LexicalView, Term

Make = Callable[[Mapping[str, str]], LexicalView]

CORPUS = {
    "app/store.py": "def save(record):\n    write(record)\n\n\ndef load(key):\n    return key\n",
    "app/view.py": "def render(page):\n    return page.title\n",
    "docs/notes.md": "# Saving\n\nHow a record is written.\n",
}


def unit_scores(view: LexicalView, *terms: str) -> dict[str, float]:
    scores = view.score([Term(term, 1.0) for term in terms])
    return {
        f"{view.document(int(n)).span.path}:{view.document(int(n)).symbol}": float(scores.units[n])
        for n in np.flatnonzero(scores.units)
    }


def test_a_term_that_no_unit_holds_scores_nothing(lexical: Make) -> None:
    view = lexical(CORPUS)
    scores = view.score([Term("zzyzx", 1.0)])
    assert not scores.units.any()
    assert not scores.files.any()
    assert scores.terms == ()


def test_scores_are_bm25_by_hand(lexical: Make) -> None:
    view = lexical({"a.py": "def one():\n    return quux\n", "b.py": "def two():\n    return 2\n"})
    (found,) = unit_scores(view, "quux").values()
    lengths = {
        "one": sum(len(terms_of(word)) for word in ("def", "one", "return", "quux")),
        "two": sum(len(terms_of(word)) for word in ("def", "two", "return", "2")),
    }
    norm = 1 - read.B + read.B * lengths["one"] / (sum(lengths.values()) / 2)
    tf = 1 / norm
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert found == pytest.approx(idf * tf * (read.K1 + 1) / (tf + read.K1))


def test_a_name_counts_more_than_a_mention(lexical: Make) -> None:
    view = lexical({"a.py": "def quux():\n    return 1\n", "b.py": "def other():\n    quux()\n"})
    scores = unit_scores(view, "quux")
    assert scores["a.py:quux"] > scores["b.py:other"] > 0


def test_the_path_is_a_field_of_every_unit_below_it(lexical: Make) -> None:
    scores = unit_scores(lexical(CORPUS), "stor")
    assert set(scores) == {"app/store.py:save", "app/store.py:load"}


def test_matched_terms_are_those_that_stand_in_the_unit(lexical: Make) -> None:
    view = lexical(CORPUS)
    terms = [Term("sav", 1.0), Term("record", 1.0), Term("pag", 1.0)]
    number = next(n for n in range(len(view.file_of)) if view.document(n).symbol == "save")
    assert view.matched(number, terms) == ["sav", "record"]


def test_a_long_query_drops_its_least_informative_terms_and_says_so(lexical: Make) -> None:
    view = lexical(CORPUS)
    scores = view.score([Term("pag", 1.0), Term("def", 1.0)], max_rows=1)
    assert [term.text for term in scores.terms] == ["pag"]
    assert scores.dropped == 1


def test_an_empty_repository_answers_nothing(lexical: Make) -> None:
    view = lexical({})
    assert view.unit_count == 0
    assert not view.score([Term("pag", 1.0)]).units.any()
