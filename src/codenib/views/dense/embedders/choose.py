"""A spec in, an open embedder out.

    static                    the model inside the package: the default
    qwen3-0.6b                a model of the paper by its short name (known.py), from the Hub or its cache
    qwen3-0.6b:FOLDER         the same from a local folder
    st:NAME_OR_FOLDER         any SentenceTransformers model
    onnx:FOLDER               any folder with tokenizer.json and model.onnx
    endpoint:URL#MODEL        any OpenAI-compatible endpoint by its base URL
    FOLDER                    whichever of the two its files say

Models whose licence forbids commercial use are opened by their own name and by nothing else: no spec falls
back to another model.
"""

from __future__ import annotations

from pathlib import Path

from codenib.core.embedding import Embedder, EmbedderIdentity
from codenib.core.errors import InputError
from codenib.views.dense.embedders.endpoint import open_endpoint
from codenib.views.dense.embedders.known import KNOWN_EMBEDDERS, KnownEmbedder, find_embedder
from codenib.views.dense.embedders.onnx import MODEL_PATHS, find_model, open_onnx
from codenib.views.dense.embedders.sentence_transformers import is_model_folder, open_sentence_transformers

DEFAULT = "static"
TORCH_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


def open_embedder(spec: str = DEFAULT) -> Embedder:
    """Open what `spec` names, or raise before any embedding work."""
    if spec == DEFAULT:
        from codenib.views.dense.embedders.static import open_static

        return open_static()
    kind, separator, rest = spec.partition(":")
    if kind in ("st", "onnx", "endpoint") and separator:
        return _open_kind(kind, rest)
    known = next((known for known in KNOWN_EMBEDDERS if known.name == kind), None)
    if known is not None:
        return _open_known(known, rest if separator else None)
    folder = Path(spec).expanduser()
    if spec and folder.is_dir():
        return _open_folder(folder)
    raise _unknown(spec)


def embedder_identity(spec: str = DEFAULT) -> EmbedderIdentity:
    """The identity of what `spec` names. All but the static model are opened: they know theirs only then."""
    if spec == DEFAULT:
        from codenib.views.dense.embedders.static import static_identity

        return static_identity()
    return open_embedder(spec).identity


def _open_kind(kind: str, rest: str) -> Embedder:
    if kind == "endpoint":
        base_url, _, model = rest.rpartition("#")
        if not base_url:
            raise InputError("which endpoint and which model?", hint="endpoint:https://HOST/v1#MODEL")
        return open_endpoint(base_url, model)
    if not rest:
        raise InputError(f"{kind}: which model?", hint=f"{kind}:FOLDER")
    if kind == "onnx":
        return open_onnx(_require_folder(rest))
    if _is_path(rest):
        _require_folder(rest)
    return open_sentence_transformers(rest)


def _open_known(known: KnownEmbedder, folder: str | None) -> Embedder:
    if folder is None:
        return open_sentence_transformers(known.hub_id)
    return open_sentence_transformers(str(_require_folder(folder)), known=known)


def _open_folder(folder: Path) -> Embedder:
    """ONNX when its model stands at the top, or when no weights for torch stand beside an exported one."""
    torch_weights = any(True for pattern in TORCH_WEIGHTS for _ in folder.glob(pattern))
    if find_model(folder) is not None and ((folder / MODEL_PATHS[0]).is_file() or not torch_weights):
        return open_onnx(folder)
    if is_model_folder(folder):
        return open_sentence_transformers(str(folder))
    raise InputError(
        f"no embedding model in {folder}: it has neither tokenizer.json with model.onnx nor modules.json",
        hint="name the folder that holds one of these",
    )


def _require_folder(text: str) -> Path:
    folder = Path(text).expanduser()
    if not folder.is_dir():
        raise InputError(f"no such folder: {text}", hint=f"ls {folder.parent}")
    return folder


def _is_path(text: str) -> bool:
    """Whether it can only be meant as a path: names of the Hub are NAME or ORG/NAME."""
    return text.startswith((".", "/", "~")) or text.count("/") > 1 or "\\" in text


def _unknown(spec: str) -> InputError:
    if _is_path(spec):
        return InputError(f"no such folder: {spec}", hint=f"ls {Path(spec).expanduser().parent}")
    if find_embedder(spec) is not None or spec.count("/") == 1:
        return InputError(f"not a folder: {spec}", hint=f"for a model of the Hub: st:{spec}")
    names = ", ".join(
        known.name if known.commercial else f"{known.name} (non-commercial)" for known in KNOWN_EMBEDDERS
    )
    return InputError(
        f"unknown embedder: {spec or '(empty)'}",
        hint=f"choose {DEFAULT}, {names}, a folder, st:NAME, onnx:FOLDER or endpoint:URL#MODEL",
    )
