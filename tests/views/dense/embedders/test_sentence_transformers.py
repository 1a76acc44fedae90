"""SentenceTransformers models: a fake model for what memory does, a real one where there is one."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.views.dense.embedders.tiny import write_json

from codenib.core.embedding import EmbedderIdentity
from codenib.core.errors import InputError, ProviderError
from codenib.views.dense.embedders.known import find_embedder
from codenib.views.dense.embedders.sentence_transformers import (
    SentenceTransformersEmbedder,
    open_sentence_transformers,
)

IDENTITY = EmbedderIdentity("fake", "1", 2, "mean", True, query_prefix="q: ")

INSTALLED = importlib.util.find_spec("sentence_transformers") is not None
FOLDER = os.environ.get("CODENIB_TEST_MODEL", "")
WHY_NOT = "needs codenib-views[models] and CODENIB_TEST_MODEL=FOLDER of a SentenceTransformers model"
without_library = pytest.mark.skipif(INSTALLED, reason="sentence-transformers is installed")


def needs_model(test: Callable[..., None]) -> Callable[..., None]:
    """Runs with SentenceTransformers itself, offline, from a folder; its warnings are not ours."""
    for mark in (
        pytest.mark.models,
        pytest.mark.skipif(not (INSTALLED and FOLDER), reason=WHY_NOT),
        pytest.mark.filterwarnings("default"),
    ):
        test = mark(test)
    return test


class FakeModel:
    """Holds at most `room` texts at once."""

    def __init__(self, room: int, words: str = "CUDA out of memory. Tried to allocate 2 GiB") -> None:
        self.room = room
        self.words = words
        self.batches: list[int] = []
        self.prompts: list[str] = []

    def encode(
        self,
        sentences: list[str],
        *,
        prompt: str,
        batch_size: int,
        show_progress_bar: bool,
        convert_to_numpy: bool,
        normalize_embeddings: bool,
    ) -> list[list[float]]:
        assert convert_to_numpy
        assert not normalize_embeddings
        assert not show_progress_bar
        self.batches.append(batch_size)
        self.prompts.append(prompt)
        if batch_size > self.room:
            raise RuntimeError(self.words)
        return [[float(len(text)), 1.0] for text in sentences]


def test_the_batch_halves_until_it_fits() -> None:
    model = FakeModel(room=2)
    released: list[int] = []
    embedder = SentenceTransformersEmbedder(model, IDENTITY, 8, lambda: released.append(1))
    rows = embedder.embed_documents(["a", "bb"])
    assert model.batches == [8, 4, 2]
    assert len(released) == 2
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, [[1, 1], [2, 1]])


def test_the_next_call_starts_with_the_declared_batch() -> None:
    model = FakeModel(room=4)
    embedder = SentenceTransformersEmbedder(model, IDENTITY, 8)
    embedder.embed_documents(["a"])
    embedder.embed_queries(["b"])
    assert model.batches == [8, 4, 8, 4]
    assert model.prompts == ["", "", "q: ", "q: "]


def test_a_single_text_that_does_not_fit_is_said_to() -> None:
    model = FakeModel(room=0)
    with pytest.raises(ProviderError, match="out of memory on a single text"):
        SentenceTransformersEmbedder(model, IDENTITY, 4).embed_documents(["a"])
    assert model.batches == [4, 2, 1]


def test_another_failure_is_not_tried_again() -> None:
    model = FakeModel(room=0, words="CUDA error: device-side assert triggered")
    with pytest.raises(ProviderError, match="device-side assert"):
        SentenceTransformersEmbedder(model, IDENTITY, 4).embed_documents(["a"])
    assert model.batches == [4]


def test_no_texts_give_no_rows() -> None:
    assert SentenceTransformersEmbedder(FakeModel(1), IDENTITY).embed_documents([]).shape == (0, 2)


@without_library
@pytest.mark.parametrize("name", ["Qwen/Qwen3-Embedding-0.6B", "nosuch/model"])
def test_without_the_extra_the_install_command_is_told(name: str) -> None:
    with pytest.raises(InputError) as caught:
        open_sentence_transformers(name)
    assert caught.value.hint == "pip install 'codenib-views[models]'"


def test_a_folder_without_a_model_is_refused_before_the_library_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither modules"):
        open_sentence_transformers(str(tmp_path))


def test_a_damaged_folder_is_refused_before_the_library_is_needed(tmp_path: Path) -> None:
    write_json(tmp_path / "config.json", {})
    (tmp_path / "modules.json").write_text("[")
    with pytest.raises(InputError, match=r"modules\.json"):
        open_sentence_transformers(str(tmp_path))


@needs_model
def test_a_real_folder_embeds_and_close_meanings_are_close() -> None:
    embedder = open_sentence_transformers(FOLDER)
    rows = embedder.embed_documents(["read a file from disk", "open and load a document", "bake a cake"])
    assert rows.shape == (3, embedder.identity.dimension)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


@needs_model
def test_a_real_model_gives_a_text_the_same_row_whatever_stands_beside_it() -> None:
    embedder = open_sentence_transformers(FOLDER)
    texts = ["a", "def load(path): ..." * 20, "parse the configuration file", ""]
    alone = np.vstack([embedder.embed_documents([text]) for text in texts])
    np.testing.assert_allclose(embedder.embed_documents(texts), alone, atol=1e-5)


@needs_model
def test_a_real_folder_that_is_not_the_known_model_is_refused() -> None:
    with pytest.raises(InputError, match="qwen3-4b has 2560"):
        open_sentence_transformers(FOLDER, known=find_embedder("qwen3-4b"))


@needs_model
def test_a_real_folder_without_its_weights_is_refused(tmp_path: Path) -> None:
    weights = shutil.ignore_patterns("*.safetensors", "*.bin")
    folder = shutil.copytree(FOLDER, tmp_path / "model", ignore=weights)
    with pytest.raises(InputError, match="cannot load the model in"):
        open_sentence_transformers(str(folder))


@needs_model
def test_a_name_that_cannot_be_had_fails_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ProviderError, match="no cached model nosuch/model") as caught:
        open_sentence_transformers("nosuch/model")
    assert "st:FOLDER" in caught.value.hint
