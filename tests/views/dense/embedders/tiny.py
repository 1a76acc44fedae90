"""A real ONNX embedding model of a few words, written into a folder, with its tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "def",
    "load",
    "save",
    "config",
    "parse",
    "file",
    "query",
    "passage",
)
DIMENSION = 8
TABLE = np.random.default_rng(7).normal(size=(len(WORDS), DIMENSION)).astype(np.float32)


def write_tiny_model(
    folder: Path, *, pooling: str | None = None, normalize: bool = False, pooled: bool = False, cap: int = 16
) -> Path:
    """A model whose token vectors depend on all unmasked tokens, as attention makes them.

    The padding token has a vector as large as any other, so that a wrong mask shows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write_tokenizer(folder)
    _write_graph(folder / "model.onnx", pooled)
    write_json(folder / "tokenizer_config.json", {"model_max_length": cap})
    modules = [
        ("Transformer", ""),
        ("Pooling", "1_Pooling"),
        *([("Normalize", "2_Normalize")] if normalize else []),
    ]
    rows = [{"type": f"sentence_transformers.models.{kind}", "path": path} for kind, path in modules]
    write_json(folder / "modules.json", rows)
    if pooling is not None:
        write_json(folder / "1_Pooling" / "config.json", {f"pooling_mode_{pooling}": True})
    return folder


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def expected_tokens(words: str) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """The model's token vectors, computed without it."""
    ids = [WORDS.index("[CLS]"), *(WORDS.index(word) for word in words.split()), WORDS.index("[SEP]")]
    vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]] = TABLE[ids] + TABLE[ids].mean(axis=0)
    return vectors


def _write_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    tokenizer.save(str(folder / "tokenizer.json"))


def _write_graph(path: Path, pooled: bool) -> None:
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        helper.make_node("Cast", ["attention_mask"], ["flat"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["flat", "last"], ["mask"]),
        helper.make_node("Mul", ["tokens", "mask"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "middle"], ["sum"], keepdims=1),
        helper.make_node("ReduceSum", ["mask", "middle"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["context"]),
        helper.make_node("Add", ["tokens", "context"], ["last_hidden_state"]),
    ]
    shape: list[str | int] = ["batch", "length", "width"]  # as exporters leave it: the dimension is probed
    output = "last_hidden_state"
    if pooled:
        nodes.append(helper.make_node("Squeeze", ["context", "middle"], ["sentence_embedding"]))
        shape, output = ["batch", DIMENSION], "sentence_embedding"
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in _INPUTS],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [
            numpy_helper.from_array(TABLE, "table"),
            numpy_helper.from_array(np.array([2], dtype=np.int64), "last"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "middle"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())


_INPUTS = ("input_ids", "attention_mask")
