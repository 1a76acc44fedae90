from __future__ import annotations

import pytest

from codenib.core.surfaces import ChangedNames
from codenib.navigation.python.surface import PythonSurfaceRules

RULES = PythonSurfaceRules()
OLD = {"Shop (class)": "1", "Shop.__init__": "1", "Shop.open": "1", "run": "1", "os (import)": "1"}


def differs(entry: str, digest: str = "2") -> ChangedNames:
    new = {**OLD, entry: digest}
    return RULES.compare({"a.py": OLD}, {"a.py": new}, lambda name: {name, "Kiosk"})


def test_equal_surfaces_change_no_name() -> None:
    assert not RULES.compare({"a.py": OLD}, {"a.py": dict(OLD)}, lambda name: {name})


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("run", ChangedNames({"run"})),
        ("Shop.open", ChangedNames({"open"})),
        ("Shop.__repr__", ChangedNames({"__repr__"})),
        ("Shop.__init__", ChangedNames(constructed={"Shop", "Kiosk"})),
        ("Shop.__init__.price", ChangedNames(keywords={"price"})),
        ("os (import)", ChangedNames(imports={"a.py": {"os"}})),
    ],
)
def test_a_name_concerns_those_who_write_it(entry: str, expected: ChangedNames) -> None:
    assert differs(entry) == expected


@pytest.mark.parametrize("entry", ["Shop (class)", "Shop.__iter__", "Shop.read (shape)"])
def test_what_is_used_without_being_written_concerns_whoever_has_such_a_value(entry: str) -> None:
    assert differs(entry).implicit == {"Shop", "Kiosk"}


def test_a_special_method_of_a_class_that_came_concerns_those_who_write_the_class() -> None:
    new = {**OLD, "New (class)": "1", "New.__iter__": "1", "New.__init__.size": "1"}
    found = RULES.compare({"a.py": OLD}, {"a.py": new}, lambda name: {name})
    assert found == ChangedNames({"New", "__iter__"})


def test_what_a_module_does_for_names_that_it_lacks_concerns_every_dependent() -> None:
    assert "a.py" in differs("__getattr__").wide


def test_a_class_that_came_concerns_those_who_write_it() -> None:
    assert differs("Kiosk (class)") == ChangedNames({"Kiosk"})


@pytest.mark.parametrize(
    ("path", "stem"), [("a/b.py", "b"), ("a/__init__.py", "a"), ("b.pyi", "b"), ("__init__.py", "")]
)
def test_a_module_is_imported_by_its_stem(path: str, stem: str) -> None:
    assert RULES.module_name(path) == stem


def test_a_file_below_a_package_may_take_names_from_it_without_naming_it() -> None:
    assert RULES.may_import_unnamed("a/b.py", b"from . import c\n", "a/__init__.py")
    assert not RULES.may_import_unnamed("z/b.py", b"from . import c\n", "a/__init__.py")
    assert not RULES.may_import_unnamed("a/b.py", b"import c\n", "a/__init__.py")
    assert not RULES.may_import_unnamed("a/b.py", b"from . import c\n", "a/c.py")
