"""What is embedded."""

from __future__ import annotations

from itertools import pairwise

import pytest

from codenib.units.extract import extract
from codenib.units.languages import language_hint
from codenib.views.dense.documents import DenseDocument, documents_of
from codenib.views.dense.profile import DocumentSet

PYTHON = '''"""A shop."""

import money


@dataclass
class Cart(Basket):
    """What a customer wants."""

    items = {}

    @property
    def total(self):
        return sum(self.items)


def convert(amount):
    return amount * RATE


'''


def of(path: str, text: str, documents: DocumentSet = DocumentSet.L2) -> list[DenseDocument]:
    data = text.encode()
    return documents_of(path, extract(data, language_hint(path)), data, documents)


def test_a_document_is_its_address_its_class_and_its_source() -> None:
    method, function = of("shop/cart.py", PYTHON)
    assert method.text == (
        "shop/cart.py:Cart.total\nclass Cart(Basket):\n"
        "    @property\n    def total(self):\n        return sum(self.items)"
    )
    assert function.text == "shop/cart.py:convert\ndef convert(amount):\n    return amount * RATE"
    assert (method.start_line, method.end_line, method.symbol, method.kind) == (
        12,
        16,
        "Cart.total",
        "method",
    )


def test_headers_imports_and_class_bodies_are_no_documents() -> None:
    assert [document.symbol for document in of("shop/cart.py", PYTHON)] == ["Cart.total", "convert"]
    assert of("notes.md", "# Title\n\nText.\n") == []


@pytest.mark.parametrize(
    ("path", "text", "header"),
    [
        ("a.rs", "/// A.\n#[derive(Debug)]\nimpl Point {\n    fn x(&self) -> u8 {\n        0\n    }\n}\n",
         "impl Point {"),
        ("A.java", "@Entity class Cart {\n    int total() {\n        return 0;\n    }\n}\n",
         "@Entity class Cart {"),
        ("a.ts", "// A cart.\nexport class Cart {\n  total() {\n    return 0;\n  }\n}\n",
         "export class Cart {"),
    ],
)  # fmt: skip
def test_the_class_line_is_the_one_that_names_it(path: str, text: str, header: str) -> None:
    (document,) = of(path, text)
    assert document.text.split("\n")[1] == header


def test_the_innermost_class_is_the_one_shown() -> None:
    (document,) = of("a.py", "class A:\n    class B:\n        def f(self):\n            pass\n")
    assert document.text.split("\n")[:2] == ["a.py:A.B.f", "class B:"]


def test_pieces_of_a_long_unit_are_documents_of_one_symbol() -> None:
    pieces = of("a.py", "def f():\n" + "    x = 1\n" * 700)
    assert [piece.symbol for piece in pieces] == ["f", "f", "f"]
    assert pieces[0].start_line == 1
    assert pieces[-1].end_line == 701
    assert all(a.end_line + 1 == b.start_line for a, b in pairwise(pieces))


def test_blank_lines_below_a_unit_do_not_change_its_text() -> None:
    (short,), (long,) = of("a.py", "def f():\n    pass\n"), of("a.py", "def f():\n    pass\n\n\n\n")
    assert short.digest == long.digest
    assert short.end_line < long.end_line


def test_every_line_with_text_is_in_a_document_of_a_leaf() -> None:
    documents = of("shop/cart.py", PYTHON, DocumentSet.LEAVES)
    covered = {line for each in documents for line in range(each.start_line, each.end_line + 1)}
    assert covered == set(range(1, PYTHON.count("\n") + 1))
    assert {"module", "body", "method", "function"} <= {each.kind for each in documents}
    (prose,) = of("notes.zig", "const x = 1;\n", DocumentSet.LEAVES)  # a language without a grammar
    assert prose.text == "notes.zig\nconst x = 1;"


def test_a_file_document_is_a_skeleton_with_the_whole_range() -> None:
    (document,) = of("shop/cart.py", PYTHON, DocumentSet.L0)
    assert document.text == ("shop/cart.py\nclass Cart(Basket):\n  def total(self):\ndef convert(amount):")
    assert (document.start_line, document.end_line, document.kind) == (1, PYTHON.count("\n"), "file")


def test_prose_has_a_skeleton_of_its_headings() -> None:
    (document,) = of("doc.md", "# Cart\n\nText.\n\n## Total\n\nMore.\n", DocumentSet.L0)
    assert document.text.split("\n")[0] == "doc.md"
    assert "Total" in document.text


def test_skipped_and_empty_files_have_no_documents() -> None:
    assert of("a.py", "\0") == []
    assert of("a.py", "") == []
    assert of("a.py", "\0", DocumentSet.L0) == []
