"""Python files follow edits: with the real engine, maintained facts equal those of an independent rebuild."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gitrepo import GitRepo
from tests.navigation.following import (
    assert_as_rebuilt,
    check_script,
    first_versions,
    group_of,
    indexed,
    need,
    put,
    updated,
    updated_group,
)

from codenib.core.updates import FOLLOWED, REBUILT, UNCHANGED
from codenib.serving.workspace import Workspace

pytestmark = pytest.mark.tools
#: Versions of each file; None: it is not there. What an edit does is a change from one to another.
PYTHON: dict[str, list[str | None]] = {
    "shop/__init__.py": ["", "from .items import *\n", "from .items import Item as Item, total\n"],
    "shop/items.py": [
        """
        from shop.prices import tax, Price

        class Item:
            def __init__(self, name, price=None):
                self.name = name
                self.price = price or Price(1)

            def cost(self):
                return self.price.net() + tax(self.price)

        def total(items):
            return sum(item.cost() for item in items)
        """,
        """
        from shop.prices import tax, Price, Base

        class Item(Base):
            def __init__(self, name, price=None, count=1):
                self.name = name
                self.price = price or Price(count)

            def cost(self):
                found = tax(self.price)
                return found

        def total(items):
            return sum(item.cost() for item in items)

        limit = 3
        """,
    ],
    "shop/prices.py": [
        """
        class Base:
            def describe(self): return self

        class Price:
            def __init__(self, amount): self.amount = amount
            def net(self): return self.amount

        def tax(price):
            return price.net()
        """,
        """
        # moved down by a comment
        class Base:
            def describe(self): return Price(2)
            def __iter__(self): return iter([Price(1)])

        class Price(Base):
            def __init__(self, amount: int = 0) -> None: self.amount = amount
            def net(self) -> int: return self.amount
            @property
            def size(self): return self.amount

        def tax(price):
            return price
        """,
        "class Price:\n    def net(self:\n",
        None,
    ],
    "tests/test_shop.py": [
        """
        from shop.items import Item, total
        import shop

        def test_cost():
            item = Item("a", price=None)
            assert item.cost() == item.price.net()
            for each in item.describe():
                each.net()
            return shop.total([item]), total, item.price.size
        """,
        "from shop import *\n\ndef test(): return Item('x').describe().net(), limit\n",
        None,
    ],
    "util/prices.py": [None, "def tax(price): return None\n"],
}
MOVES = [(path, at) for path, versions in PYTHON.items() for at in range(len(versions))]


@pytest.mark.slow
@given(script=st.lists(st.sampled_from(MOVES), min_size=3, max_size=4))
@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_maintained_facts_equal_rebuilt_facts_after_every_edit_of_a_script(
    tmp_path_factory: pytest.TempPathFactory, script: list[tuple[str, int]]
) -> None:
    need("python")
    check_script(tmp_path_factory.mktemp("project"), PYTHON, script)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[tuple[GitRepo, Workspace]]:
    need("python")
    with indexed(tmp_path / "shop", first_versions(PYTHON)) as project:
        yield project


def test_an_edit_of_a_body_derives_its_file_alone(shop: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = shop
    text = (repo.path / "shop/items.py").read_text()
    repo.write("shop/items.py", text.replace("return sum(", "found = 1\n    return sum("))
    done = updated(workspace)
    assert group_of(done, "python").how == FOLLOWED
    assert [(each.path, each.why) for each in group_of(done, "python").rederived] == [
        ("shop/items.py", "edited")
    ]
    assert group_of(done, "python").names == []
    assert {each.symbol: each.change for each in done.symbols}["total"] == "affected"
    found = workspace.definition("shop/items.py:9", name="tax", provider="static")
    assert [place.path for place in found.locations] == ["shop/prices.py"]


def test_a_changed_signature_derives_who_writes_the_name(shop: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = shop
    text = (repo.path / "shop/prices.py").read_text()
    repo.write("shop/prices.py", text.replace("def tax(price):", "def tax(price, rate=1):"))
    done = updated_group(workspace, "python")
    assert "tax" in done.names
    assert "shop/items.py" in [each.path for each in done.rederived]
    assert_as_rebuilt(workspace)


def test_a_change_of_configuration_rebuilds_the_group_and_says_why(shop: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = shop
    repo.write("pyproject.toml", '[tool.basedpyright]\nexclude = ["util"]\n')
    done = updated_group(workspace, "python")
    assert (done.how, done.why) == (REBUILT, "pyproject.toml configures the engine")
    repo.write("pyproject.toml", '[project]\nname = "x"\n[tool.basedpyright]\nexclude = ["util"]\n')
    assert updated_group(workspace, "python").how == UNCHANGED


def test_the_last_readable_facts_stay_while_a_file_does_not_parse(shop: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = shop
    good = (repo.path / "shop/prices.py").read_text()
    repo.write("shop/prices.py", "def half(written:\n\n" + good)
    done = updated(workspace)
    assert (done.stale, done.broken) == (["shop/prices.py"], [])
    assert group_of(done, "python").how == UNCHANGED
    found = workspace.definition("shop/items.py:9", name="tax", provider="static")
    line = next(at for at, text in enumerate(good.split("\n"), 3) if text.startswith("def tax"))
    assert [(place.path, place.line) for place in found.locations] == [("shop/prices.py", line)]
    assert "shop/prices.py does not parse now" in found.note
    assert_as_rebuilt(workspace)

    repo.write("shop/items.py", (repo.path / "shop/items.py").read_text().replace("tax, Price", "Price, tax"))
    assert updated(workspace).stale == ["shop/prices.py"]
    assert_as_rebuilt(workspace)

    repo.write("shop/prices.py", "def half(written): ...\n\n" + good)
    done = updated(workspace)
    assert (done.stale, group_of(done, "python").how) == ([], FOLLOWED)
    assert_as_rebuilt(workspace)


def test_a_committed_file_that_does_not_parse_is_read_as_far_as_it_goes(
    shop: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = shop
    put(repo, "shop/prices.py", PYTHON["shop/prices.py"][2])
    assert updated(workspace).stale == ["shop/prices.py"]
    repo.write("shop/items.py", (repo.path / "shop/items.py").read_text() + "\nmore = 1\n")
    repo.commit()
    done = updated(workspace)
    assert (done.stale, done.broken) == ([], ["shop/prices.py"])
    assert_as_rebuilt(workspace)


#: Edits that reach files which do not write what changed: the file, what is replaced in it, and by what.
UNWRITTEN = [
    ("lib/kinds.py", "Answer = dict[str, First]", "Answer = dict[str, Second]"),
    ("lib/kinds.py", "    pair: First", "    pair: Second"),
    ("lib/kinds.py", "    RED = 1", "    RED = 1\n    BLUE = 2"),
    ("lib/kinds.py", "bound=First", "bound=Second"),
    (
        "lib/kinds.py",
        "def __getitem__(self, key): return First()",
        "def __getitem__(self, key): return Second()",
    ),
    ("lib/kinds.py", "class Row(First)", "class Row(Second)"),
    ("lib/kinds.py", "def read(self) -> First", "def read(self) -> Second"),
    ("lib/first.py", "return self.peer", "return self.peer and Second()"),
    ("lib/flags.py", "NEW = False", "NEW = True"),
    ("lib/first.py", "def shown(self): return 1", "@property\n    def shown(self): return Second()"),
]
KINDS = {
    "lib/flags.py": "import typing\nNEW = False\nif not typing.TYPE_CHECKING:\n    NEW = 3\n",
    "lib/first.py": """
        class First:
            def shown(self): return 1
            def back(self):
                from lib.kinds import loop
                return loop(self)
            def fetch(self):
                return self.peer
            peer = None

        class Second:
            def shown(self): return 2
        """,
    "lib/kinds.py": """
        from dataclasses import dataclass
        from enum import Enum
        from typing import Generic, Protocol, TypeVar
        from lib.first import First, Second

        Answer = dict[str, First]
        T = TypeVar("T", bound=First)

        @dataclass
        class Pair:
            pair: First

        class Color(Enum):
            RED = 1

        class Box(Generic[T]):
            item: T
            def use(self): return self.item.shown()

        class Table:
            def __getitem__(self, key): return First()

        class Row(First): pass

        class Reader(Protocol):
            def read(self) -> First: ...

        class File:
            def read(self) -> First: return First()

        def answer() -> Answer: return {}
        def table(): return Table()
        def take(reader: Reader) -> First: return reader.read()
        def loop(first): return first.fetch()
        """,
    "use.py": """
        from lib import kinds
        from lib.kinds import Color, File, Pair, Row, answer, table, take

        def of_alias(): return answer()["a"].shown()
        def of_field(pair: Pair):
            match pair:
                case Pair(one): return one.shown()
        def of_enum(color: Color):
            if color is Color.RED: return of_alias()
            return of_field(color)
        def of_table(): return table()["x"].shown()
        def of_base(): return Row().shown()
        def of_shape(): return take(File()).shown()
        def of_loop(first): return kinds.loop(first)
        """,
}


@pytest.mark.slow
def test_an_edit_reaches_those_who_do_not_write_what_it_changes(tmp_path: Path) -> None:
    need("python")
    with indexed(tmp_path / "kinds", KINDS) as (repo, workspace):
        for path, old, new in UNWRITTEN:
            text = (repo.path / path).read_text()
            assert old in text
            repo.write(path, text.replace(old, new))
            assert updated_group(workspace, "python").how == FOLLOWED
            assert_as_rebuilt(workspace, path, new)


@pytest.mark.slow
def test_a_package_file_that_comes_and_goes_reaches_relative_imports(tmp_path: Path) -> None:
    need("python")
    files = {
        "pack/part.py": "from . import helper\n\ndef run(): return helper()\n",
        "main.py": "from pack.part import run\n\nrun().bit_length()\n",
    }
    with indexed(tmp_path / "package", files) as (repo, workspace):
        for text in ("def helper(): return 1\n", "def helper(): return ''\n", None):
            put(repo, "pack/__init__.py", text)
            repo.write("other.py", f"x = {text!r}\n")
            assert updated_group(workspace, "python").how == FOLLOWED
            assert_as_rebuilt(workspace, str(text))
