from __future__ import annotations

import pytest
from tests.views.graph.sample import facts_of

from codenib.views.graph.maintenance.dependents import Dependents, Shown, changed_names, module_stem

OLD = {"Shop (class)": "1", "Shop.__init__": "1", "Shop.open": "1", "run": "1", "os (import)": "1"}


def differs(entry: str, digest: str = "2") -> Shown:
    new = {**OLD, entry: digest}
    return changed_names({"a.py": OLD}, {"a.py": new}, lambda name: {name, "Kiosk"})


def test_equal_surfaces_show_nothing() -> None:
    assert not changed_names({"a.py": OLD}, {"a.py": dict(OLD)}, lambda name: {name})


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("run", Shown({"run"})),
        ("Shop.open", Shown({"open"})),
        ("Shop.__repr__", Shown({"__repr__"})),
        ("Shop.__init__", Shown(made={"Shop", "Kiosk"})),
        ("Shop.__init__.price", Shown(keywords={"price"})),
        ("os (import)", Shown(imports={"a.py": {"os"}})),
    ],
)
def test_a_name_concerns_those_who_write_it(entry: str, expected: Shown) -> None:
    assert differs(entry) == expected


@pytest.mark.parametrize("entry", ["Shop (class)", "Shop.__iter__", "Shop.read (shape)"])
def test_what_is_used_without_being_written_concerns_whoever_has_such_a_value(entry: str) -> None:
    assert differs(entry).held == {"Shop", "Kiosk"}


def test_a_special_method_of_a_class_that_came_concerns_those_who_write_the_class() -> None:
    new = {**OLD, "New (class)": "1", "New.__iter__": "1", "New.__init__.size": "1"}
    found = changed_names({"a.py": OLD}, {"a.py": new}, lambda name: {name})
    assert found == Shown({"New", "__iter__"})


def test_what_a_module_does_for_names_that_it_lacks_concerns_every_dependent() -> None:
    assert "a.py" in differs("__getattr__").wide


def test_a_class_that_came_concerns_those_who_write_it() -> None:
    assert differs("Kiosk (class)") == Shown({"Kiosk"})


def test_what_is_known_already_is_taken_off() -> None:
    both = Shown({"a", "b"}, {"C"}, {"D"}, {"k"}, {"x.py": {"os", "re"}}, {"x.py": "why"})
    assert both - Shown({"a"}, imports={"x.py": {"os"}}) == Shown(
        {"b"}, {"C"}, {"D"}, {"k"}, {"x.py": {"re"}}, {"x.py": "why"}
    )
    assert not both - both
    assert Shown({"a"}) + Shown({"b"}) == Shown({"a", "b"})


def around(**texts: str) -> Dependents:
    files = {f"{name}.py": text for name, text in texts.items()}
    facts = {path: facts_of(path, text) for path, text in files.items()}
    return Dependents(facts, lambda path: files[path].encode())


def test_a_file_writes_whole_names_in_strings_and_comments_too() -> None:
    found = around(a="total = 'price'  # tax\nsubtotal = 1\n")
    assert found.mention("a.py", ["price", "zzz"]) == "price"
    assert found.mention("a.py", ["pric"]) == ""
    assert found.lines_with("a.py", Shown({"subtotal"})) == {1}


def test_a_parameter_counts_where_it_is_written_as_a_keyword() -> None:
    found = around(a="price = 1\nmake(price)\nmake(price=2)\nprice == 3\n")
    assert found.lines_with("a.py", Shown(keywords={"price"})) == {0, 2}


def test_init_counts_only_where_one_of_its_classes_is_written() -> None:
    text = "class {}:\n    def __init__(self):\n        super().__init__()\n"
    found = around(a=text.format("Kiosk"), b=text.format("Other"))
    made = Shown(made={"Shop", "Kiosk"})
    assert found.lines_with("a.py", made) == {0, 1, 2}
    assert found.lines_with("b.py", made) == set()


@pytest.mark.parametrize(
    ("path", "stem"), [("a/b.py", "b"), ("a/__init__.py", "a"), ("b.pyi", "b"), ("__init__.py", "")]
)
def test_a_module_is_imported_by_its_stem(path: str, stem: str) -> None:
    assert module_stem(path) == stem
