"""SentenceTransformers models: a Hub name or a local folder in, an embedder out. Needs the extra `models`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from codenib.core.embedding import EmbedderIdentity
from codenib.core.errors import InputError, ProviderError, extra_hint
from codenib.views.dense.embedders.folder import choose_prompts, digest_files, pooling_name, read_settings
from codenib.views.dense.embedders.hub import cached_commit, require_hub
from codenib.views.dense.embedders.known import KnownEmbedder, find_embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXTRA_HINT = extra_hint("models")
DEFAULT_BATCH = 32  # SentenceTransformers' own default, for models that the paper does not name
OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")
OTHER_BACKENDS = ("onnx", "openvino")


class EncodingModel(Protocol):
    """The part of `SentenceTransformer` that embedding needs."""

    def encode(
        self,
        sentences: list[str],
        *,
        prompt: str,
        batch_size: int,
        show_progress_bar: bool,
        convert_to_numpy: bool,
        normalize_embeddings: bool,
    ) -> Any: ...


def _nothing() -> None:
    """A device without a memory cache has nothing to release."""


@dataclass(frozen=True, slots=True)
class SentenceTransformersEmbedder:
    """Embeds with the model's own pooling and normalization; the batch halves when memory runs out."""

    model: EncodingModel
    identity: EmbedderIdentity
    batch_size: int = DEFAULT_BATCH
    release_memory: Callable[[], None] = _nothing

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, self.identity.document_prefix)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, self.identity.query_prefix)

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.zeros((0, self.identity.dimension), dtype=np.float32)
        batch = self.batch_size
        # The longest texts go first, so a batch too large fails at once and little work is done twice.
        while (rows := self._try_batch(texts, prefix, batch)) is None:
            self.release_memory()
            batch //= 2
        return np.ascontiguousarray(rows, dtype=np.float32)

    def _try_batch(self, texts: Sequence[str], prefix: str, batch: int) -> Any:
        """The rows, or None when memory ran out and a smaller batch is left to try."""
        try:
            # An empty prompt, unlike None, keeps the model's default prompt away.
            return self.model.encode(
                list(texts),
                prompt=prefix,
                batch_size=batch,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=False,
            )
        except RuntimeError as error:  # torch.cuda.OutOfMemoryError is one
            if not any(words in str(error).lower() for words in OUT_OF_MEMORY):
                raise ProviderError(f"{self.identity.model} failed to embed: {error}") from error
            if batch > 1:
                return None
            raise ProviderError(
                f"{self.identity.model} runs out of memory on a single text",
                hint="choose a smaller model, or the embedded one: static",
            ) from error


def open_sentence_transformers(
    name_or_folder: str, *, known: KnownEmbedder | None = None
) -> SentenceTransformersEmbedder:
    """Load a model. `known` gives a local folder the settings of a model of the paper."""
    folder = Path(name_or_folder).expanduser()
    local = folder.is_dir()
    if local:
        _check_folder(folder)
    known = known or find_embedder(name_or_folder)
    remote_code = known is not None and known.remote_code
    library = _import_library()
    if local:
        model = _load(library, str(folder), remote_code, offline=True)
        name, revision = folder.resolve().name, digest_files(folder, torch_files(folder))
    else:
        model = _load_hub(library, name_or_folder, remote_code)
        name, revision = name_or_folder, cached_commit(name_or_folder) or "unknown"
    if known is not None:
        model.max_seq_length = known.max_tokens
    identity = _identify(model, name, revision, known)
    batch = known.batch_size if known is not None else DEFAULT_BATCH
    return SentenceTransformersEmbedder(model, identity, batch, release_cuda)


def is_model_folder(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("modules.json", "config.json"))


def _check_folder(folder: Path) -> None:
    if not is_model_folder(folder):
        raise InputError(
            f"not a SentenceTransformers model: {folder} has neither modules.json nor config.json",
            hint="name the folder that holds modules.json",
        )
    read_settings(folder)  # a broken settings file is told before torch is imported


def torch_files(folder: Path) -> list[Path]:
    """All that can decide a vector: not the prose, not hidden files, not exports for other backends."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix != ".md"
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.relative_to(folder).parts[0] not in OTHER_BACKENDS
    ]


def _import_library() -> Any:
    try:
        import sentence_transformers
    except ImportError as error:
        raise InputError(
            f"SentenceTransformers models need an extra that cannot be imported: {error}", hint=EXTRA_HINT
        ) from error
    return sentence_transformers


def _load_hub(library: Any, name: str, remote_code: bool) -> Any:
    """A cached snapshot is used as it is: no network, and no other model under the same view."""
    if cached_commit(name):
        try:
            return _load(library, name, remote_code, offline=True)
        except ProviderError:
            pass  # an interrupted download: go on and complete it
    known = find_embedder(name)
    require_hub(name, f"{known.name if known else 'st'}:FOLDER")
    return _load(library, name, remote_code, offline=False)


def _load(library: Any, name: str, remote_code: bool, *, offline: bool) -> Any:
    try:
        return library.SentenceTransformer(name, trust_remote_code=remote_code, local_files_only=offline)
    except OSError as error:
        if Path(name).is_dir():
            raise InputError(
                f"cannot load the model in {name}: {first_line(error)}", hint="copy the model's folder again"
            ) from error
        raise ProviderError(
            f"cannot load the model {name}: {first_line(error)}",
            hint=f"hf download {name}, or name a local folder: st:FOLDER",
        ) from error
    except ImportError as error:  # code of the model's own needs a package, such as einops
        raise InputError(
            f"the model {name} needs a package: {first_line(error)}", hint=f"pip install {error.name or ''}"
        ) from error
    except (ValueError, KeyError, RuntimeError) as error:
        raise InputError(
            f"not a model that SentenceTransformers can load: {name}: {first_line(error)}",
            hint="name the folder that holds modules.json, or an embedding model of the Hub",
        ) from error


def _identify(model: Any, name: str, revision: str, known: KnownEmbedder | None) -> EmbedderIdentity:
    dimension = _dimension(model)
    if known is not None and dimension != known.dimension:
        raise InputError(
            f"{name} gives {dimension} dimensions, but {known.name} has {known.dimension}",
            hint=f"name the folder of {known.hub_id}, or open this one as st:FOLDER",
        )
    query_prefix, document_prefix = (
        (known.query_prefix, known.document_prefix)
        if known is not None
        else choose_prompts(model.prompts, model.default_prompt_name)
    )
    return EmbedderIdentity(
        model=name,
        revision=f"{revision} {_number_type(model)}",
        dimension=dimension,
        pooling=_pooling(model),
        normalized=any(type(module).__name__ == "Normalize" for module in model),
        query_prefix=query_prefix,
        document_prefix=document_prefix,
        max_tokens=model.max_seq_length or 0,
    )


def _dimension(model: Any) -> int:
    get = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(get() or 0)


def _number_type(model: Any) -> str:
    """Weights in bfloat16 give other vectors than the same weights in float32."""
    first = next(iter(model.parameters()), None)
    return "float32" if first is None else str(first.dtype).removeprefix("torch.")


def _pooling(model: Any) -> str:
    for module in model:
        if type(module).__name__ == "Pooling":
            # Release 6 replaced the method by the attribute.
            mode = getattr(module, "pooling_mode", None) or module.get_pooling_mode_str().split("+")
            return pooling_name(mode)
    return "model"


def release_cuda() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
