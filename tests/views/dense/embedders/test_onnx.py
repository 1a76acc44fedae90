"""ONNX folders, with a real model and a real tokenizer made here."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from tests.views.dense.embedders.tiny import WORDS, expected_tokens, write_json, write_tiny_model

from codenib.core.errors import InputError
from codenib.views.dense.embedders.onnx import OnnxEmbedder, open_onnx

TEXT = "def load config"


def test_mean_pooling_is_the_mean_of_the_token_vectors(tmp_path: Path) -> None:
    embedder = open_onnx(write_tiny_model(tmp_path, pooling="mean_tokens"))
    np.testing.assert_allclose(
        embedder.embed_documents([TEXT])[0], expected_tokens(TEXT).mean(axis=0), rtol=1e-5
    )
    assert embedder.identity.pooling == "mean"


def test_pooling_is_the_mean_without_a_pooling_file(tmp_path: Path) -> None:
    assert open_onnx(write_tiny_model(tmp_path)).identity.pooling == "mean"


@pytest.mark.parametrize(("mode", "token"), [("cls_token", 0), ("lasttoken", -1)])
def test_cls_and_last_pooling_take_one_token(tmp_path: Path, mode: str, token: int) -> None:
    embedder = open_onnx(write_tiny_model(tmp_path, pooling=mode))
    rows = embedder.embed_documents([TEXT, "parse file query save load def"])
    np.testing.assert_allclose(rows[0], expected_tokens(TEXT)[token], rtol=1e-5)


def test_a_model_that_pools_itself_is_not_pooled_again(tmp_path: Path) -> None:
    embedder = open_onnx(write_tiny_model(tmp_path, pooled=True))
    assert embedder.identity.pooling == "model"
    np.testing.assert_allclose(
        embedder.embed_documents([TEXT])[0], expected_tokens(TEXT).mean(axis=0) / 2, rtol=1e-5
    )


def test_a_text_has_the_same_row_whatever_stands_beside_it(tmp_path: Path) -> None:
    embedder = open_onnx(write_tiny_model(tmp_path, normalize=True))
    choose = random.Random(3)
    texts = [" ".join(choose.choices(WORDS[4:], k=choose.randrange(0, 14))) for _ in range(60)]
    together = embedder.embed_documents(texts)
    for size in (1, 3, 60):
        other = OnnxEmbedder(embedder.graph, embedder.tokenizer, embedder.identity, size)
        np.testing.assert_allclose(other.embed_documents(texts), together, atol=1e-6)
    alone = np.vstack([embedder.embed_documents([text]) for text in texts])
    np.testing.assert_allclose(alone, together, atol=1e-6)
    backwards = embedder.embed_documents(texts[::-1])[::-1]
    np.testing.assert_allclose(backwards, together, atol=1e-6)


@pytest.mark.parametrize("normalize", [False, True])
def test_rows_are_normalized_when_the_folder_says_so(tmp_path: Path, normalize: bool) -> None:
    embedder = open_onnx(write_tiny_model(tmp_path, normalize=normalize))
    length = float(np.linalg.norm(embedder.embed_documents([TEXT])[0]))
    assert embedder.identity.normalized is normalize
    assert (abs(length - 1) < 1e-5) is normalize


def test_normalization_can_be_asked_for(tmp_path: Path) -> None:
    embedder = open_onnx(write_tiny_model(tmp_path), normalize=True)
    assert np.linalg.norm(embedder.embed_queries([TEXT])[0]) == pytest.approx(1)


def test_tokens_past_the_cap_are_not_read(tmp_path: Path) -> None:
    embedder = open_onnx(write_tiny_model(tmp_path, cap=5))
    assert embedder.identity.max_tokens == 5
    rows = embedder.embed_documents(["def load config", "def load config parse file"])
    np.testing.assert_array_equal(rows[0], rows[1])


def test_the_cap_never_passes_the_positions_of_the_model(tmp_path: Path) -> None:
    write_tiny_model(tmp_path, cap=512)
    write_json(tmp_path / "config.json", {"max_position_embeddings": 128})
    assert open_onnx(tmp_path).identity.max_tokens == 128


def test_prompts_of_the_folder_are_prefixes(tmp_path: Path) -> None:
    write_tiny_model(tmp_path)
    prompts = {"query": "query ", "passage": "passage "}
    write_json(tmp_path / "config_sentence_transformers.json", {"prompts": prompts})
    embedder = open_onnx(tmp_path)
    for row, text in (
        (embedder.embed_queries([TEXT])[0], "query " + TEXT),
        (embedder.embed_documents([TEXT])[0], "passage " + TEXT),
    ):
        np.testing.assert_allclose(row, expected_tokens(text).mean(axis=0), rtol=1e-5)


def test_no_texts_give_no_rows(tmp_path: Path) -> None:
    assert open_onnx(write_tiny_model(tmp_path)).embed_documents([]).shape == (0, 8)


def test_identity_follows_the_content_not_the_place(tmp_path: Path) -> None:
    first = open_onnx(write_tiny_model(tmp_path / "a" / "model")).identity
    moved = open_onnx(write_tiny_model(tmp_path / "b" / "model")).identity
    other = open_onnx(write_tiny_model(tmp_path / "c" / "model", pooling="cls_token")).identity
    assert first == moved
    assert first.digest != other.digest


def test_the_hub_layout_is_read(tmp_path: Path) -> None:
    write_tiny_model(tmp_path)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.onnx").rename(tmp_path / "onnx" / "model.onnx")
    assert open_onnx(tmp_path).identity.dimension == 8


@pytest.mark.parametrize("missing", ["tokenizer.json", "model.onnx"])
def test_a_folder_without_its_files_is_refused(tmp_path: Path, missing: str) -> None:
    write_tiny_model(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(InputError, match="not an ONNX embedding model") as caught:
        open_onnx(tmp_path)
    assert "onnx:FOLDER" in caught.value.hint


@pytest.mark.parametrize("damaged", ["tokenizer.json", "model.onnx", "modules.json", "1_Pooling/config.json"])
def test_a_damaged_file_is_named(tmp_path: Path, damaged: str) -> None:
    write_tiny_model(tmp_path, pooling="mean_tokens")
    (tmp_path / damaged).write_text('{"never closed')
    with pytest.raises(InputError, match=damaged.rpartition("/")[2]):
        open_onnx(tmp_path)


def test_what_cannot_be_honoured_is_refused(tmp_path: Path) -> None:
    write_tiny_model(tmp_path, pooling="max_tokens")
    with pytest.raises(InputError, match="pools by max"):
        open_onnx(tmp_path)
    write_json(tmp_path / "modules.json", [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}])
    with pytest.raises(InputError, match="module Dense") as caught:
        open_onnx(tmp_path)
    assert caught.value.hint.startswith("open it as st:")
