"""Models of the transformers library: a Hub name or a folder in, a reranker out. Needs the extra `models`.

Two kinds, told apart by what the model's config says it is. A causal language model is asked as the paper
asks Qwen3-Reranker: the prompt of its maker, and the share of "yes" against "no" at the last position. A
model of sequence classification is a cross-encoder and gives its logit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codenib.core.errors import InputError, ProviderError
from codenib.core.reranking import RerankerIdentity
from codenib.serving.search.rerankers.pointwise import PairTokens, PointwiseReranker
from codenib.views.dense.embedders.folder import LONGEST_CONTEXT, digest_files
from codenib.views.dense.embedders.hub import cached_commit, require_hub
from codenib.views.dense.embedders.known import KNOWN_RERANKERS, KnownReranker, find_reranker
from codenib.views.dense.embedders.sentence_transformers import (
    EXTRA_HINT,
    OUT_OF_MEMORY,
    first_line,
    release_cuda,
    torch_files,
)

CLASSIFIER_BATCH = 32
CLASSIFIER_TOKENS = 512  # where neither tokenizer nor config names a cap
FOLDER_HINT = "name the folder that holds config.json and the weights, or ORG/MODEL"


@dataclass(frozen=True, slots=True)
class YesNoPairs:
    """A causal model that is asked whether the document meets the query."""

    model: Any
    tokenizer: Any
    known: KnownReranker
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    yes: int
    no: int
    max_tokens: int

    def encode(self, query: str, documents: Sequence[str]) -> list[PairTokens]:
        """Prefix and suffix are always whole; the end of the document is cut off."""
        room = self.max_tokens - len(self.prefix) - len(self.suffix)
        pairs = []
        for document in documents:
            ids = self._body(query, document)
            if len(ids) > room:
                ids = self._body(self._shortened(query, room // 2), document)[:room]
            pairs.append(PairTokens((*self.prefix, *ids, *self.suffix)))
        return pairs

    def score(self, batch: Sequence[PairTokens]) -> list[float]:
        """Padded on the left, so that the last position of each row is its last token."""
        width = max(len(pair.ids) for pair in batch)
        pad = self.tokenizer.pad_token_id or 0
        ids = [[pad] * (width - len(pair.ids)) + list(pair.ids) for pair in batch]
        mask = [[0] * (width - len(pair.ids)) + [1] * len(pair.ids) for pair in batch]
        # One position's logits: those of all would be 20 GB for eight prompts of 8,192 tokens.
        output = _run(self.model, {"input_ids": ids, "attention_mask": mask}, {"logits_to_keep": 1})
        logits = output[:, -1, [self.no, self.yes]].float()
        return [float(value) for value in logits.softmax(dim=-1)[:, 1].tolist()]

    def _body(self, query: str, document: str) -> list[int]:
        text = self.known.prompt_body.format(
            instruction=self.known.instruction, query=query, document=document
        )
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _shortened(self, query: str, tokens: int) -> str:
        """The query's first tokens: a whole one of this length would leave no room for any document."""
        encoded = self.tokenizer(query, add_special_tokens=False, return_offsets_mapping=True)
        offsets = encoded["offset_mapping"]
        return query if len(offsets) <= tokens else query[: offsets[tokens - 1][1]]


@dataclass(frozen=True, slots=True)
class ClassifierPairs:
    """A cross-encoder: one logit, or two (no, yes), whose difference is the score."""

    model: Any
    tokenizer: Any
    max_tokens: int

    def encode(self, query: str, documents: Sequence[str]) -> list[PairTokens]:
        if not documents:
            return []
        encoded = self.tokenizer(
            [query] * len(documents),
            list(documents),
            truncation="longest_first",
            max_length=self.max_tokens,
        )
        types = encoded.get("token_type_ids") or [()] * len(documents)
        return [
            PairTokens(tuple(ids), tuple(kinds))
            for ids, kinds in zip(encoded["input_ids"], types, strict=True)
        ]

    def score(self, batch: Sequence[PairTokens]) -> list[float]:
        width = max(len(pair.ids) for pair in batch)
        pad = self.tokenizer.pad_token_id or 0
        rows = {
            "input_ids": [[*pair.ids, *[pad] * (width - len(pair.ids))] for pair in batch],
            "attention_mask": [[1] * len(pair.ids) + [0] * (width - len(pair.ids)) for pair in batch],
        }
        if batch[0].types:
            rows["token_type_ids"] = [[*pair.types, *[0] * (width - len(pair.types))] for pair in batch]
        logits = _run(self.model, rows, {}).float()
        values = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
        return [float(value) for value in values.tolist()]


def open_transformers(name_or_folder: str, *, known: KnownReranker | None = None) -> PointwiseReranker:
    """Load a model. `known` gives a local folder the settings of a reranker of the paper."""
    folder = Path(name_or_folder).expanduser()
    local = folder.is_dir()
    if local and not (folder / "config.json").is_file():
        raise InputError(f"not a model: {folder} has no config.json", hint=FOLDER_HINT)
    known = known or find_reranker(name_or_folder)
    library = _import_library()
    source = str(folder) if local else name_or_folder
    offline = local or _have(source, known)
    kind, config = _kind(library, source, offline)
    if kind == "yes-no":
        settings = known or KNOWN_RERANKERS[0]
        asked = _open_yes_no(library, source, settings, config, offline)
        identity = _identify(source, asked, kind, settings.instruction)
        return PointwiseReranker(asked, identity, settings.batch_size, release_cuda)
    if known is not None:
        raise InputError(f"{source} is a {kind}, {known.name} is not", hint=f"hf download {known.hub_id}")
    pairs = _open_classifier(library, source, config, offline)
    return PointwiseReranker(pairs, _identify(source, pairs, kind), CLASSIFIER_BATCH, release_cuda)


def _identify(
    source: str, pairs: YesNoPairs | ClassifierPairs, kind: str, instruction: str = ""
) -> RerankerIdentity:
    folder = Path(source)
    if folder.is_dir():
        name, revision = folder.resolve().name, digest_files(folder, torch_files(folder))
    else:
        name, revision = source, cached_commit(source) or "unknown"
    # Weights in bfloat16 give other scores than the same weights in float32.
    numbers = str(next(iter(pairs.model.parameters())).dtype).removeprefix("torch.")
    return RerankerIdentity(name, f"{revision} {numbers}", kind, pairs.max_tokens, instruction)


def _import_library() -> Any:
    try:
        import torch  # noqa: F401 - transformers itself imports without it, and fails only later
        import transformers
    except ImportError as error:
        raise InputError(
            f"rerankers of the transformers library need an extra that cannot be imported: {error}",
            hint=EXTRA_HINT,
        ) from error
    return transformers


def _have(name: str, known: KnownReranker | None) -> bool:
    """Whether the model is cached, and so needs no network; raises when it is not and there is no Hub."""
    if cached_commit(name):
        return True
    require_hub(name, f"{known.name}:FOLDER" if known else "FOLDER")
    return False


def _kind(library: Any, source: str, offline: bool) -> tuple[str, Any]:
    config = _load(library.AutoConfig, source, offline)
    architectures = getattr(config, "architectures", None) or []
    if any(name.endswith("ForCausalLM") for name in architectures):
        return "yes-no", config
    if any(name.endswith("ForSequenceClassification") for name in architectures):
        return "cross-encoder", config
    raise InputError(
        f"{source} is no reranker: its config names {', '.join(architectures) or 'no architecture'}",
        hint="name a causal model asked for yes or no, or one of sequence classification",
    )


def _open_yes_no(library: Any, source: str, known: KnownReranker, config: Any, offline: bool) -> YesNoPairs:
    tokenizer = _load(library.AutoTokenizer, source, offline)
    prefix, suffix = (
        tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
        for text in (known.prompt_prefix, known.prompt_suffix)
    )
    vocabulary = tokenizer.get_vocab()
    missing = [word for word in ("<|im_start|>", "<|im_end|>", "yes", "no") if word not in vocabulary]
    if missing:
        raise InputError(
            f"{source} cannot be asked as Qwen3-Reranker is: its tokenizer has no {missing[0]}",
            hint=f"name {', '.join(each.name for each in KNOWN_RERANKERS)} or a cross-encoder",
        )
    positions = getattr(config, "max_position_embeddings", None) or known.max_tokens
    cap = min(known.max_tokens, positions)
    if cap < 2 * (len(prefix) + len(suffix)):
        raise InputError(f"{source} reads {cap} tokens, too few for the prompt", hint=FOLDER_HINT)
    model = _placed(_load(library.AutoModelForCausalLM, source, offline, **_numbers(library)))
    return YesNoPairs(
        model=model,
        tokenizer=tokenizer,
        known=known,
        prefix=prefix,
        suffix=suffix,
        yes=vocabulary["yes"],
        no=vocabulary["no"],
        max_tokens=cap,
    )


def _open_classifier(library: Any, source: str, config: Any, offline: bool) -> ClassifierPairs:
    if config.num_labels not in (1, 2):
        raise InputError(f"{source} has {config.num_labels} labels: not a cross-encoder", hint=FOLDER_HINT)
    tokenizer = _load(library.AutoTokenizer, source, offline)
    model = _placed(_load(library.AutoModelForSequenceClassification, source, offline, **_numbers(library)))
    caps = (tokenizer.model_max_length, getattr(config, "max_position_embeddings", None))
    named = [int(cap) for cap in caps if cap and cap < LONGEST_CONTEXT]
    return ClassifierPairs(model, tokenizer, min(named, default=CLASSIFIER_TOKENS))


def _load(loader: Any, source: str, offline: bool, **options: Any) -> Any:
    """Load without code of the model's own."""
    try:
        return loader.from_pretrained(source, local_files_only=offline, trust_remote_code=False, **options)
    except OSError as error:
        raise ProviderError(
            f"cannot load the model {source}: {first_line(error)}",
            hint="copy the model's folder again" if Path(source).is_dir() else f"hf download {source}",
        ) from error
    except ImportError as error:
        raise InputError(
            f"the model {source} needs a package: {first_line(error)}",
            hint=f"pip install {error.name or 'the package'}",
        ) from error
    except (ValueError, KeyError, RuntimeError) as error:
        raise InputError(
            f"not a model that the transformers library can load: {source}: {first_line(error)}",
            hint="pip install -U transformers",
        ) from error


def _numbers(library: Any) -> dict[str, str]:
    """The weights' own number type; releases differ in how it is asked for."""
    return {"dtype" if int(library.__version__.partition(".")[0]) >= 5 else "torch_dtype": "auto"}


def _placed(model: Any) -> Any:
    """On the GPU as stored; on a CPU in float32, since few compute bfloat16 well."""
    import torch

    if torch.cuda.is_available():
        return model.eval().to("cuda")
    return model.eval().to(torch.float32)


def _run(model: Any, rows: dict[str, list[list[int]]], options: dict[str, int]) -> Any:
    """The logits; `MemoryError` when the batch does not fit."""
    import torch

    try:
        with torch.inference_mode():
            tensors = {name: torch.tensor(row, device=model.device) for name, row in rows.items()}
            return model(**tensors, **options).logits
    except RuntimeError as error:  # torch.cuda.OutOfMemoryError is one
        if any(words in str(error).lower() for words in OUT_OF_MEMORY):
            raise MemoryError(first_line(error)) from error
        raise ProviderError(f"the reranker failed: {first_line(error)}") from error
