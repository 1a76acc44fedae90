"""Costs that were measured while serving."""

from __future__ import annotations

from pathlib import Path

from tests.gitrepo import GitRepo

from codenib.core.requests import SearchRequest
from codenib.serving.search.costs import FILE, Costs
from codenib.serving.workspace import Workspace


def test_the_median_of_the_last_notes_is_kept_across_processes(tmp_path: Path) -> None:
    costs = Costs(tmp_path)
    for value in (5.0, 1.0, 90.0):
        costs.note("lexical", value)
    costs.save()
    assert Costs(tmp_path).medians() == {"lexical": 5.0}


def test_old_notes_give_way_to_new_ones(tmp_path: Path) -> None:
    costs = Costs(tmp_path)
    for value in [100.0] * 40 + [1.0] * 31:
        costs.note("lexical", value)
    assert costs.medians() == {"lexical": 1.0}


def test_a_damaged_or_unwritable_file_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{")
    assert Costs(tmp_path).medians() == {}
    gone = Costs(tmp_path / "gone")
    gone.note("lexical", 1.0)
    gone.save()
    assert gone.medians() == {"lexical": 1.0}


def test_searches_measure_and_plans_use_what_was_measured(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.search("currency", route="lexical")
    with Workspace(shop.path) as workspace:
        assert workspace.searcher.costs.medians()["lexical"] > 0
        planned = workspace.searcher.explain(SearchRequest("currency", route="lexical")).plan
        assert planned.estimate_ms == round(workspace.searcher.costs.medians()["lexical"], 1)
