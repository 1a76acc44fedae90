"""Facts of a small Python project, and the live basedpyright asked at every name of it."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.parse import quote, unquote

import pytest

from codenib.core.errors import ProviderError
from codenib.manifest.home import tools_folder
from codenib.navigation.python.backend import PythonBackend
from codenib.navigation.tools.locate import Toolbox

Place = tuple[str, int, int]
INEXACT = 64

FILES = {
    "pyproject.toml": '[tool.basedpyright]\nexclude = ["extra"]\n',
    "src/shop/__init__.py": """
        from .items import Item as Item, total
        from . import prices as money
        __all__ = ["Item", "total", "limit"]
        limit = 3
        limit = limit + 1
    """,
    "src/shop/items.py": """
        from __future__ import annotations
        from collections import namedtuple
        from dataclasses import dataclass
        from enum import Enum
        from typing import Any, Callable, Generic, Protocol, TypedDict, TypeVar, overload
        import os.path as places, json
        from .prices import Price, tax as rate

        T = TypeVar("T", bound="Item")
        Hook = Callable[["Item"], None]
        Point = namedtuple("Point", ["left", "top"])

        class Color(Enum):
            RED = 1
            BLUE = RED

        class Named(Protocol):
            name: str

        class Row(TypedDict):
            key: str

        class Item(Named):
            __slots__ = ("name", "count")
            kind: "Color" = Color.RED

            def __init__(self, name: str, *parts: int, count: int = 0, **more: Any) -> None:
                self.name = name
                self.count = count
                self.count = sum(parts)

            @property
            def size(self) -> int:
                return self.count

            @size.setter
            def size(self, value: int) -> None:
                self.count = value

            @overload
            def cost(self, at: int) -> int: ...
            @overload
            def cost(self, at: str) -> str: ...
            def cost(self, at: int | str) -> int | str:
                return at

            def __add__(self, other: Item) -> Item:
                return self

        class Special(Item):
            def cost(self, at):  # type: (int) -> int
                held = [each for each in range(at) if (half := each / 2)]
                return super().cost(at) + len(held) + half

            def __init__(self):
                super().__init__("special", count=1)

        @dataclass
        class Pair(Generic[T]):
            one: T
            two: T | None = None

        def total(items: list[Item], price: Price = Price()) -> float:
            global _last
            _last = None
            for item in items:
                _last = item
            both = items[0] + items[1]
            point = Point(left=1, top=2)
            row: Row = {"key": "x"}
            pair = Pair(one=both, two=None)
            print(point.left, row["key"], pair.one.size, f"{both.name!r} {item.count}", undefined(both.lost))
            match pair:
                case Pair(one=found):
                    print(found, both.kind)
            return rate(price) + places.getsize(json.dumps({})) + Special().cost(at=3)

        class Box[Held, More]:
            def held[Other](self, held: Held, other: Other) -> tuple[Held, Other, More]: ...
        type Boxes[Each] = list[Box[Each, int]]

        _last: Item | None = None
        _reads = lambda given: given
    """,
    "src/shop/prices.py": """
        class Price:
            amount = 1.0
            amount: float

        def tax(price: Price) -> float:
            return price.amount

        try:
            import missing.part as gone
        except ImportError:
            gone = None
    """,
    "src/shop/deep/__init__.py": "",
    "src/shop/deep/leaf.py": """
        from ..items import *
        from .. import money
        import shop.prices
        import shop.items as goods

        leaf = Item("é𝒳", count=2); other = goods.Item("x")
        leaf.size = money.tax(shop.prices.Price())
    """,
    "tests/test_shop.py": """
        from shop import Item, limit, money, total
        from shop.items import Item as Thing

        def test_total(first: Thing | Item = Item("a")):
            assert total([first]) < limit + money.tax(money.Price())
            assert first.size == getattr(first, "size")
    """,
    "extra/tool.py": """
        from shop.prices import tax
        def run(): return tax, run
    """,
    "stubbed/part.py": "def made(value): return value\n",
    "stubbed/part.pyi": "def made(value: int) -> int: ...\n",
    "stubbed/__init__.py": "from .part import made\nmade(1)\n",
}  # fmt: skip


class Facts:
    """Answers from lines of facts, as the static provider gives them."""

    def __init__(self, lines: list[bytes]) -> None:
        self.files: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, dict[tuple[int, int], tuple[Any, ...]]] = {}
        self.listed: dict[Any, set[Place]] = defaultdict(set)
        for line in lines:
            facts = json.loads(line)
            path, flat = facts["path"], facts["occurrences"]
            targets = [tuple(it) if isinstance(it, list) else it for it in facts["targets"]]
            lists = [[targets[index] for index in row] for row in facts["lists"]] + [[]]
            self.files[path], self.rows[path] = facts, {}
            for at in range(0, len(flat), 8):
                line_, column, _, end, roles, defs, keys, asks = flat[at : at + 8]
                searched = lists[keys if asks < 0 else asks]
                self.rows[path][line_, column] = (end, roles, lists[defs], searched)
                for key in lists[keys]:
                    self.listed[key].add((path, line_, column))

    def definition(self, path: str, line: int, column: int) -> set[Place]:
        row = self.rows[path].get((line, column))
        return {(*it, 0, 0)[:3] for it in row[2] if isinstance(it, tuple)} if row else set()

    def references(self, path: str, line: int, column: int) -> set[Place]:
        row = self.rows[path].get((line, column))
        return set().union(*(self.listed[key] for key in row[3])) if row else set()

    def relations(self, path: str) -> set[tuple[str, Any, Any]]:
        targets = [tuple(it) if isinstance(it, list) else it for it in self.files[path]["targets"]]
        return {(kind, targets[one], targets[two]) for kind, one, two in self.files[path]["relations"]}


class Live:
    """The real server, asked one question at a time."""

    def __init__(self, command: tuple[str, ...], root: Path) -> None:
        self._root = root
        self._answers: queue.Queue[Any] = queue.Queue()
        self._process = subprocess.Popen(
            [*command, "--stdio"], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        folder = {"uri": self._uri(""), "name": "project"}
        capabilities = {"workspace": {"configuration": True, "workspaceFolders": True}}
        first = {"processId": None, "rootUri": folder["uri"], "workspaceFolders": [folder]}
        self._ask("initialize", {**first, "capabilities": capabilities})
        self._send({"method": "initialized", "params": {}})

    def _uri(self, path: str) -> str:
        return "file://" + quote(str(self._root / path).rstrip("/"))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> None:
        out = self._process.stdout
        assert out
        while header := out.readline():
            while (more := out.readline()) != b"\r\n":
                header = more if more.lower().startswith(b"content-length") else header
            message = json.loads(out.read(int(header.split(b":")[1])))
            if "method" not in message:
                self._answers.put(message)
            elif "id" in message:
                self._send({"id": message["id"], "result": self._settings(message)})

    def _settings(self, message: dict[str, Any]) -> Any:
        if message["method"] != "workspace/configuration":
            return None
        own = {"python": {"pythonPath": shutil.which("python3") or sys.executable}}
        return [own.get(item.get("section")) for item in message["params"]["items"]]

    def _ask(self, method: str, params: Any) -> Any:
        self._send({"id": 1, "method": method, "params": params})
        return self._answers.get(timeout=120).get("result")

    def show(self, path: str) -> None:
        text = (self._root / path).read_text()
        document = {"uri": self._uri(path), "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def hide(self, path: str) -> None:
        params = {"textDocument": {"uri": self._uri(path)}}
        self._send({"method": "textDocument/didClose", "params": params})

    def places(self, method: str, path: str, line: int, column: int) -> set[Place]:
        position = {"textDocument": {"uri": self._uri(path)}, "position": {"line": line, "character": column}}
        found = self._ask(f"textDocument/{method}", {**position, "context": {"includeDeclaration": True}})
        below = unquote(self._uri("")) + "/"
        places = ((unquote(it["uri"]), it["range"]["start"]) for it in found or [])
        return {
            (uri.removeprefix(below), start["line"], start["character"])
            for uri, start in places
            if uri.startswith(below)
        }

    def stop(self) -> None:
        self._process.kill()
        self._reader.join()
        with self._process:
            pass


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text).lstrip("\n"))


def names_of(files: dict[str, str]) -> list[str]:
    return sorted(name for name in files if name.endswith((".py", ".pyi")))


def quiet(stage: str, done: int, total: int) -> None:
    pass


@pytest.fixture(scope="module")
def tools() -> Toolbox:
    tools = Toolbox(tools_folder())
    try:
        tools.require("basedpyright")
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    return tools


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project").resolve()
    write(root, FILES)
    return root


@pytest.fixture(scope="module")
def lines(tools: Toolbox, checkout: Path) -> list[bytes]:
    return list(PythonBackend(tools).produce(checkout, names_of(FILES), quiet, trusted=False))


@pytest.fixture(scope="module")
def facts(lines: list[bytes]) -> Facts:
    return Facts(lines)


def find(path: str, around: str, name: str) -> Place:
    """The place of `name` in the first line that holds `around`."""
    for number, line in enumerate(dedent(FILES[path]).lstrip("\n").split("\n")):
        if around in line:
            before = line[: line.index(around) + around.index(name)]
            return path, number, len(before.encode("utf-16-le")) // 2
    raise AssertionError(around)


ITEMS, PRICES, LEAF, TEST = (
    "src/shop/items.py", "src/shop/prices.py", "src/shop/deep/leaf.py", "tests/test_shop.py",
)  # fmt: skip


def test_definition_of_a_call_is_its_function(facts: Facts) -> None:
    assert facts.definition(*find(TEST, "total([first])", "total")) == {find(ITEMS, "def total", "total")}


def test_definition_of_a_module_is_its_file(facts: Facts) -> None:
    assert facts.definition(*find(LEAF, "import shop.prices", "prices")) == {(PRICES, 0, 0)}


def test_definition_of_a_reassigned_attribute_is_every_assignment(facts: Facts) -> None:
    assert facts.definition(*find(ITEMS, "return self.count", "count")) == {
        find(ITEMS, "self.count = count", "count"),
        find(ITEMS, "self.count = sum", "count"),
        find(ITEMS, "self.count = value", "count"),
        (ITEMS, find(ITEMS, '"count")', '"count"')[1], find(ITEMS, '"count")', '"count"')[2]),
    }


def test_definition_of_a_property_is_its_getter_and_setter(facts: Facts) -> None:
    assert facts.definition(*find(LEAF, "leaf.size", "size")) == {
        find(ITEMS, "def size(self) -> int", "size"),
        find(ITEMS, "def size(self, value", "size"),
    }


def test_references_include_the_strings_of_dunder_all(facts: Facts) -> None:
    found = facts.references(*find(ITEMS, "def total", "total"))
    assert find("src/shop/__init__.py", '"total"', "total") in found
    assert find(TEST, "total([first])", "total") in found


def test_references_of_a_constructor_include_the_calls_of_its_class(facts: Facts) -> None:
    found = facts.references(*find(ITEMS, "def __init__(self, name", "__init__"))
    assert find(LEAF, "leaf = Item(", "Item") in found


def test_a_file_that_the_project_leaves_out_is_searched_too_and_labelled(facts: Facts) -> None:
    use, declared = find("extra/tool.py", "return tax", "tax"), find(PRICES, "def tax", "tax")
    assert {use, declared} <= facts.references(*use)
    assert use in facts.references(*declared)
    assert {path for path, file in facts.files.items() if file["scope"] == "loose"} == {"extra/tool.py"}


def test_relations_say_what_a_class_inherits_and_overrides(facts: Facts) -> None:
    found = facts.relations(ITEMS)
    assert ("inherit", find(ITEMS, "class Special", "Special"), find(ITEMS, "class Item", "Item")) in found
    last = find(ITEMS, "def cost(self, at: int | str)", "cost")
    assert ("override", find(ITEMS, "def cost(self, at):", "cost"), last) in found


def test_every_target_in_the_repository_is_a_declaration_of_its_file(facts: Facts) -> None:
    declared = {(path, row[7], row[8]) for path, file in facts.files.items() for row in file["nodes"]}
    for file in facts.files.values():
        for target in file["targets"]:
            assert isinstance(target, str) or len(target) == 1 or tuple(target[:3]) in declared


def test_every_span_is_a_name(facts: Facts, checkout: Path) -> None:
    for path, rows in facts.rows.items():
        text = (checkout / path).read_text().split("\n")
        for (line, column), (end, _, _, _) in rows.items():
            word = text[line].encode("utf-16-le")[2 * column : 2 * end].decode("utf-16-le")
            assert word.isidentifier(), (path, line, word)


def test_a_renamed_import_is_marked_as_written_under_another_name(facts: Facts) -> None:
    path, line, column = find(TEST, "Thing |", "Thing")
    assert facts.rows[path][line, column][1] & INEXACT
    path, line, column = find(TEST, "total([first])", "total")
    assert not facts.rows[path][line, column][1] & INEXACT


def test_parents_come_before_their_children(facts: Facts) -> None:
    for file in facts.files.values():
        assert all(row[2] < index for index, row in enumerate(file["nodes"]))


def test_two_runs_give_the_same_bytes(tools: Toolbox, checkout: Path, lines: list[bytes]) -> None:
    again = PythonBackend(tools).produce(checkout, names_of(FILES), quiet, trusted=False)
    assert list(again) == lines


def test_static_answers_equal_the_live_server(tools: Toolbox, facts: Facts, checkout: Path) -> None:
    live = Live(tools.require("basedpyright").command, checkout)
    differ = []
    try:
        for path, rows in facts.rows.items():
            live.show(path)
            for line, column in sorted(rows):
                for method in ("definition", "references"):
                    ours = {place[:2] for place in getattr(facts, method)(path, line, column)}
                    theirs = {place[:2] for place in live.places(method, path, line, column)}
                    # The server does not search what the configuration leaves out.
                    theirs |= {place for place in ours if place[0] == "extra/tool.py"}
                    if ours != theirs:
                        differ.append((method, path, line + 1, column, ours - theirs, theirs - ours))
            live.hide(path)
    finally:
        live.stop()
    assert differ == []


def test_the_string_of_a_cast_is_listed_wherever_the_question_starts(tools: Toolbox, tmp_path: Path) -> None:
    text = 'from typing import cast\nclass A: ...\ndef f(x): return cast("A", x)\n'
    write(tmp_path, {"a.py": text, "b.py": "from a import A\n"})
    facts = Facts(list(PythonBackend(tools).produce(tmp_path, ["a.py", "b.py"], quiet, trusted=False)))
    assert ("a.py", 2, 23) in facts.references("a.py", 1, 6)
    assert ("a.py", 2, 23) in facts.references("b.py", 0, 14)


def test_a_parameter_on_two_lines_is_found(tools: Toolbox, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def f(a, **\n    more):\n    return more\n"})
    facts = Facts(list(PythonBackend(tools).produce(tmp_path, ["a.py"], quiet, trusted=False)))
    assert facts.definition("a.py", 2, 11) == {("a.py", 0, 9)}
    assert facts.references("a.py", 2, 11) == {("a.py", 1, 4), ("a.py", 2, 11)}


def test_files_of_another_kind_have_no_facts(tools: Toolbox, tmp_path: Path) -> None:
    write(tmp_path, {"a.pyx": "cdef int x\n", "b.py": "x = 1\n"})
    made = list(PythonBackend(tools).produce(tmp_path, ["a.pyx", "b.py"], quiet, trusted=False))
    assert [json.loads(line)["path"] for line in made] == ["a.pyx", "b.py"]
    assert [len(json.loads(line)["nodes"]) for line in made] == [0, 1]
    assert [json.loads(line)["scope"] for line in made] == ["unresolved", "project"]


def test_a_link_that_leads_nowhere_has_no_facts(tools: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    made = list(PythonBackend(tools).produce(tmp_path, ["gone.py"], quiet, trusted=False))
    assert json.loads(made[0])["occurrences"] == []


def test_progress_counts_the_files(tools: Toolbox, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n", "b.py": "y = 2\n"})
    seen: list[tuple[str, int, int]] = []

    def note(stage: str, done: int, total: int) -> None:
        seen.append((stage, done, total))

    list(PythonBackend(tools).produce(tmp_path, ["a.py", "b.py"], note, trusted=False))
    assert seen == [("facts of python", 1, 2), ("facts of python", 2, 2)]


def test_no_interpreter_of_an_untrusted_repository_runs(tools: Toolbox, tmp_path: Path) -> None:
    fake = tmp_path / ".venv" / "bin" / "python"
    write(tmp_path, {"a.py": "import os\n", ".venv/bin/python": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    fake.chmod(0o755)
    list(PythonBackend(tools).produce(tmp_path, ["a.py"], quiet, trusted=False))
    assert not (tmp_path / "ran").exists()


def test_an_engine_of_another_version_is_refused(tools: Toolbox, tmp_path: Path) -> None:
    package = tools.require("basedpyright").folder
    other = tmp_path / "basedpyright" / "dist"
    other.mkdir(parents=True)
    bundle = (package / "dist" / "pyright-langserver.js").read_text()
    (other / "pyright-langserver.js").write_text(
        bundle.replace('module.exports = "1.40.2"', 'module.exports = "1.0"')
    )
    script = Path(sys.modules[PythonBackend.__module__].__file__ or "").parent / "engine/facts.js"
    done = subprocess.run(
        [*tools.require("node").command, script, other.parent, tmp_path],
        input=b"", capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert b"1.0" in done.stderr and b"1.40.2 is needed" in done.stderr
