"""ONNX folders of cross-encoders (tokenizer.json and model.onnx) in, a reranker out. Needs the extra `onnx`.

The model reads the query and the document as one row of tokens and gives one logit, or two (no, yes), whose
difference is the score. `config.json` may name two caps of ours besides what it always has: `max_tokens` of a
pair, and `query_tokens` of the query in it.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, ProviderError
from codenib.core.reranking import RerankerIdentity
from codenib.serving.search.rerankers.pointwise import PairTokens, PointwiseReranker
from codenib.views.dense.embedders.folder import digest_files, read_settings
from codenib.views.dense.embedders.onnx import (
    find_model,
    model_files,
    number_type,
    open_session,
    open_tokenizer,
    runtime_errors,
    take_pad_id,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER_HINT = "name a folder with tokenizer.json and model.onnx: onnx:FOLDER"
INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
WIDTHS = (1, 2)
DEFAULT_MAX_TOKENS = 512  # where the folder names no cap: the positions of the smallest encoders
# Dynamic int8 has one scale for a whole batch: scores would depend on the documents beside. Nor is a batch
# faster on a CPU: 30 pairs of up to 256 tokens took 1.06 CPU-seconds one by one, 1.27 in eights.
CPU_BATCH = 1
GPU_BATCH = 16
# No real token of code is longer on average: what stands behind would be cut off as tokens anyway.
CHARACTERS_PER_TOKEN = 16


class _Caps(msgspec.Struct):
    max_tokens: int = 0
    query_tokens: int = 0


@dataclass(frozen=True, slots=True)
class OnnxPairs:
    """A loaded cross-encoder with its tokenizer."""

    session: Any
    tokenizer: Any
    name: str
    inputs: tuple[tuple[str, str], ...]  # name and number type of each
    output: str
    pad_id: int
    max_tokens: int
    query_tokens: int  # 0: half of the pair, and more where the document leaves room

    def encode(self, query: str, documents: Sequence[str]) -> list[PairTokens]:
        """Query and document share the room: the longer one is cut, down to half."""
        longest = self.max_tokens * CHARACTERS_PER_TOKEN
        room = max(self.max_tokens - self.tokenizer.num_special_tokens_to_add(True), 2)
        asked = self.tokenizer.encode(query[:longest], add_special_tokens=False)
        if self.query_tokens:
            asked.truncate(min(self.query_tokens, room - 1))
        cut: dict[int, Any] = {len(asked.ids): asked}
        pairs = []
        for read in self.tokenizer.encode_batch(
            [text[:longest] for text in documents], add_special_tokens=False
        ):
            width = min(len(asked.ids), max(room // 2, room - len(read.ids)))
            if width not in cut:
                cut[width] = copy.deepcopy(asked)
                cut[width].truncate(width)
            read.truncate(room - width)
            pair = self.tokenizer.post_process(cut[width], read)
            pairs.append(PairTokens(tuple(pair.ids), tuple(pair.type_ids)))
        return pairs

    def score(self, batch: Sequence[PairTokens]) -> list[float]:
        import numpy as np

        logits = self.run(batch)
        values = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
        if not np.isfinite(values).all():
            raise ProviderError(f"{self.name} gave a score that is not finite")
        return [float(value) for value in values]

    def run(self, batch: Sequence[PairTokens]) -> NDArray[np.float32]:
        """A row of logits for each pair, padded to the longest; the mask keeps padding out."""
        import numpy as np

        width = max(len(pair.ids) for pair in batch)
        tokens = np.full((len(batch), width), self.pad_id, dtype=np.int64)
        mask, types = np.zeros_like(tokens), np.zeros_like(tokens)
        for row, pair in enumerate(batch):
            tokens[row, : len(pair.ids)] = pair.ids
            types[row, : len(pair.types)] = pair.types
            mask[row, : len(pair.ids)] = 1
        arrays = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": types,
            "position_ids": np.broadcast_to(np.arange(width, dtype=np.int64), tokens.shape),
        }
        feeds = {name: np.ascontiguousarray(arrays[name], dtype=number) for name, number in self.inputs}
        try:
            (output,) = self.session.run([self.output], feeds)
        except runtime_errors() as error:
            raise ProviderError(f"onnxruntime failed on {self.name}: {error}") from error
        logits: NDArray[np.float32] = output.astype(np.float32).reshape(len(batch), -1)
        return logits


def open_onnx_reranker(
    folder: Path | str, *, name: str = "", threads: int | None = None, batch_size: int | None = None
) -> PointwiseReranker:
    """Open a folder and run it once. `threads` are all cores of this process unless told."""
    folder = Path(folder).expanduser()
    model_path = find_model(folder)
    if model_path is None:
        raise InputError(f"not an ONNX cross-encoder: {folder}", hint=FOLDER_HINT)
    settings, caps = read_settings(folder), _read_caps(folder)
    cap = caps.max_tokens or settings.max_tokens or DEFAULT_MAX_TOKENS
    tokenizer = open_tokenizer(folder, cap)
    pad_id = take_pad_id(tokenizer)
    tokenizer.no_truncation()  # pairs are cut here, the same way whatever the tokenizer's own settings
    session = open_session(model_path, available_cores() if threads is None else threads)
    name = name or folder.resolve().name
    model = OnnxPairs(
        session=session,
        tokenizer=tokenizer,
        name=name,
        inputs=_inputs(session, folder),
        output=_output(session),
        pad_id=pad_id,
        max_tokens=cap,
        query_tokens=caps.query_tokens,
    )
    width = model.run(model.encode("probe", ["def probe(): ..."])).shape[1]
    if width not in WIDTHS:
        raise InputError(f"{folder} gives {width} numbers for a pair: not a cross-encoder", hint=FOLDER_HINT)
    revision = digest_files(folder, model_files(folder, model_path))
    identity = RerankerIdentity(name, revision, "cross-encoder", cap)
    if batch_size is None:
        batch_size = CPU_BATCH if session.get_providers()[0] == "CPUExecutionProvider" else GPU_BATCH
    return PointwiseReranker(model, identity, batch_size)


def available_cores() -> int:
    """The cores that this process may use; a container often has fewer than the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_caps(folder: Path) -> _Caps:
    path = folder / "config.json"
    if not path.is_file():
        return _Caps()
    try:
        caps = msgspec.json.decode(path.read_bytes(), type=_Caps)
    except UNDECODABLE as error:
        raise InputError(f"cannot read {path}: {error}", hint="copy the model's folder again") from error
    if caps.max_tokens < 0 or caps.query_tokens < 0:
        raise InputError(f"{path} has a cap below zero", hint="copy the model's folder again")
    return caps


def _inputs(session: Any, folder: Path) -> tuple[tuple[str, str], ...]:
    inputs = tuple((value.name, number_type(value.type)) for value in session.get_inputs())
    strange = [name for name, _ in inputs if name not in INPUTS]
    if strange:
        raise InputError(f"{folder} wants the input {strange[0]}: not a cross-encoder", hint=FOLDER_HINT)
    return inputs


def _output(session: Any) -> str:
    """The output named logits, else the first with one row for each pair."""
    outputs = session.get_outputs()
    named = [value.name for value in outputs if value.name == "logits"]
    flat = [value.name for value in outputs if len(value.shape) in (1, 2)]
    if not named + flat:
        raise InputError(
            f"no output of {[value.name for value in outputs]} holds a score for each pair", hint=FOLDER_HINT
        )
    return str((named + flat)[0])
