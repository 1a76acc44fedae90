"""The table of the paper's models."""

from __future__ import annotations

from codenib.views.dense.embedders.known import KNOWN_EMBEDDERS, KNOWN_RERANKERS, find_embedder


def test_the_embedders_are_those_of_the_paper() -> None:
    rows = [
        (known.name, known.dimension, known.pooling, known.normalized, known.max_tokens, known.batch_size)
        for known in KNOWN_EMBEDDERS
    ]
    assert rows == [
        ("sr-small", 768, "cls", False, 8192, 8),
        ("qwen3-0.6b", 1024, "last", True, 8192, 8),
        ("jina-code-1.5b", 1536, "last", True, 8192, 4),
        ("qwen3-4b", 2560, "last", True, 8192, 2),
        ("sr-large", 3584, "last", False, 32_768, 2),
    ]


def test_the_prefixes_are_those_of_the_paper_and_of_the_models_makers() -> None:
    issue = "Given a github issue, identify the code that needs to be changed to fix the issue"
    assert {known.name: (known.query_prefix, known.document_prefix) for known in KNOWN_EMBEDDERS} == {
        "sr-small": ("Represent this query for searching relevant code: ", ""),
        "qwen3-0.6b": (f"Instruct: {issue}\nQuery:", ""),
        "jina-code-1.5b": (
            "Find the most relevant code snippet given the following query:\n",
            "Candidate code snippet:\n",
        ),
        "qwen3-4b": (f"Instruct: {issue}\nQuery:", ""),
        "sr-large": (f"Instruct: {issue}.\nQuery: ", ""),
    }


def test_only_the_qwen_models_allow_commercial_use() -> None:
    assert {known.name for known in KNOWN_EMBEDDERS if known.commercial} == {"qwen3-0.6b", "qwen3-4b"}
    assert all(known.licence == "CC-BY-NC-4.0" for known in KNOWN_EMBEDDERS if not known.commercial)


def test_the_rerankers_are_those_of_the_paper() -> None:
    assert [known.name for known in KNOWN_RERANKERS] == [
        f"qwen3-reranker-{size}" for size in ("0.6b", "4b", "8b")
    ]
    assert [known.hub_id for known in KNOWN_RERANKERS] == [
        f"Qwen/Qwen3-Reranker-{size}" for size in ("0.6B", "4B", "8B")
    ]
    assert {(known.max_tokens, known.batch_size, known.commercial) for known in KNOWN_RERANKERS} == {
        (8192, 8, True)
    }


def test_a_model_is_found_by_its_short_name_and_by_its_hub_id() -> None:
    for known in KNOWN_EMBEDDERS:
        assert find_embedder(known.name) is find_embedder(known.hub_id) is known
    assert find_embedder("qwen3") is None
