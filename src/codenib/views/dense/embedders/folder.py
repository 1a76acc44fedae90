"""What a model's folder says of itself: SentenceTransformers and tokenizer files in, settings out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codenib.core.errors import InputError

# Sides under which published models keep their prompts, most specific to code search first.
QUERY_PROMPTS = ("nl2code_query", "query")
DOCUMENT_PROMPTS = ("nl2code_document", "document", "passage", "corpus")

POOLING_NAMES = {
    "lasttoken": "last",
    "mean_tokens": "mean",
    "cls_token": "cls",
    "max_tokens": "max",
    "weightedmean_tokens": "weightedmean",
}

# Tokenizers without a limit say 1e30; nothing real is longer than this.
LONGEST_CONTEXT = 10_000_000


@dataclass(frozen=True, slots=True)
class FolderSettings:
    """`pooling` is "mean" where the folder names none; `max_tokens` is 0 where it names no cap."""

    pooling: str
    normalized: bool
    max_tokens: int
    query_prefix: str
    document_prefix: str
    prefix_pooled: bool  # False: the prefix's tokens are left out of the pooling
    modules: tuple[str, ...]  # class names of the SentenceTransformers pipeline, empty without modules.json


def read_settings(folder: Path) -> FolderSettings:
    modules = _modules(folder)
    pooling_path = next((path for kind, path in modules if kind == "Pooling"), "1_Pooling")
    prompts = _read_object(folder / "config_sentence_transformers.json")
    query_prefix, document_prefix = choose_prompts(
        prompts.get("prompts") or {}, prompts.get("default_prompt_name")
    )
    pooling = _read_object(folder / pooling_path / "config.json")
    return FolderSettings(
        pooling=_pooling(pooling),
        normalized=any(kind == "Normalize" for kind, _ in modules),
        max_tokens=_max_tokens(folder),
        query_prefix=query_prefix,
        document_prefix=document_prefix,
        prefix_pooled=pooling.get("include_prompt", True) is not False,
        modules=tuple(kind for kind, _ in modules),
    )


def choose_prompts(prompts: Mapping[str, str | None], default_name: str | None) -> tuple[str, str]:
    """The query and the document prefix among prompts; the default prompt serves a side without one."""
    default = prompts.get(default_name or "") or ""
    query = next((prompts[name] for name in QUERY_PROMPTS if prompts.get(name)), None)
    document = next((prompts[name] for name in DOCUMENT_PROMPTS if prompts.get(name)), None)
    return query or default, document or default


def pooling_name(modes: str | Sequence[str]) -> str:
    """One word for what releases of SentenceTransformers call a pooling mode; several are joined by "+".

    >>> pooling_name(["pooling_mode_cls_token", "lasttoken"])
    'cls+last'
    """
    listed = [modes] if isinstance(modes, str) else modes
    short = [mode.removeprefix("pooling_mode_") for mode in listed]
    return "+".join(POOLING_NAMES.get(mode, mode) for mode in short)


def digest_files(folder: Path, files: Iterable[Path]) -> str:
    """A digest of the files' relative names and bytes: equal folders are one model, wherever they lie."""
    digest = hashlib.sha256()
    for path in sorted(files):
        with path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()[:16]


def _read_object(path: Path) -> dict[str, Any]:
    value = _read_json(path)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"not a JSON object: {path}")
    return value


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}", hint="copy the model's folder again") from error


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Class name and path of each module, in order."""
    rows = _read_json(folder / "modules.json") or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"not a list of modules: {folder / 'modules.json'}")
    return [(str(row.get("type", "")).rpartition(".")[2], str(row.get("path", ""))) for row in rows]


def _pooling(config: Mapping[str, Any]) -> str:
    named = config.get("pooling_mode")
    if named is None:
        named = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
    return pooling_name(named) or "mean"


def _max_tokens(folder: Path) -> int:
    """SentenceTransformers' own cap, else the tokenizer's; never more than the model has positions for."""
    tokenizer = _read_object(folder / "tokenizer_config.json")
    truncation = _read_object(folder / "tokenizer.json").get("truncation") or {}
    positions = _read_object(folder / "config.json").get("max_position_embeddings")
    caps = [
        _read_object(folder / "sentence_bert_config.json").get("max_seq_length"),
        tokenizer.get("model_max_length"),
        truncation.get("max_length"),
        positions,
    ]
    known = [int(cap) for cap in caps if isinstance(cap, int | float) and 0 < cap < LONGEST_CONTEXT]
    if not known:
        return 0
    return min(known[0], positions) if isinstance(positions, int) and positions > 0 else known[0]
