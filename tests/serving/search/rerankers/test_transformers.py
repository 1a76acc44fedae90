"""Models of the transformers library: tiny ones with random weights, made here, in folders as published."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from codenib.core.errors import InputError, ProviderError
from codenib.serving.search.rerankers.choose import open_reranker
from codenib.serving.search.rerankers.pointwise import PointwiseReranker
from codenib.views.dense.embedders.known import ISSUE_TASK, find_reranker

INSTALLED = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
pytestmark = [
    pytest.mark.skipif(not INSTALLED, reason="needs codenib-views[models]"),
    pytest.mark.filterwarnings("default"),  # the libraries' warnings are not ours
]
WORDS = ("yes", "no", "<", "Instruct", "Query", "Document", "load", "save", "config", "find", "user", "\n")
MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def write_tokenizer(folder: Path, words: Sequence[str], **special: str) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: row for row, word in enumerate([*special.values(), *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=special["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    fast.add_special_tokens({"additional_special_tokens": list(MARKS[1:])})
    fast.save_pretrained(folder)
    return fast


def write_qwen(folder: Path, words: Sequence[str] = WORDS, positions: int = 4096) -> Path:
    """A Qwen3 of two layers whose weights are random, and so large that scores differ."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = write_tokenizer(folder, words, unk_token="<unk>", pad_token=MARKS[0])
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=positions,
        initializer_range=0.5,
    )
    torch.manual_seed(5)
    Qwen3ForCausalLM(config).save_pretrained(folder)
    return folder


def write_classifier(folder: Path, labels: int = 1) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = write_tokenizer(folder, WORDS, unk_token="[UNK]", pad_token="[PAD]")
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=24,
        num_labels=labels,
        initializer_range=0.5,
    )
    torch.manual_seed(5)
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def opened(spec: str) -> PointwiseReranker:
    reranker = open_reranker(spec)
    assert isinstance(reranker, PointwiseReranker)
    return reranker


DOCUMENTS = ["load config", "save", "find user config load save user", "user user", "", "config"]


def test_a_score_is_the_share_of_yes_at_the_last_position_of_the_maker_s_prompt(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = str(write_qwen(tmp_path))
    scores = opened(f"qwen3-0.6b:{folder}").scores("find user", DOCUMENTS)
    model = AutoModelForCausalLM.from_pretrained(folder).float().eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for document, score in zip(DOCUMENTS, scores, strict=True):
        prompt = (
            "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and"
            ' the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
            "<|im_start|>user\n"
            f"<Instruct>: {ISSUE_TASK}\n<Query>: find user\n<Document>: {document}"
            "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
        )
        ids = torch.tensor([tokenizer(prompt, add_special_tokens=False)["input_ids"]])
        with torch.inference_mode():
            logits = model(input_ids=ids).logits[0, -1]
        yes, no = (math.exp(logits[tokenizer.get_vocab()[word]]) for word in ("yes", "no"))
        assert score == pytest.approx(yes / (yes + no), abs=1e-5)
    assert len({round(score, 4) for score in scores}) > 3


def test_padding_changes_no_score(tmp_path: Path) -> None:
    reranker = opened(str(write_qwen(tmp_path)))
    assert reranker.batch_size == 8
    alone = [reranker.scores("find user", [document])[0] for document in DOCUMENTS]
    assert reranker.scores("find user", DOCUMENTS) == pytest.approx(alone, abs=1e-5)


def test_the_paper_s_settings_are_in_the_identity(tmp_path: Path) -> None:
    folder = write_qwen(tmp_path / "model", positions=40_960)
    identity = opened(f"qwen3-4b:{folder}").identity
    assert (identity.kind, identity.max_tokens, identity.instruction) == ("yes-no", 8192, ISSUE_TASK)
    assert identity.model == "model"
    assert identity.revision.endswith(" float32")
    changed = write_qwen(tmp_path / "other" / "model", positions=30_000)
    assert opened(str(changed)).identity.revision != identity.revision


def test_a_long_document_loses_its_end_and_a_long_query_leaves_room_for_documents(tmp_path: Path) -> None:
    reranker = opened(str(write_qwen(tmp_path, positions=200)))
    encode = reranker.model.encode
    whole, cut = encode("find", ["save"])[0].ids, encode("find", ["save " * 500])[0].ids
    known = find_reranker("qwen3-0.6b")
    assert known is not None
    suffix = len(reranker.model.suffix)  # type: ignore[attr-defined]
    assert len(cut) == 200 == reranker.identity.max_tokens
    assert cut[-suffix:] == whole[-suffix:]
    long_query = encode("user " * 500, ["save " * 500])[0].ids
    assert len(long_query) == 200
    assert len(set(long_query) - set(encode("user " * 500, [""])[0].ids)) == 1  # save is read


def test_the_batch_halves_when_memory_runs_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    reranker = opened(str(write_qwen(tmp_path)))
    expected = reranker.scores("find user", DOCUMENTS)
    model = reranker.model.model  # type: ignore[attr-defined]
    run, sizes = model.forward, []

    def scarce(forward: Callable[..., Any], *args: Any, **options: Any) -> Any:
        sizes.append(len(options["input_ids"]))
        if sizes[-1] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return forward(*args, **options)

    monkeypatch.setattr(model, "forward", partial(scarce, run))
    assert reranker.scores("find user", DOCUMENTS) == pytest.approx(expected, abs=1e-5)
    assert sizes == [6, 4, 2, 2, 2]


@pytest.mark.parametrize("labels", [1, 2])
def test_a_cross_encoder_gives_its_logit(tmp_path: Path, labels: int) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = str(write_classifier(tmp_path, labels))
    reranker = opened(folder)
    assert (reranker.identity.kind, reranker.identity.max_tokens) == ("cross-encoder", 24)
    scores = reranker.scores("find user", [*DOCUMENTS, "save " * 99])
    model = AutoModelForSequenceClassification.from_pretrained(folder).float().eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for document, score in zip(DOCUMENTS, scores, strict=False):
        with torch.inference_mode():
            logits = model(**tokenizer("find user", document, return_tensors="pt")).logits[0].tolist()
        assert score == pytest.approx(logits[0] if labels == 1 else logits[1] - logits[0], abs=1e-4)
    assert len(set(scores)) > 3


def test_models_of_other_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="3 labels: not a cross-encoder"):
        opened(str(write_classifier(tmp_path / "three", 3)))
    encoder = write_classifier(tmp_path / "encoder")
    with pytest.raises(InputError, match=r"is a cross-encoder, qwen3-reranker-4b is not"):
        opened(f"qwen3-4b:{encoder}")
    config = json.loads((encoder / "config.json").read_text())
    (encoder / "config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
    with pytest.raises(InputError, match="no reranker: its config names BertModel"):
        opened(str(encoder))
    with pytest.raises(InputError, match="its tokenizer has no yes"):
        opened(str(write_qwen(tmp_path / "mute", words=WORDS[2:])))
    with pytest.raises(InputError, match="60 tokens, too few for the prompt"):
        opened(str(write_qwen(tmp_path / "short", positions=60)))


def test_a_folder_without_its_weights_fails_when_opened(tmp_path: Path) -> None:
    folder = write_qwen(tmp_path)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ProviderError, match="cannot load the model") as caught:
        opened(str(folder))
    assert caught.value.hint == "copy the model's folder again"


def test_a_name_that_cannot_be_had_fails_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ProviderError, match="no cached model Qwen/Qwen3-Reranker-8B") as caught:
        opened("qwen3-8b")
    assert "qwen3-reranker-8b:FOLDER" in caught.value.hint
