"""ONNX folders (tokenizer.json and model.onnx) in, an embedder out. Needs the extra `onnx`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codenib.core.embedding import EmbedderIdentity
from codenib.core.errors import InputError, ProviderError, extra_hint
from codenib.views.dense.embedders.folder import FolderSettings, digest_files, read_settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXTRA_HINT = extra_hint("onnx")
FOLDER_HINT = "name a folder with tokenizer.json and model.onnx: onnx:FOLDER"
MODEL_PATHS = ("model.onnx", "onnx/model.onnx")  # the second is the Hub's layout
SETTINGS_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "config.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
)
POOLINGS = ("mean", "cls", "last")
MODULES = ("Transformer", "Pooling", "Normalize")
INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
DEFAULT_MAX_TOKENS = 512  # where the folder names no cap: the positions of the smallest encoders
BATCH_SIZE = 16
PROVIDERS = ("CUDAExecutionProvider", "CPUExecutionProvider")


@dataclass(frozen=True, slots=True)
class OnnxGraph:
    """A loaded model: token ids in, a row for each text out."""

    session: Any
    name: str
    inputs: tuple[tuple[str, str], ...]  # name and number type of each
    output: str
    pooling: str  # "model": the output is one row for each text already
    pad_id: int

    def run(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Pad to the longest text; the mask keeps the padding out of the attention and out of the pooling."""
        import numpy as np

        width = max(len(tokens) for tokens in ids)
        tokens = np.full((len(ids), width), self.pad_id, dtype=np.int64)
        mask = np.zeros((len(ids), width), dtype=np.int64)
        for row, values in enumerate(ids):
            tokens[row, : len(values)] = values
            mask[row, : len(values)] = 1
        arrays = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(tokens),
            "position_ids": np.broadcast_to(np.arange(width, dtype=np.int64), tokens.shape),
        }
        feeds = {name: np.ascontiguousarray(arrays[name], dtype=number) for name, number in self.inputs}
        try:
            (output,) = self.session.run([self.output], feeds)
        except runtime_errors() as error:
            raise ProviderError(f"onnxruntime failed on {self.name}: {error}") from error
        return _pool(output.astype(np.float32, copy=False), mask, self.pooling)


@dataclass(frozen=True, slots=True)
class OnnxEmbedder:
    """Embeds in batches of texts of like length."""

    graph: OnnxGraph
    tokenizer: Any
    identity: EmbedderIdentity
    batch_size: int = BATCH_SIZE

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, self.identity.document_prefix)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, self.identity.query_prefix)

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        import numpy as np

        ids = [encoding.ids for encoding in self.tokenizer.encode_batch([prefix + text for text in texts])]
        rows = np.zeros((len(ids), self.identity.dimension), dtype=np.float32)
        for batch in self._batches(ids):
            rows[batch] = self.graph.run([ids[row] for row in batch])
        if not self.identity.normalized:
            return rows
        norms: NDArray[np.float32] = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, np.maximum(norms, np.float32(1e-12)), dtype=np.float32)

    def _batches(self, ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Rows by length, so that short texts are padded little. A text without tokens stays zero."""
        order = sorted((row for row, tokens in enumerate(ids) if tokens), key=lambda row: len(ids[row]))
        for start in range(0, len(order), self.batch_size):
            yield order[start : start + self.batch_size]


def open_onnx(
    folder: Path | str,
    *,
    pooling: str | None = None,
    normalize: bool | None = None,
    max_tokens: int | None = None,
) -> OnnxEmbedder:
    """Open a folder and run it once. The options replace what the folder says of itself."""
    folder = Path(folder).expanduser()
    model_path = find_model(folder)
    if model_path is None:
        raise InputError(f"not an ONNX embedding model: {folder}", hint=FOLDER_HINT)
    settings = read_settings(folder)
    _check_settings(folder, settings)
    cap = max_tokens or settings.max_tokens or DEFAULT_MAX_TOKENS
    tokenizer = open_tokenizer(folder, cap)
    graph = _open_graph(folder, model_path, pooling or settings.pooling, take_pad_id(tokenizer))
    identity = EmbedderIdentity(
        model=folder.resolve().name,
        revision=digest_files(folder, model_files(folder, model_path)),
        dimension=graph.run([[graph.pad_id]]).shape[1],
        pooling=graph.pooling,
        normalized=settings.normalized if normalize is None else normalize,
        query_prefix=settings.query_prefix,
        document_prefix=settings.document_prefix,
        max_tokens=cap,
    )
    return OnnxEmbedder(graph, tokenizer, identity)


def find_model(folder: Path) -> Path | None:
    """The model file of a folder that also has its tokenizer."""
    if not (folder / "tokenizer.json").is_file():
        return None
    return next((folder / path for path in MODEL_PATHS if (folder / path).is_file()), None)


def model_files(folder: Path, model_path: Path) -> set[Path]:
    """All that can decide a vector: the graph, the weights kept beside it, the settings."""
    beside = [path for path in model_path.parent.glob("*") if path.suffix != ".onnx" and "onnx" in path.name]
    settings = [*(folder / name for name in SETTINGS_FILES), *folder.glob("*/config.json")]
    return {path for path in (model_path, *beside, *settings) if path.is_file()}


def _check_settings(folder: Path, settings: FolderSettings) -> None:
    """Refuse a folder that asks for what this module leaves out: its vectors would be silently wrong."""
    unknown = [name for name in settings.modules if name not in MODULES]
    if unknown:
        raise InputError(
            f"{folder} has the module {unknown[0]}, which ONNX folders do not run",
            hint=f"open it as st:{folder}",
        )
    if not settings.prefix_pooled and (settings.query_prefix or settings.document_prefix):
        raise InputError(f"{folder} leaves its prefix out of the pooling", hint=f"open it as st:{folder}")


def open_tokenizer(folder: Path, max_tokens: int) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise InputError(f"ONNX models need the package {error.name}", hint=EXTRA_HINT) from error
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}", hint="copy the model's folder again") from error
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def take_pad_id(tokenizer: Any) -> int:
    """The id that the tokenizer pads with, and no more padding by it. Masked, so any id would do."""
    padding = tokenizer.padding
    tokenizer.no_padding()
    return int(padding["pad_id"]) if padding else 0


def _open_graph(folder: Path, model_path: Path, pooling: str, pad_id: int) -> OnnxGraph:
    session = open_session(model_path)
    inputs = tuple((value.name, number_type(value.type)) for value in session.get_inputs())
    strange = [name for name, _ in inputs if name not in INPUTS]
    if strange:
        raise InputError(
            f"{model_path} wants the input {strange[0]}: not an embedding model", hint=FOLDER_HINT
        )
    output, pooled = _find_output(session)
    if not pooled and pooling not in POOLINGS:
        raise InputError(f"{folder} pools by {pooling}; ONNX folders can {', '.join(POOLINGS)}")
    return OnnxGraph(
        session,
        name=folder.resolve().name,
        inputs=inputs,
        output=output,
        pooling="model" if pooled else pooling,
        pad_id=pad_id,
    )


def open_session(model_path: Path, threads: int = 0) -> Any:
    """The model, loaded; `threads` 0 leaves them to onnxruntime, else they sleep while they wait."""
    try:
        import onnxruntime
    except ImportError as error:
        raise InputError(f"ONNX models need the package {error.name}", hint=EXTRA_HINT) from error
    available = onnxruntime.get_available_providers()
    options = onnxruntime.SessionOptions()
    if threads:
        options.intra_op_num_threads = threads
        # On a busy machine of two cores, spinning doubled the CPU time of 30 pairs and gained no time.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # its remarks on how a graph was exported help nobody who asks a question
    try:
        return onnxruntime.InferenceSession(
            str(model_path), options, providers=[name for name in PROVIDERS if name in available]
        )
    except runtime_errors() as error:
        raise InputError(
            f"cannot load {model_path}: {error}", hint="copy the model's folder again"
        ) from error


def _find_output(session: Any) -> tuple[str, bool]:
    """The output with a vector for each token, else the one with a vector for each text; and which it is."""
    outputs = session.get_outputs()
    for rank, pooled in ((3, False), (2, True)):
        for value in outputs:
            if len(value.shape) == rank:
                return value.name, pooled
    raise InputError(f"no output of {[value.name for value in outputs]} holds embeddings", hint=FOLDER_HINT)


def number_type(onnx_type: str) -> str:
    return onnx_type.removeprefix("tensor(").removesuffix(")")


def _pool(output: NDArray[np.float32], mask: NDArray[np.int64], pooling: str) -> NDArray[np.float32]:
    import numpy as np

    if pooling == "model":
        return output
    if pooling == "cls":
        return output[:, 0]
    lengths: NDArray[np.int64] = mask.sum(axis=1)
    if pooling == "last":
        return output[np.arange(len(output)), lengths - 1]
    kept = np.where(mask[:, :, None] == 1, output, np.float32(0))
    sums: NDArray[np.float32] = kept.sum(axis=1)
    counts: NDArray[np.float32] = lengths[:, None].astype(np.float32)
    return sums / counts


def runtime_errors() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: they have no common base."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    names = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "NotImplemented")
    return (*(getattr(state, name) for name in names), state.RuntimeException)
