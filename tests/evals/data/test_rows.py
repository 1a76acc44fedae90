"""Rows are checked as they are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evals.conftest import Corpus

from codenib.core.errors import InputError
from codenib.evals.data.rows import LocalizeRow, Transition, chosen_rows, digest_of, read_rows


def test_rows_keep_what_the_file_says(corpus: Corpus) -> None:
    first = read_rows(corpus.rows, LocalizeRow)[0]
    assert first.gold_files == ("shop/cart.py",)
    assert (first.targets[0].start_line, first.targets[0].end_line) == (11, 13)


def test_a_wrong_row_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"repo": "a/b", "step": 1, "from": "x", "to": "y"}\n{"repo": 3}\n')
    with pytest.raises(InputError, match=r"rows.jsonl:2: .*repo"):
        read_rows(file, Transition)


def test_rows_are_chosen_by_repository_and_number(corpus: Corpus) -> None:
    rows = read_rows(corpus.rows, LocalizeRow)
    assert [row.id for row in chosen_rows(rows, repos=["SHOP"], per_repo=2)] == ["shop-1", "shop-2"]
    assert [row.id for row in chosen_rows(rows, limit=1)] == ["shop-1"]
    with pytest.raises(InputError, match="no row is of nowhere"):
        chosen_rows(rows, repos=["nowhere"])


def test_the_digest_is_of_the_rows_chosen(corpus: Corpus) -> None:
    rows = read_rows(corpus.rows, LocalizeRow)
    assert digest_of(rows) == digest_of(list(rows)) != digest_of(rows[:2])
