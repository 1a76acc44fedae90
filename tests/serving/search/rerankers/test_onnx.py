"""ONNX cross-encoders, with a real model and a real tokenizer made here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serving.search.rerankers.tiny import WORDS, expected_score, write_cross_encoder

from codenib.core.errors import InputError
from codenib.serving.search.rerankers.onnx import OnnxPairs, open_onnx_reranker

words = st.lists(st.sampled_from(WORDS[4:]), max_size=10).map(" ".join)


@pytest.mark.parametrize("width", [1, 2])
def test_scores_are_the_model_s_for_one_logit_and_for_two(tmp_path: Path, width: int) -> None:
    reranker = open_onnx_reranker(write_cross_encoder(tmp_path, width=width))
    query, documents = "find user name", ["load config", "save", "parse file user name load save", "save"]
    expected = [expected_score(query, document) for document in documents]
    assert reranker.scores(query, documents) == pytest.approx(expected, abs=1e-5)


def test_query_and_document_are_told_apart(tmp_path: Path) -> None:
    reranker = open_onnx_reranker(write_cross_encoder(tmp_path))
    assert reranker.scores("load save", ["find"]) != pytest.approx(reranker.scores("find", ["load save"]))


def test_a_model_without_token_types_opens_and_scores(tmp_path: Path) -> None:
    reranker = open_onnx_reranker(write_cross_encoder(tmp_path, types=False))
    first, second = reranker.scores("load", ["save", "find"])
    assert first != second


@settings(max_examples=40, deadline=None)
@given(query=words, documents=st.lists(words, min_size=1, max_size=20), batch=st.integers(1, 9))
def test_a_score_depends_neither_on_its_place_nor_on_its_batch(
    query: str, documents: list[str], batch: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "cross-encoder"
    if not folder.is_dir():
        write_cross_encoder(folder)
    reranker = open_onnx_reranker(folder, batch_size=batch)
    scores = reranker.scores(query, documents)
    assert reranker.scores(query, documents[::-1]) == scores[::-1]
    assert scores == pytest.approx([expected_score(query, each) for each in documents], abs=1e-5)


def test_no_documents_have_no_scores(tmp_path: Path) -> None:
    assert open_onnx_reranker(write_cross_encoder(tmp_path)).scores("load", []) == []


def lengths(reranker: object, query: str, document: str) -> tuple[int, int]:
    """PairTokens of the query and of the document in their pair, without the marks around them."""
    pairs = reranker.model  # type: ignore[attr-defined]
    assert isinstance(pairs, OnnxPairs)
    (pair,) = pairs.encode(query, [document])
    assert len(pair.ids) == len(pair.types)
    return pair.types.count(0) - 2, pair.types.count(1) - 1


def test_a_pair_over_the_cap_is_cut_on_its_longer_side_down_to_half(tmp_path: Path) -> None:
    reranker = open_onnx_reranker(write_cross_encoder(tmp_path, truncation=6, max_tokens=13))
    assert reranker.identity.max_tokens == 13
    many = "load " * 40
    assert lengths(reranker, many, many) == (5, 5)
    assert lengths(reranker, many, "save save") == (8, 2)
    assert lengths(reranker, "save", many) == (1, 9)
    assert lengths(reranker, "save", "load") == (1, 1)


def test_the_config_may_cap_the_query_alone(tmp_path: Path) -> None:
    reranker = open_onnx_reranker(write_cross_encoder(tmp_path, max_tokens=13, query_tokens=3))
    assert lengths(reranker, "load " * 40, "save " * 40) == (3, 7)
    assert lengths(reranker, "load " * 40, "save") == (3, 1)


def test_without_caps_of_ours_the_model_s_positions_are_the_cap(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512}))
    assert open_onnx_reranker(folder).identity.max_tokens == 32


def test_the_identity_follows_the_files(tmp_path: Path) -> None:
    first = open_onnx_reranker(write_cross_encoder(tmp_path / "a")).identity
    moved = open_onnx_reranker(write_cross_encoder(tmp_path / "other" / "a")).identity
    capped = open_onnx_reranker(write_cross_encoder(tmp_path / "b", max_tokens=9)).identity
    assert first == moved
    assert (first.model, first.kind) == ("a", "cross-encoder")
    assert first.revision != capped.revision


def test_a_folder_that_is_no_cross_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not an ONNX cross-encoder") as caught:
        open_onnx_reranker(tmp_path)
    assert "onnx:FOLDER" in caught.value.hint
    with pytest.raises(InputError, match="3 numbers for a pair"):
        open_onnx_reranker(write_cross_encoder(tmp_path / "three", width=3))
    damaged = write_cross_encoder(tmp_path / "damaged")
    (damaged / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(InputError, match=r"cannot load .*model\.onnx"):
        open_onnx_reranker(damaged)
    (damaged / "config.json").write_text('{"max_tokens": "many"}')
    with pytest.raises(InputError, match=r"config\.json"):
        open_onnx_reranker(damaged)
    (damaged / "config.json").write_text('{"max_tokens": -1}')
    with pytest.raises(InputError, match="below zero"):
        open_onnx_reranker(damaged)


def test_a_missing_extra_is_told_with_the_command_that_installs_it(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path)
    code = (
        "import sys; sys.modules[sys.argv[2]] = None\n"
        "from codenib.core.errors import InputError\n"
        "from codenib.serving.search.rerankers.choose import open_reranker\n"
        "try: open_reranker(sys.argv[1])\n"
        "except InputError as error: print(error.hint)"
    )
    for package in ("tokenizers", "onnxruntime"):
        done = subprocess.run(
            [sys.executable, "-c", code, f"onnx:{folder}", package],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == "pip install 'codenib-views[onnx]'"
