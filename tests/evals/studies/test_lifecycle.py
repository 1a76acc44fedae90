"""The lifecycle study serves the whole trace from a process that builds nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.evals.conftest import Corpus

Study = Callable[..., dict[str, Any]]


@pytest.mark.slow
def test_the_trace_is_served_from_loaded_views(study: Study, corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "run"
    found = study("lifecycle", "--rows", corpus.rows, "--mirror", corpus.mirror, "--out", out, "--partial")
    assert found["snapshots"] == 1
    assert found["same_answers"] == 1
    (record,) = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    assert record["made_up"] == 17  # three rows for twenty sessions
    # Two definitions where an engine resolves Python; else the report begins with that.
    assert record["requests"] == (40 if any("definitions" in each for each in found["missing"]) else 42)
    assert record["load_s"] < record["materialize_s"]
    assert list(found["projections"]) == ["each session loads", "one resident runtime"]
    one, last = (
        found["projections"]["one resident runtime"][0],
        found["projections"]["one resident runtime"][-1],
    )
    assert one["value"] > last["value"]
    assert not (out / "checkouts" / "shop-1").exists()
