"""The navigation study: positions, categories; and the whole of it where the Python engine is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.evals.conftest import Corpus

from codenib.evals.studies.navigation import category

Study = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("static", "live", "name"),
    [
        ([], [["a", 1]], "static is empty"),
        ([["a", 1]], [], "live is empty"),
        ([["a", 1]], [["a", 1], ["b", 2]], "static lacks places"),
        ([["a", 1], ["b", 2]], [["a", 1]], "static has more places"),
        ([["a", 1], ["c", 2]], [["a", 1], ["b", 2]], "each has its own"),
        ([["c", 2]], [["b", 2]], "disjoint"),
    ],
)
def test_a_mismatch_has_one_category(static: list[Any], live: list[Any], name: str) -> None:
    assert category({"static": static, "live": live}) == name


def test_a_repository_without_resolved_facts_is_left_out_with_its_reason(
    study: Study, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "no tools"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    rows = ("--rows", corpus.rows, "--mirror", corpus.mirror, "--out", tmp_path / "run")
    found = study("navigation", *rows, "--partial")
    report = (tmp_path / "run" / "report.md").read_text()
    if found["requests"] == 0:  # basedpyright may come with the Python environment itself
        assert "shop-1:" in report.partition("## What was left out")[2]
    else:
        assert "definition" in report


@pytest.mark.tools
def test_static_and_live_are_compared_at_references(study: Study, corpus: Corpus, tmp_path: Path) -> None:
    caller = (
        "from shop.mail import send_receipt\n\n\ndef bill(cart):\n    return send_receipt(cart.owner, 3)\n"
    )
    head = corpus.repo.commit({"shop/bill.py": caller}, "bill")
    corpus.rows.write_text(corpus.rows.read_text().replace(corpus.commits[0], head))
    out = tmp_path / "run"
    found = study(
        "navigation", "--rows", corpus.rows, "--mirror", corpus.mirror, "--out", out, "--limit", "1"
    )
    if not found["requests"]:
        pytest.skip("no Python engine is installed")
    assert found["rates"]["all definition"][1] == "100.0%"
    assert (out / "figures" / "static-live.png").exists()
