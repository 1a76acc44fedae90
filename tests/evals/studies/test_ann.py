"""The study of dense views: exact search is its own reference, a full probe is exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.evals.conftest import Corpus

Study = Callable[..., dict[str, Any]]


def test_every_family_is_measured_on_the_same_vectors(study: Study, corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "run"
    found = study("ann", "--rows", corpus.rows, "--mirror", corpus.mirror, "--out", out, "--limit", "2")
    assert found["snapshots"] == 2
    assert found["families"]["flat"][0] == "1.000"
    assert found["families"]["ivf 100% of lists"][0] == "1.000"
    assert set(found["slopes_s_per_kloc"]) <= {"static L0", "static L2"}
    records = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    for each in records:
        assert each["levels"]["L0"]["documents"] <= each["levels"]["L2"]["documents"]
        assert {cell["family"] for cell in each["families"]} == {"flat", "ivf", "hnsw"}
        assert each["lines"] > 20
    assert (out / "figures" / "index-families.svg").exists()
