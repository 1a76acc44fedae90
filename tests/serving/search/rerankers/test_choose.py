"""Specs of rerankers."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from tests.serving.search.rerankers.tiny import write_cross_encoder

from codenib.core.errors import InputError
from codenib.serving.search.rerankers.choose import RerankerSpec, open_reranker, parse_reranker

OPTIONAL = ("numpy", "onnxruntime", "tokenizers", "torch", "transformers", "huggingface_hub")
INSTALLED = importlib.util.find_spec("transformers") is not None
without_library = pytest.mark.skipif(INSTALLED, reason="transformers is installed")


def test_importing_the_specs_loads_no_optional_library() -> None:
    code = (
        "import codenib.serving.search.rerankers.choose as choose, sys;"
        "choose.parse_reranker('qwen3-4b'); choose.open_reranker('none');"
        f"print([name for name in {OPTIONAL!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_none_is_no_reranker() -> None:
    assert open_reranker("none") is None


@pytest.mark.parametrize("size", ["0.6b", "4b", "8b"])
def test_the_paper_s_rerankers_have_short_names(size: str, tmp_path: Path) -> None:
    hub_id = f"Qwen/Qwen3-Reranker-{size.upper()}"
    for spec in (f"qwen3-{size}", f"qwen3-reranker-{size}", hub_id):
        assert parse_reranker(spec) == RerankerSpec("known", hub_id)
    assert parse_reranker(f"qwen3-{size}:{tmp_path}") == RerankerSpec("known", hub_id, tmp_path)


def test_names_of_the_hub_and_of_endpoints_are_read() -> None:
    assert parse_reranker("org/model") == RerankerSpec("transformers", "org/model")
    assert parse_reranker("st:model") == RerankerSpec("transformers", "model")
    assert parse_reranker("llm:vendor/model:free") == RerankerSpec("llm", "vendor/model:free")


def test_a_folder_opens_by_kind_and_by_path(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path)
    for spec in (f"onnx:{folder}", str(folder)):
        reranker = open_reranker(spec)
        assert reranker is not None
        assert len(reranker.scores("load", ["save", "find"])) == 2


def test_an_export_beside_other_weights_opens_only_when_asked_for(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path)
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert parse_reranker(str(folder)).kind == "onnx"
    (folder / "model.safetensors").write_bytes(b"")
    assert parse_reranker(str(folder)).kind == "transformers"
    assert parse_reranker(f"onnx:{folder}").kind == "onnx"


@pytest.mark.parametrize(
    ("spec", "said", "hint"),
    [
        ("", "unknown reranker", "onnx:FOLDER"),
        ("embedded", "unknown reranker: embedded", "onnx:FOLDER"),
        ("qwen", "unknown reranker: qwen", "qwen3-0.6b"),
        ("/no/such/folder", "no such folder: /no/such/folder", "ls /no/such"),
        ("onnx:/no/such/folder", "no such folder", "ls /no/such"),
        ("st:/no/such/folder", "no such folder", "ls /no/such"),
        ("qwen3-0.6b:/no/such/folder", "no such folder", "ls /no/such"),
        ("qwen3-0.6b:", "no such folder", "ls"),
        ("onnx:", "which model", "onnx:FOLDER"),
        ("llm:", "which model", "llm:MODEL"),
    ],
)
def test_a_wrong_spec_is_refused_with_what_to_do(spec: str, said: str, hint: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        open_reranker(spec)
    assert hint in caught.value.hint


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    for spec, said in ((f"{tmp_path}", "no reranker in"), (f"onnx:{tmp_path}", "not an ONNX cross-encoder")):
        with pytest.raises(InputError, match=said):
            open_reranker(spec)


@without_library
def test_a_missing_extra_is_told_with_the_command_that_installs_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    for spec in ("qwen3-0.6b", "org/model", str(tmp_path), f"qwen3-8b:{tmp_path}"):
        with pytest.raises(InputError) as caught:
            open_reranker(spec)
        assert caught.value.hint == "pip install 'codenib-views[models]'"
