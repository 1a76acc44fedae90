"""Peers: the same scorer for all, and absent tools are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.evals.conftest import Corpus

from codenib.evals.peers.bm25_files import Bm25Files, words
from codenib.evals.peers.ripgrep import Ripgrep
from codenib.evals.studies.peers import PEERS

Study = Callable[..., dict[str, Any]]


def test_installed_tools_are_measured_and_absent_ones_named(
    study: Study, corpus: Corpus, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    wanted = ("codenib (lexical)", "ripgrep", "BM25", "reference", "Serena")
    peers = [word for name in wanted for word in ("--peer", name)]
    found = study(
        "peers", "--rows", corpus.rows, "--mirror", corpus.mirror, "--out", out, "--limit", "1", *peers
    )
    assert set(found["table"]) == {"codenib (lexical)", "ripgrep keywords", "BM25 over files"}
    assert found["errors"] == 0
    assert found["table"]["codenib (lexical)"][0] == found["table"]["BM25 over files"][0] == "1.000"
    report = (out / "report.md").read_text()
    assert "Serena: not run" in report
    assert "reference implementation: not run" in report
    records = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    assert all(each["edited"] == "shop/cart.py" for each in records)
    assert not (out / "checkouts" / "shop-1").exists()


def test_a_file_is_found_by_its_words(corpus: Corpus, tmp_path: Path) -> None:
    place = corpus.repo.path
    for peer in (Bm25Files(), Ripgrep()):
        peer.build(place, tmp_path)
        found = peer.ask(place, tmp_path, "save_session writes the session of a visitor to the store", 5)
        assert found.blocks[0].path == "shop/storage.py"
        assert found.text


def test_identifiers_are_split_and_kept_whole() -> None:
    assert words("saveSession load_it X") == ["savesession", "save", "session", "load_it", "load", "it"]


def test_every_peer_says_why_it_cannot_run_or_that_it_can() -> None:
    assert all(isinstance(peer.missing(), str) for peer in PEERS)
    assert len({peer.name for peer in PEERS}) == len(PEERS)
