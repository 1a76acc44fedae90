"""The graph follows edits: with the real engines, maintained facts equal those of an independent rebuild."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gitrepo import GitRepo

from codenib.core.errors import ProviderError
from codenib.core.views import ViewKind
from codenib.manifest.home import tools_folder
from codenib.navigation.registry import backends_of
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace
from codenib.views.graph.maintenance.update import FOLLOWED, KEPT, REBUILT, GraphUpdate, GroupUpdate

GRAPH = (ViewKind.GRAPH,)

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
GO: dict[str, list[str | None]] = {
    "go.mod": ["module example.com/m\n\ngo 1.21\n"],
    "shapes/shape.go": [
        "package shapes\n\ntype Shape interface{ Area() int }\n\n"
        "func Sum(all []Shape) int {\n\treturn all[0].Area()\n}\n",
        "package shapes\n\n// moved\n\ntype Shape interface {\n\tArea() int\n\tName() string\n}\n\n"
        "func Sum(all []Shape) int {\n\treturn len(all)\n}\n",
    ],
    "shapes/square.go": [
        "package shapes\n\ntype Square struct{ Side int }\n\nfunc (s Square) Area() int { return s.Side }\n",
        "package shapes\n\ntype Square struct{ Side int }\n\n"
        "func (s Square) Area() int { return s.Side * s.Side }\n\n"
        'func (s Square) Name() string { return "square" }\n',
        None,
    ],
    "cmd/main.go": [
        'package main\n\nimport "example.com/m/shapes"\n\nfunc main() {\n\tprintln(shapes.Sum(nil))\n}\n',
        'package main\n\nimport "example.com/m/shapes"\n\n'
        "type dot struct{}\n\nfunc (dot) Area() int { return 0 }\n\n"
        "func main() {\n\tvar s shapes.Shape\n\tprintln(s.Area(), dot{}.Area())\n}\n",
        "package main\n\nfunc main() {\n",
    ],
}
PROJECTS = {"python": PYTHON, "go": GO}


def scripts(project: dict[str, list[str | None]]) -> st.SearchStrategy[list[tuple[str, int]]]:
    moves = [(path, at) for path, versions in project.items() for at in range(len(versions))]
    return st.lists(st.sampled_from(moves), min_size=3, max_size=4)


def put(repo: GitRepo, path: str, text: str | None) -> None:
    if text is None:
        (repo.path / path).unlink(missing_ok=True)
    else:
        repo.write(path, dedent(text).lstrip("\n"))


@pytest.fixture(params=sorted(PROJECTS))
def group(request: pytest.FixtureRequest) -> str:
    need(str(request.param))
    return str(request.param)


def need(group: str) -> None:
    try:
        backends_of(Toolbox(tools_folder()), {group})[group][0].identity()
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")


@pytest.mark.tools
@pytest.mark.slow
@given(data=st.data())
@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_maintained_facts_equal_rebuilt_facts_after_every_edit_of_a_script(
    group: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    project = PROJECTS[group]
    repo = GitRepo(tmp_path_factory.mktemp("project"))
    for path, versions in project.items():
        put(repo, path, versions[0])
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        for path, at in data.draw(scripts(project)):
            put(repo, path, project[path][at])
            workspace.index(GRAPH)
            assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[tuple[GitRepo, Workspace]]:
    need("python")
    repo = GitRepo(tmp_path / "shop")
    for path, versions in PYTHON.items():
        put(repo, path, versions[0])
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        yield repo, workspace


def updated(workspace: Workspace) -> GraphUpdate:
    done = workspace.maintenance.graph_update(workspace.index(GRAPH))
    assert done is not None
    return done


def python_of(update: GraphUpdate) -> GroupUpdate:
    return next(group for group in update.groups if group.group == "python")


@pytest.mark.tools
def test_an_edit_of_a_body_derives_its_file_alone(shop: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = shop
    text = (repo.path / "shop/items.py").read_text()
    repo.write("shop/items.py", text.replace("return sum(", "found = 1\n    return sum("))
    done = updated(workspace)
    assert python_of(done).how == FOLLOWED
    assert [(each.path, each.why) for each in python_of(done).rederived] == [("shop/items.py", "edited")]
    assert python_of(done).names == []
    assert {each.symbol: each.change for each in done.symbols}["total"] == "affected"
    found = workspace.definition("shop/items.py:9", name="tax", provider="static")
    assert [place.path for place in found.locations] == ["shop/prices.py"]


@pytest.mark.tools
def test_a_changed_signature_derives_who_writes_the_name(shop: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = shop
    text = (repo.path / "shop/prices.py").read_text()
    repo.write("shop/prices.py", text.replace("def tax(price):", "def tax(price, rate=1):"))
    done = python_of(updated(workspace))
    assert "tax" in done.names
    assert "shop/items.py" in [each.path for each in done.rederived]
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


@pytest.mark.tools
def test_a_change_of_configuration_rebuilds_the_group_and_says_why(shop: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = shop
    repo.write("pyproject.toml", '[tool.basedpyright]\nexclude = ["util"]\n')
    done = python_of(updated(workspace))
    assert (done.how, done.why) == (REBUILT, "pyproject.toml configures the engine")
    repo.write("pyproject.toml", '[project]\nname = "x"\n[tool.basedpyright]\nexclude = ["util"]\n')
    assert python_of(updated(workspace)).how == KEPT


@pytest.mark.tools
def test_the_last_readable_facts_stay_while_a_file_does_not_parse(shop: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = shop
    good = (repo.path / "shop/prices.py").read_text()
    repo.write("shop/prices.py", "def half(written:\n\n" + good)
    done = updated(workspace)
    assert (done.stale, done.broken) == (["shop/prices.py"], [])
    assert python_of(done).how == KEPT
    found = workspace.definition("shop/items.py:9", name="tax", provider="static")
    line = next(at for at, text in enumerate(good.split("\n"), 3) if text.startswith("def tax"))
    assert [(place.path, place.line) for place in found.locations] == [("shop/prices.py", line)]
    assert "shop/prices.py does not parse now" in found.note
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []

    repo.write("shop/items.py", (repo.path / "shop/items.py").read_text().replace("tax, Price", "Price, tax"))
    assert updated(workspace).stale == ["shop/prices.py"]
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []

    repo.write("shop/prices.py", "def half(written): ...\n\n" + good)
    done = updated(workspace)
    assert (done.stale, python_of(done).how) == ([], FOLLOWED)
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


@pytest.mark.tools
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
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


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


@pytest.mark.tools
@pytest.mark.slow
def test_an_edit_reaches_those_who_do_not_write_what_it_changes(tmp_path: Path) -> None:
    need("python")
    repo = GitRepo(tmp_path / "kinds")
    for path, text in KINDS.items():
        put(repo, path, text)
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        for path, old, new in UNWRITTEN:
            text = (repo.path / path).read_text()
            assert old in text
            repo.write(path, text.replace(old, new))
            assert python_of(updated(workspace)).how == FOLLOWED
            assert workspace.verify(GRAPH)[ViewKind.GRAPH] == [], (path, new)


@pytest.mark.tools
@pytest.mark.slow
def test_a_package_file_that_comes_and_goes_reaches_relative_imports(tmp_path: Path) -> None:
    need("python")
    repo = GitRepo(tmp_path / "package")
    repo.write("pack/part.py", "from . import helper\n\ndef run(): return helper()\n")
    repo.write("main.py", "from pack.part import run\n\nrun().bit_length()\n")
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        for text in ("def helper(): return 1\n", "def helper(): return ''\n", None):
            put(repo, "pack/__init__.py", text)
            repo.write("other.py", f"x = {text!r}\n")
            assert python_of(updated(workspace)).how == FOLLOWED
            assert workspace.verify(GRAPH)[ViewKind.GRAPH] == [], text
