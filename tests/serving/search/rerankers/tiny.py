"""A real ONNX cross-encoder of a few words, written into a folder, with its tokenizer."""

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
    "load",
    "save",
    "config",
    "parse",
    "file",
    "find",
    "user",
    "name",
)
# What a token adds to the logit as a word of the query and as one of the document; padding adds the most.
WEIGHTS = np.random.default_rng(3).normal(size=(2, len(WORDS))).astype(np.float32)
WEIGHTS[:, 0] = 50.0


def write_cross_encoder(
    folder: Path, *, width: int = 1, types: bool = True, truncation: int = 32, **config: int
) -> Path:
    """A model whose logit is the mean over unmasked tokens of what each adds on its side of the pair."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_tokenizer(folder, truncation)
    _write_graph(folder / "model.onnx", width, types)
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 32, **config}))
    return folder


def expected_score(query: str, document: str) -> float:
    """The model's logit, computed without it."""
    asked = [2, *_ids(query), 3]
    read = [*_ids(document), 3]
    return float((WEIGHTS[0][asked].sum() + WEIGHTS[1][read].sum()) / (len(asked) + len(read)))


def _ids(words: str) -> list[int]:
    return [WORDS.index(word) if word in WORDS else 1 for word in words.split()]


def _write_tokenizer(folder: Path, truncation: int) -> None:
    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    tokenizer.enable_truncation(truncation)
    tokenizer.save(str(folder / "tokenizer.json"))


def _write_graph(path: Path, width: int, types: bool) -> None:
    """Gathers from one table of both sides: the row is the type times the number of words, plus the token."""
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    side = "token_type_ids" if types else "none"
    nodes = [
        *([] if types else [helper.make_node("Mul", ["input_ids", "zero"], ["none"])]),
        helper.make_node("Mul", [side, "words"], ["shift"]),
        helper.make_node("Add", ["input_ids", "shift"], ["row"]),
        helper.make_node("Gather", ["table", "row"], ["added"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["added", "mask"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "last"], ["sum"], keepdims=1),
        helper.make_node("ReduceSum", ["mask", "last"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["one"]),
        # (no, yes) = (-score/2, score/2): their difference is the score again.
        helper.make_node("Mul", ["one", "spread"], ["logits"]),
    ]
    spread = {1: [[1.0]], 2: [[-0.5, 0.5]], 3: [[0.1, 0.2, 0.3]]}[width]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "labels"])],
        [
            numpy_helper.from_array(WEIGHTS.reshape(-1), "table"),
            numpy_helper.from_array(np.array([len(WORDS)], dtype=np.int64), "words"),
            *([] if types else [numpy_helper.from_array(np.array([0], dtype=np.int64), "zero")]),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "last"),
            numpy_helper.from_array(np.array(spread, dtype=np.float32), "spread"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
