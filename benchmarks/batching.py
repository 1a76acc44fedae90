"""Models that several calls ask at once: one model and batches against one model for each, on this machine.

    python -m benchmarks.batching [--threads 1 4 6] [--asks 20] [--documents 30]

Cross-encoders and encoders of real sizes with random weights: what a call costs does not depend on what was
learned. Prints asks a second and the median wait, and how far the scores are apart (`apart`; the batch that a
pair is in decides its last bits) and whether the order of documents is the same.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from codenib.core.embedding import Embedder
from codenib.core.protocols import Reranker
from codenib.serving.search.rerankers.transformers import open_transformers
from codenib.serving.shared_models import SharedModels
from codenib.views.dense.embedders.sentence_transformers import open_sentence_transformers

#: Layers, width: a MiniLM, and a large encoder.
_SIZES = {"6 layers of 384": (6, 384), "24 layers of 1024": (24, 1024)}
_WORDS = [f"word{number}" for number in range(2000)]
_DOCUMENT_WORDS, _QUERY_WORDS = 180, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 4, 6])
    parser.add_argument("--asks", type=int, default=20, help="of each thread")
    parser.add_argument("--documents", type=int, default=30, help="that a reranker reads for an ask")
    options = parser.parse_args()
    for name, (layers, width) in _SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            _write_model(Path(folder), layers, width)
            for threads in options.threads:
                _compare_rerankers(name, folder, threads, options.asks, documents=options.documents)
                _compare_embedders(name, folder, threads, options.asks)


def _compare_rerankers(name: str, folder: str, threads: int, asks: int, *, documents: int) -> None:
    chance = random.Random(1)
    questions = [
        (_text(chance, _QUERY_WORDS), [_text(chance, _DOCUMENT_WORDS) for _ in range(documents)])
        for _ in range(threads * asks)
    ]
    own: list[Reranker] = [open_transformers(folder) for _ in range(threads)]
    shared = SharedModels(open_reranker=lambda spec: own[0])
    one = shared.reranker(folder)
    assert one is not None
    scores: dict[str, list[Sequence[float]]] = {}
    for way, models in (("each its own", own), ("shared", [one] * threads)):
        asked = [lambda question, model=model: model.scores(*question) for model in models]
        scores[way] = _timed(f"rerank, {name}, {threads} threads, {way}", asked, questions)
    pairs = list(zip(*scores.values(), strict=True))
    apart = max(abs(a - b) for first, second in pairs for a, b in zip(first, second, strict=True))
    same = sum(_order(first) == _order(second) for first, second in pairs)
    print(f"    {shared.asks} asks in {shared.batches} batches; apart {apart:.1e}, same order {same}")


def _compare_embedders(name: str, folder: str, threads: int, asks: int) -> None:
    chance = random.Random(2)
    questions = [[_text(chance, _QUERY_WORDS)] for _ in range(threads * asks)]
    own: list[Embedder] = [open_sentence_transformers(folder) for _ in range(threads)]
    shared = SharedModels(open_embedder=lambda spec: own[0])
    one = shared.embedder(folder)
    for way, models in (("each its own", own), ("shared", [one] * threads)):
        asked = [lambda question, model=model: model.embed_queries(question)[0] for model in models]
        _timed(f"embed, {name}, {threads} threads, {way}", asked, questions)
    print(f"    {shared.asks} asks in {shared.batches} batches")


def _timed(
    what: str, asked: Sequence[Callable[[Any], Any]], questions: Sequence[Any]
) -> list[Sequence[float]]:
    """Each thread asks its share of the questions; the answers in the order of the questions."""
    answers: list[Any] = [None] * len(questions)
    waits: list[float] = []
    asked[0](questions[0])  # what is compiled or loaded at first
    start = threading.Barrier(len(asked) + 1)

    def work(number: int) -> None:
        start.wait()
        for at in range(number, len(questions), len(asked)):
            began = time.perf_counter()
            answers[at] = asked[number](questions[at])
            waits.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(asked))]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    rate, median = len(questions) / (time.perf_counter() - began), sorted(waits)[len(waits) // 2]
    print(f"{what}: {rate:.1f} asks/s, median {1000 * median:.1f} ms", flush=True)
    return answers


def _order(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda row: -scores[row])


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words))


def _write_model(folder: Path, layers: int, width: int) -> None:
    """A classifier of one logit with its tokenizer, which is an encoder as well."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(1)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: row for row, word in enumerate([*special, *_WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **names).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)


if __name__ == "__main__":
    main()
