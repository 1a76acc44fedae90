"""The embedded model: the one that ships, and a tiny one whose vectors can be computed by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codenib.core.errors import StateError
from codenib.views.dense.embedders.static import (
    DIMENSION,
    StaticEmbedder,
    fields_of,
    open_static,
    static_identity,
)

WORDS = ("cart", "total", "price", "tax")
FACTORS = (1.0, 1.0, 3.0, 1.0, 4.0, 0.5, 0.25)  # of five fields, then of the name's and the place's sums


def model(folder: Path) -> Path:
    """Each word has an axis of its own, and all weights are one."""
    folder.mkdir()
    (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in WORDS))
    np.save(folder / "vectors.npy", np.eye(len(WORDS), DIMENSION, dtype=np.int8))
    np.save(folder / "weights.npy", np.ones((2, len(WORDS)), np.float32))
    np.save(folder / "fields.npy", np.array(FACTORS, np.float32))
    return folder


def near(vector: np.ndarray, **expected: float) -> bool:
    """Whether a vector points where these words' amounts point."""
    amounts = np.zeros(DIMENSION)
    for word, amount in expected.items():
        amounts[WORDS.index(word)] = amount
    return np.allclose(vector, amounts / np.linalg.norm(amounts), atol=1e-6)


def test_a_document_is_read_by_its_fields() -> None:
    text = "shop/cart.py:Cart.total\nclass Cart:\n    @cached\n    def total(self):\n        return 0"
    fields = fields_of(text)
    assert (fields.path, fields.name, fields.scope) == ("shop/cart.py", "total", "Cart")
    assert fields.signature == "    def total(self):"
    assert fields.body == "class Cart:\n    @cached\n        return 0"


def test_a_document_that_never_says_its_name_begins_with_its_signature() -> None:
    fields = fields_of("a.py:load\n@lru_cache\ndef other(): ...")
    assert (fields.signature, fields.body) == ("@lru_cache", "def other(): ...")


def test_a_document_without_a_symbol_has_a_path_alone() -> None:
    assert fields_of("shop/cart.py\nclass Cart\n  total") == ("shop/cart.py", "", "", "class Cart", "  total")
    assert fields_of("shop/cart.py") == ("shop/cart.py", "", "", "", "")


def test_a_document_is_the_sum_of_its_name_its_place_and_its_source(tmp_path: Path) -> None:
    embedder = StaticEmbedder(model(tmp_path / "model"))
    rows = embedder.embed_documents(
        ["tax.py:cart.total\ntotal", "cart\nprice", "x.y:total\ntotal\nprice price", "price", "", "!"]
    )
    place = np.sqrt(1 + 3**2)
    assert near(rows[0], total=0.5 + 1, tax=0.25 / place, cart=0.25 * 3 / place)
    assert near(rows[1], cart=0.25, price=1)
    body = 4 * (1 + np.log(2))
    assert near(rows[2], total=0.5 + 1 / np.hypot(1, body), price=body / np.hypot(1, body))
    assert near(rows[3], price=1)
    assert not rows[4:].any()


def test_a_query_has_no_fields(tmp_path: Path) -> None:
    embedder = StaticEmbedder(model(tmp_path / "model"))
    rows = embedder.embed_queries(["cart:total\ncart", "nothing ?", ""])
    assert near(rows[0], cart=1 + np.log(2), total=1)
    assert not rows[1:].any()


def test_a_text_has_the_same_vector_in_any_company() -> None:
    embedder = open_static()
    texts = [f"shop/a.py:total_{n}\ndef total_{n}(cart):\n    return {'price ' * n}" for n in range(5)]
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])
    assert np.array_equal(embedder.embed_documents(texts), alone)


def test_a_name_weighs_more_than_a_mention_in_a_long_body() -> None:
    embedder = open_static()
    body = "\n".join(f"    step_{n} = prepare(value, {n})" for n in range(40))
    named = f"a.py:convert_currency\ndef convert_currency(value):\n{body}"
    mentioning = f"a.py:handle\ndef handle(value):\n    convert_currency(value)\n{body}"
    query = embedder.embed_queries(["convert a currency"])[0]
    first, second = embedder.embed_documents([named, mentioning]) @ query
    assert first > second + 0.1


@pytest.mark.parametrize("name", ["vocabulary.txt", "vectors.npy", "weights.npy", "fields.npy"])
def test_the_identity_changes_with_each_file(tmp_path: Path, name: str) -> None:
    same, other = model(tmp_path / "same"), model(tmp_path / "other")
    assert static_identity(same) == static_identity(model(tmp_path / "again"))
    (other / name).write_bytes((other / name).read_bytes()[:-1] + b"!")
    assert static_identity(other) != static_identity(same)


def test_a_missing_file_or_one_of_another_shape_is_refused(tmp_path: Path) -> None:
    odd, short = model(tmp_path / "odd"), model(tmp_path / "short")
    np.save(odd / "fields.npy", np.ones(6, np.float32))
    with pytest.raises(StateError, match="do not fit"):
        StaticEmbedder(odd)
    (short / "fields.npy").unlink()
    with pytest.raises(StateError, match="missing"):
        StaticEmbedder(short)
