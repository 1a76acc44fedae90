"""The paper's five embedders and three rerankers by short name, with all that decides their vectors: data.

Dimensions, pooling, caps and batch sizes are the paper's table "Dense-index configuration"; the issue task is
worded as its appendix quotes it. What the paper leaves open is from the models' makers:

- Qwen: the README of github.com/QwenLM/Qwen3-Embedding, `get_detailed_instruct` and the rerankers' prompt.
- SweRank: src/eval_beir_sbert_canonical.py of github.com/SalesforceAIResearch/SweRank. Its instruction has a
  full stop that the paper's quotation lacks; the paper's table says "shipped", so the stop stays.
- Jina: the table of prefixes in arXiv 2508.21290.

SweRank and Jina show CC-BY-NC-4.0 on their model pages and the Qwen rerankers Apache-2.0; the Qwen embedders'
Apache-2.0 is from pages that redistribute them. No snapshot was at hand to compare.
"""

from __future__ import annotations

from dataclasses import dataclass

ISSUE_TASK = "Given a github issue, identify the code that needs to be changed to fix the issue"
ISSUE_PREFIX = f"Instruct: {ISSUE_TASK}\nQuery:"  # no space after it in Qwen's template


@dataclass(frozen=True, slots=True)
class KnownEmbedder:
    """How one model embeds. `batch_size` halves on out-of-memory, down to one."""

    name: str
    hub_id: str
    dimension: int
    pooling: str
    normalized: bool
    max_tokens: int
    batch_size: int
    query_prefix: str
    document_prefix: str
    licence: str
    commercial: (
        bool  # False: the licence forbids commercial use, so nothing opens it unless asked for by name
    )
    remote_code: bool = False  # True: the Hub snapshot brings Python of its own, which runs when it is opened


@dataclass(frozen=True, slots=True)
class KnownReranker:
    """How one model scores a pair: softmax of the yes and no logits at the last position of the prompt."""

    name: str
    hub_id: str
    max_tokens: int
    batch_size: int
    instruction: str
    prompt_prefix: str
    prompt_body: str  # has {instruction}, {query} and {document}
    prompt_suffix: str
    licence: str
    commercial: bool


KNOWN_EMBEDDERS: tuple[KnownEmbedder, ...] = (
    KnownEmbedder(
        name="sr-small",
        hub_id="Salesforce/SweRankEmbed-Small",
        dimension=768,
        pooling="cls",
        normalized=False,
        max_tokens=8192,
        batch_size=8,
        query_prefix="Represent this query for searching relevant code: ",
        document_prefix="",
        licence="CC-BY-NC-4.0",
        commercial=False,
        remote_code=True,
    ),
    KnownEmbedder(
        name="qwen3-0.6b",
        hub_id="Qwen/Qwen3-Embedding-0.6B",
        dimension=1024,
        pooling="last",
        normalized=True,
        max_tokens=8192,
        batch_size=8,
        query_prefix=ISSUE_PREFIX,
        document_prefix="",
        licence="Apache-2.0",
        commercial=True,
    ),
    KnownEmbedder(
        name="jina-code-1.5b",
        hub_id="jinaai/jina-code-embeddings-1.5b",
        dimension=1536,
        pooling="last",
        normalized=True,
        max_tokens=8192,
        batch_size=4,
        query_prefix="Find the most relevant code snippet given the following query:\n",
        document_prefix="Candidate code snippet:\n",
        licence="CC-BY-NC-4.0",
        commercial=False,
    ),
    KnownEmbedder(
        name="qwen3-4b",
        hub_id="Qwen/Qwen3-Embedding-4B",
        dimension=2560,
        pooling="last",
        normalized=True,
        max_tokens=8192,
        batch_size=2,
        query_prefix=ISSUE_PREFIX,
        document_prefix="",
        licence="Apache-2.0",
        commercial=True,
    ),
    KnownEmbedder(
        name="sr-large",
        hub_id="fishmingyu/SweRankEmbed-Large",
        dimension=3584,
        pooling="last",
        normalized=False,
        max_tokens=32_768,
        batch_size=2,
        query_prefix=f"Instruct: {ISSUE_TASK}.\nQuery: ",
        document_prefix="",
        licence="CC-BY-NC-4.0",
        commercial=False,
        remote_code=True,
    ),
)


def _qwen_reranker(size: str) -> KnownReranker:
    return KnownReranker(
        name=f"qwen3-reranker-{size.lower()}",
        hub_id=f"Qwen/Qwen3-Reranker-{size}",
        max_tokens=8192,
        batch_size=8,
        instruction=ISSUE_TASK,
        prompt_prefix=(
            "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and"
            ' the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
            "<|im_start|>user\n"
        ),
        prompt_body="<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {document}",
        prompt_suffix="<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
        licence="Apache-2.0",
        commercial=True,
    )


KNOWN_RERANKERS: tuple[KnownReranker, ...] = tuple(_qwen_reranker(size) for size in ("0.6B", "4B", "8B"))


def find_reranker(name: str) -> KnownReranker | None:
    """The known reranker of that short name, with or without its "reranker-", or Hub id.

    >>> find_reranker("qwen3-0.6b").hub_id
    'Qwen/Qwen3-Reranker-0.6B'
    """
    names = (
        (known, (known.name, known.name.replace("reranker-", ""), known.hub_id)) for known in KNOWN_RERANKERS
    )
    return next((known for known, spelled in names if name in spelled), None)


def find_embedder(name: str) -> KnownEmbedder | None:
    """The known embedder of that short name or Hub id.

    >>> find_embedder("qwen3-0.6b").hub_id
    'Qwen/Qwen3-Embedding-0.6B'
    """
    return next((known for known in KNOWN_EMBEDDERS if name in (known.name, known.hub_id)), None)
