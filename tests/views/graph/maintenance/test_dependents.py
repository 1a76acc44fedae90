from __future__ import annotations

from tests.views.graph.sample import facts_of

from codenib.core.surfaces import ChangedNames
from codenib.navigation.python.surface import PythonSurfaceRules
from codenib.views.graph.maintenance.dependents import Dependents


def around(**texts: str) -> Dependents:
    files = {f"{name}.py": text for name, text in texts.items()}
    facts = {path: facts_of(path, text) for path, text in files.items()}
    return Dependents(facts, lambda path: files[path].encode(), PythonSurfaceRules())


def test_a_file_writes_whole_names_in_strings_and_comments_too() -> None:
    found = around(a="total = 'price'  # tax\nsubtotal = 1\n")
    assert found.mention("a.py", ["price", "zzz"]) == "price"
    assert found.mention("a.py", ["pric"]) == ""
    assert found.lines_with("a.py", ChangedNames({"subtotal"})) == {1}


def test_a_parameter_counts_where_it_is_written_as_a_keyword() -> None:
    found = around(a="price = 1\nmake(price)\nmake(price=2)\nprice == 3\n")
    assert found.lines_with("a.py", ChangedNames(keywords={"price"})) == {0, 2}


def test_init_counts_only_where_one_of_its_classes_is_written() -> None:
    text = "class {}:\n    def __init__(self):\n        super().__init__()\n"
    found = around(a=text.format("Kiosk"), b=text.format("Other"))
    changed = ChangedNames(constructed={"Shop", "Kiosk"})
    assert found.lines_with("a.py", changed) == {0, 1, 2}
    assert found.lines_with("b.py", changed) == set()
