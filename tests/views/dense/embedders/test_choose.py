"""Specs of embedders."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from tests.views.dense.embedders.tiny import write_json, write_tiny_model

from codenib.core.errors import InputError
from codenib.views.dense.embedders.choose import embedder_identity, open_embedder
from codenib.views.dense.embedders.onnx import OnnxEmbedder

OPTIONAL = ("numpy", "onnxruntime", "tokenizers", "torch", "sentence_transformers", "huggingface_hub")
INSTALLED = importlib.util.find_spec("sentence_transformers") is not None
without_library = pytest.mark.skipif(INSTALLED, reason="sentence-transformers is installed")


def test_importing_the_embedders_loads_no_optional_library() -> None:
    code = (
        "import codenib.views.dense.embedders.choose, sys;"
        f"print([name for name in {OPTIONAL!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_folder_with_an_onnx_model_opens_by_kind_and_by_path(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    for spec in (f"onnx:{folder}", str(folder)):
        assert isinstance(open_embedder(spec), OnnxEmbedder)
    assert embedder_identity(str(folder)).dimension == 8


def test_an_export_beside_other_weights_opens_only_when_asked_for(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert isinstance(open_embedder(str(folder)), OnnxEmbedder)
    (folder / "model.safetensors").write_bytes(b"")
    assert isinstance(open_embedder(f"onnx:{folder}"), OnnxEmbedder)
    if not INSTALLED:
        with pytest.raises(InputError) as caught:
            open_embedder(str(folder))
        assert caught.value.hint == "pip install 'codenib-views[models]'"


@without_library
def test_a_missing_extra_is_told_with_the_command_that_installs_it(tmp_path: Path) -> None:
    write_json(tmp_path / "modules.json", [])
    for spec in ("qwen3-0.6b", "jina-code-1.5b", "st:some/model", str(tmp_path), f"sr-small:{tmp_path}"):
        with pytest.raises(InputError) as caught:
            open_embedder(spec)
        assert caught.value.hint == "pip install 'codenib-views[models]'"


def test_a_missing_onnx_extra_is_told_with_the_command_that_installs_it(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    code = (
        "import sys; sys.modules['tokenizers'] = None\n"
        "from codenib.core.errors import InputError\n"
        "from codenib.views.dense.embedders.choose import open_embedder\n"
        "try: open_embedder(sys.argv[1])\n"
        "except InputError as error: print(error.hint)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "pip install 'codenib-views[onnx]'"


@pytest.mark.parametrize(
    ("spec", "said", "hint"),
    [
        ("", "unknown embedder", "static"),
        ("qwen", "unknown embedder: qwen", "qwen3-0.6b"),
        ("some/model", "not a folder: some/model", "st:some/model"),
        ("/no/such/folder", "no such folder: /no/such/folder", "ls /no/such"),
        ("onnx:/no/such/folder", "no such folder", "ls /no/such"),
        ("st:/no/such/folder", "no such folder", "ls /no/such"),
        ("qwen3-0.6b:/no/such/folder", "no such folder", "ls /no/such"),
        ("onnx:", "which model", "onnx:FOLDER"),
        ("st:", "which model", "st:FOLDER"),
    ],
)
def test_a_wrong_spec_is_refused_with_what_to_do(spec: str, said: str, hint: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        open_embedder(spec)
    assert hint in caught.value.hint


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    for spec, said in (
        (f"{tmp_path}", "no embedding model in"),
        (f"onnx:{tmp_path}", "not an ONNX embedding model"),
        (f"st:{tmp_path}", "not a SentenceTransformers model"),
    ):
        with pytest.raises(InputError, match=said):
            open_embedder(spec)


def test_models_that_forbid_commercial_use_are_marked_where_they_are_offered() -> None:
    with pytest.raises(InputError) as caught:
        open_embedder("best")
    assert "jina-code-1.5b (non-commercial)" in caught.value.hint
    assert "qwen3-4b," in caught.value.hint
