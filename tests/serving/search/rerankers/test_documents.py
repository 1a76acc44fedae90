"""The text that a reranker reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codenib.core.answers import Evidence
from codenib.core.source import Level, SourceUnit, Span
from codenib.serving.search.rerankers.documents import document_of, documents_of
from codenib.units.extract import extract
from codenib.views.dense.documents import documents_of as embedded_documents
from codenib.views.dense.profile import DocumentSet

SOURCE = '''\
import os


class Cart(Base):
    """What somebody buys."""

    rate = 2

    def total(self):
        # all of it
        return self.rate * 3

    class Row:
        def price(self):
            return 1


def main():
    return Cart().total()
'''


def unit(text: str, symbol: str = "Cart.total") -> SourceUnit:
    return SourceUnit(Span("a/b.py", 1, 2), Level.L2, "function", "python", symbol, text)


def test_a_document_is_its_address_its_class_and_its_source() -> None:
    assert document_of(unit("    def total(self):\n        return 1\n\n"), "class Cart(Base):") == (
        "a/b.py:Cart.total\nclass Cart(Base):\n    def total(self):\n        return 1"
    )
    assert document_of(unit("X = 1", symbol="")) == "a/b.py\nX = 1"


def test_callables_read_as_the_dense_view_embeds_them() -> None:
    units = extract(SOURCE.encode(), "python")
    evidence = [
        Evidence("a.py", row.start_line, row.end_line, row.symbol, row.kind, row.level.name, "python", 0.0)
        for row in units.rows
        if row.level is Level.L2 and row.leaf
    ]
    embedded = embedded_documents("a.py", units, SOURCE.encode(), DocumentSet.L2)
    assert [item.symbol for item in evidence] == ["Cart.total", "Cart.Row.price", "main"]
    assert documents_of(evidence, {"a.py": SOURCE}) == [document.text for document in embedded]


def test_a_long_unit_is_cut_behind_a_whole_line() -> None:
    assert document_of(unit("one\ntwo\nthree"), characters=26) == "a/b.py:Cart.total\none\ntwo"
    assert document_of(unit("one"), characters=4) == "a/b."


@given(text=st.text(max_size=60), owner=st.text(max_size=20), characters=st.integers(0, 90))
def test_a_document_is_the_beginning_of_the_whole_and_never_over_the_cap(
    text: str, owner: str, characters: int
) -> None:
    whole = document_of(unit(text), owner)
    cut = document_of(unit(text), owner, characters=characters)
    assert len(cut) <= characters
    assert whole.startswith(cut)
    assert cut == whole or len(whole) > characters
