"""A spec in, an open reranker out.

none                      no reranker
qwen3-0.6b                a reranker of the paper by its short name (also -4b, -8b), from the Hub or its cache
qwen3-0.6b:FOLDER         the same from a local folder
onnx:FOLDER               any cross-encoder with tokenizer.json and model.onnx
llm:MODEL                 any OpenAI-compatible chat endpoint, by its address in CODENIB_LLM_URL
st:NAME_OR_FOLDER         any cross-encoder or yes/no model of the transformers library
ORG/NAME                  the same, from the Hub or its cache
FOLDER                    whichever of the two its files say
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codenib.core.errors import InputError
from codenib.core.protocols import Reranker
from codenib.views.dense.embedders.known import KNOWN_RERANKERS, find_reranker

NONE = "none"
Kind = Literal["none", "known", "onnx", "llm", "transformers"]
TORCH_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


@dataclass(frozen=True, slots=True)
class RerankerSpec:
    """What a spec names: the kind, and which of it. Folders are there; nothing is opened yet."""

    kind: Kind
    target: str = ""
    folder: Path | None = None


def parse_reranker(spec: str) -> RerankerSpec:
    """Read a spec, or raise with how one is written.

    >>> parse_reranker("qwen3-4b")
    RerankerSpec(kind='known', target='Qwen/Qwen3-Reranker-4B', folder=None)
    """
    if spec == NONE:
        return RerankerSpec("none")
    kind, separator, rest = spec.partition(":")
    if kind in ("onnx", "llm", "st") and separator:
        return _parse_kind(kind, rest)
    known = find_reranker(kind)
    if known is not None:
        return RerankerSpec("known", known.hub_id, _require_folder(rest) if separator else None)
    folder = Path(spec).expanduser()
    if spec and folder.is_dir():
        return _parse_folder(folder)
    if spec.count("/") == 1 and not _is_path(spec):
        return RerankerSpec("transformers", spec)
    raise _unknown(spec)


def open_reranker(spec: str) -> Reranker | None:
    """Open what `spec` names, or raise before any reranking work; None for `none`."""
    named = parse_reranker(spec)
    if named.kind == "none":
        return None
    if named.kind == "onnx":
        from codenib.serving.search.rerankers.onnx import open_onnx_reranker

        return open_onnx_reranker(named.target)
    if named.kind == "llm":
        from codenib.serving.search.rerankers.listwise import open_listwise

        return open_listwise(named.target)
    from codenib.serving.search.rerankers.transformers import open_transformers

    known = find_reranker(named.target) if named.kind == "known" else None
    return open_transformers(str(named.folder or named.target), known=known)


def _parse_kind(kind: str, rest: str) -> RerankerSpec:
    if not rest:
        raise InputError(f"{kind}: which model?", hint=f"{kind}:{'MODEL' if kind == 'llm' else 'FOLDER'}")
    if kind == "llm":
        return RerankerSpec("llm", rest)
    if kind == "onnx":
        return RerankerSpec("onnx", str(_require_folder(rest)))
    return RerankerSpec("transformers", str(_require_folder(rest)) if _is_path(rest) else rest)


def _parse_folder(folder: Path) -> RerankerSpec:
    """ONNX when its model stands at the top, or when no weights for torch stand beside an exported one."""
    from codenib.views.dense.embedders.onnx import MODEL_PATHS, find_model

    torch_weights = any(True for pattern in TORCH_WEIGHTS for _ in folder.glob(pattern))
    if find_model(folder) is not None and ((folder / MODEL_PATHS[0]).is_file() or not torch_weights):
        return RerankerSpec("onnx", str(folder))
    if (folder / "config.json").is_file():
        return RerankerSpec("transformers", str(folder))
    raise InputError(
        f"no reranker in {folder}: it has neither tokenizer.json with model.onnx nor config.json",
        hint="name the folder that holds one of these",
    )


def _require_folder(text: str) -> Path:
    folder = Path(text).expanduser()
    if not text or not folder.is_dir():
        raise InputError(f"no such folder: {text or '(empty)'}", hint=f"ls {folder.parent}")
    return folder


def _is_path(text: str) -> bool:
    """Whether it can only be meant as a path: names of the Hub are NAME or ORG/NAME."""
    return text.startswith((".", "/", "~")) or text.count("/") > 1 or "\\" in text


def _unknown(spec: str) -> InputError:
    if _is_path(spec):
        return InputError(f"no such folder: {spec}", hint=f"ls {Path(spec).expanduser().parent}")
    names = ", ".join(known.name.replace("reranker-", "") for known in KNOWN_RERANKERS)
    return InputError(
        f"unknown reranker: {spec or '(empty)'}",
        hint=f"choose {NONE}, {names}, onnx:FOLDER, llm:MODEL, ORG/NAME or a folder",
    )
