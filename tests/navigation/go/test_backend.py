"""Facts of a small repository with two Go modules, and the live gopls asked at every name of it."""

from __future__ import annotations

import json
import queue
import re
import shutil
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from tests.navigation.go.go_project import FILES

from codenib.core.errors import ProviderError
from codenib.manifest.home import tools_folder
from codenib.navigation.go.backend import GoBackend
from codenib.navigation.tools.locate import Toolbox

Place = tuple[str, int, int]

NAMES = sorted(name for name in FILES if name.endswith(".go"))
#: Behind tags of their own: gopls answers little or nothing in them.
TAGGED = {"tagged.go", "only/tagged.go", "painted/painted.go"}
LOOSE = "_examples/all/all.go"
SHAPES, MAIN, NESTED = "shapes/shapes.go", "main.go", "nested/nested.go"


class Facts:
    """Answers from lines of facts, as the static provider gives them."""

    def __init__(self, lines: list[bytes]) -> None:
        self.files: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, list[tuple[Any, ...]]] = {}
        self.listed: dict[Any, set[Place]] = defaultdict(set)
        self.also: dict[Any, set[Any]] = defaultdict(set)
        for line in lines:
            facts = json.loads(line)
            path, flat = facts["path"], facts["occurrences"]
            targets = [tuple(it) if isinstance(it, list) else it for it in facts["targets"]]
            lists = [[targets[index] for index in row] for row in facts["lists"]] + [[]]
            self.files[path], self.rows[path] = facts, []
            for kind, source, dest in facts["relations"]:
                if kind == "also":
                    self.also[targets[source]].add(targets[dest])
            for at in range(0, len(flat), 8):
                place, (roles, defs, keys, asks) = flat[at : at + 4], flat[at + 4 : at + 8]
                searched = lists[keys if asks < 0 else asks]
                self.rows[path].append((*place, roles, lists[defs], searched))
                for key in lists[keys]:
                    self.listed[key].add((path, place[0], place[1]))

    def at(self, path: str, line: int, column: int) -> tuple[Any, ...] | None:
        inside = (row for row in self.rows[path] if row[0] == line and row[1] <= column < row[3])
        return next(inside, None)

    def definition(self, path: str, line: int, column: int) -> set[Place]:
        row = self.at(path, line, column)
        return {it for it in row[5] if isinstance(it, tuple)} if row else set()

    def references(self, path: str, line: int, column: int) -> set[Place]:
        row = self.at(path, line, column)
        keys = set(row[6]) if row else set()
        for key in list(keys):
            keys |= self.also[key]
        return set().union(*(self.listed[key] for key in keys))

    def relations(self, path: str) -> set[tuple[str, Any, Any]]:
        held = self.files[path]
        targets = [tuple(it) if isinstance(it, list) else it for it in held["targets"]]
        return {(kind, targets[source], targets[dest]) for kind, source, dest in held["relations"]}


class Live:
    """The real server, asked one question at a time with one file open."""

    def __init__(self, command: tuple[str, ...], root: Path) -> None:
        self._root = root
        self._answers: queue.Queue[Any] = queue.Queue()
        self._process = subprocess.Popen(
            [*command, "serve"], cwd=root,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        folder = {"uri": self._uri(""), "name": "root"}
        self._ask(
            "initialize",
            {"processId": None, "rootUri": self._uri(""), "workspaceFolders": [folder], "capabilities": {}},
        )
        self._send({"method": "initialized", "params": {}})
        self._open = ""

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
            out.readline()
            message = json.loads(out.read(int(header.split(b":")[1])))
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": None})
            elif "id" in message:
                self._answers.put(message)

    def _ask(self, method: str, params: Any) -> Any:
        self._send({"id": 1, "method": method, "params": params})
        return self._answers.get(timeout=120).get("result")

    def show(self, path: str) -> None:
        if self._open:
            closed = {"textDocument": {"uri": self._uri(self._open)}}
            self._send({"method": "textDocument/didClose", "params": closed})
        self._open = path
        opened = {"uri": self._uri(path), "languageId": "go", "version": 1}
        opened["text"] = (self._root / path).read_text()
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})

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
        with self._process:
            self._process.kill()
            self._reader.join()


def write(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        lines = text.strip("\n").split("\n")
        indent = len(lines[0]) - len(lines[0].lstrip(" "))
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("\n".join(line[indent:] for line in lines).rstrip() + "\n")
    return sorted(name for name in files if name.endswith(".go"))


def quiet(stage: str, done: int, total: int) -> None:
    pass


@pytest.fixture(scope="module")
def backend() -> GoBackend:
    tools = Toolbox(tools_folder())
    try:
        tools.require("go-facts")
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    return GoBackend(tools)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    write(root, FILES)
    return root


@pytest.fixture(scope="module")
def lines(backend: GoBackend, checkout: Path) -> list[bytes]:
    return list(backend.produce(checkout, NAMES, quiet, trusted=False))


@pytest.fixture(scope="module")
def facts(lines: list[bytes]) -> Facts:
    return Facts(lines)


@pytest.fixture(scope="module")
def live(checkout: Path) -> Iterator[Live]:
    tool = Toolbox(tools_folder()).find("gopls")
    if tool is None:
        pytest.skip("gopls is not installed: codenib tools install go")
    server = Live(tool.command, checkout)
    yield server
    server.stop()


def find(root: Path, path: str, around: str, name: str) -> Place:
    """The place of `name` in the first line that holds `around`."""
    for number, line in enumerate((root / path).read_text().split("\n")):
        if around in line:
            found = re.search(rf"\b{name}\b", around)
            assert found
            return path, number, len(line[: line.index(around) + found.start()].encode())
    raise AssertionError(around)


def test_every_file_has_one_line_in_order(lines: list[bytes]) -> None:
    assert [json.loads(line)["path"] for line in lines] == NAMES


def test_an_import_leads_to_the_files_of_its_package(facts: Facts, checkout: Path) -> None:
    path, line, column = find(checkout, MAIN, '"example.com/m/shapes"', "example")
    assert {place[0] for place in facts.definition(path, line, column)} == {SHAPES, "shapes/generic.go"}


def test_an_embedded_field_is_a_field_and_the_use_of_a_type(facts: Facts, checkout: Path) -> None:
    embedded = find(checkout, SHAPES, "    Base", "Base")
    base = find(checkout, SHAPES, "type Base", "Base")
    assert facts.definition(*embedded) == {base}
    assert embedded in facts.references(*base)
    assert facts.references(*embedded) == {embedded}


def test_references_of_an_interface_method_hold_the_uses_of_its_implementations(
    facts: Facts, checkout: Path
) -> None:
    found = facts.references(*find(checkout, SHAPES, "    Area() units.Meter", "Area"))
    assert find(checkout, SHAPES, "s.Area()", "Area") in found
    assert find(checkout, MAIN, "each.Area()", "Area") in found
    assert find(checkout, SHAPES, "*Square) Area()", "Area") not in found


def test_a_nested_module_sees_the_replaced_one_but_not_the_reverse(facts: Facts, checkout: Path) -> None:
    here = find(checkout, NESTED, "shapes.Sum", "Sum")
    declared = find(checkout, SHAPES, "func Sum", "Sum")
    assert facts.references(*here) == {here, declared}
    assert here not in facts.references(*declared)


def test_a_file_of_another_system_answers_in_its_own_build(facts: Facts, checkout: Path) -> None:
    factor = find(checkout, "units/factor_windows.go", "var factor", "factor")
    used = find(checkout, "units/units.go", "* factor", "factor")
    assert facts.definition(*used) == {find(checkout, "units/factor.go", "const factor", "factor")}
    assert facts.references(*factor) == {factor, used}


def test_links_in_comments_answer(facts: Facts, checkout: Path) -> None:
    link = find(checkout, "units/units.go", "[Meter.Feet]", "Feet")
    assert facts.definition(*link) == {find(checkout, "units/units.go", ") Feet", "Feet")}


def test_relations_of_types_and_interfaces(facts: Facts, checkout: Path) -> None:
    shape, named = (find(checkout, SHAPES, f"type {name}", name) for name in ("Shape", "Named"))
    square = find(checkout, SHAPES, "type Square", "Square")
    area = find(checkout, SHAPES, "*Square) Area()", "Area")
    assert ("inherit", named, shape) in facts.relations(SHAPES)
    assert ("implement", square, shape) in facts.relations(SHAPES)
    assert ("override", area, find(checkout, SHAPES, "    Area() units", "Area")) in facts.relations(SHAPES)


def test_uses_through_an_interface_in_a_folder_that_builds_skip_are_references(
    facts: Facts, checkout: Path
) -> None:
    used = find(checkout, LOOSE, "shape.Area()", "Area")
    assert used in facts.references(*find(checkout, SHAPES, "*Square) Area()", "Area"))


def test_a_type_of_another_module_implements_an_interface(facts: Facts, checkout: Path) -> None:
    plate = find(checkout, "nested/plate.go", "type Plate", "Plate")
    shape = find(checkout, SHAPES, "type Shape", "Shape")
    assert ("implement", plate, shape) in facts.relations("nested/plate.go")


def test_a_type_behind_a_tag_implements_an_interface_that_others_call(facts: Facts, checkout: Path) -> None:
    path = "painted/painted.go"
    painted = find(checkout, path, "type Painted", "Painted")
    area = find(checkout, path, ") Area", "Area")
    assert ("implement", painted, find(checkout, SHAPES, "type Shape", "Shape")) in facts.relations(path)
    assert find(checkout, MAIN, "each.Area()", "Area") in facts.references(*area)


def test_methods_stand_below_their_type(facts: Facts) -> None:
    nodes = facts.files[SHAPES]["nodes"]
    chains = {(nodes[row[2]][0] if row[2] >= 0 else "", row[0], row[1]) for row in nodes}
    assert {("", "Square", "struct"), ("Square", "Area", "method"), ("parts", "left", "field")} <= chains
    assert {("Sum", "all", "parameter"), ("Shape", "Area", "method"), ("Sum", "outer", "label")} <= chains


def test_every_target_in_the_checkout_has_a_node(facts: Facts) -> None:
    names = {path: {(row[7], row[8]) for row in held["nodes"]} for path, held in facts.files.items()}
    for held in facts.files.values():
        for target in held["targets"]:
            if isinstance(target, list):
                assert (target[1], target[2]) in names[target[0]], target


def test_the_text_of_an_exact_occurrence_is_the_symbols_name(facts: Facts, checkout: Path) -> None:
    names = {(path, row[7], row[8]): row[0] for path, held in facts.files.items() for row in held["nodes"]}
    for path, rows in facts.rows.items():
        source = (checkout / path).read_bytes().split(b"\n")
        for line, start, _, end, roles, _, asked in rows:
            known = [names[it] for it in asked if it in names]
            if known and not roles & 64:
                assert source[line][start:end].decode() in known, (path, line, start)


def test_no_place_of_the_machine_is_in_the_facts(lines: list[bytes], checkout: Path) -> None:
    assert not any(str(checkout).encode() in line for line in lines)


def test_two_runs_give_the_same_bytes(backend: GoBackend, checkout: Path, lines: list[bytes]) -> None:
    assert list(backend.produce(checkout, NAMES, quiet, trusted=False)) == lines


def test_files_behind_their_own_tags_have_facts_and_say_so(facts: Facts, lines: list[bytes]) -> None:
    scopes = {row["path"]: row["scope"] for row in map(json.loads, lines)}
    assert {path for path, scope in scopes.items() if scope == "variant"} >= TAGGED
    assert {place[0] for place in facts.definition("only/tagged.go", 6, 21)} == {"units/units.go"}


def test_answers_equal_the_live_server_at_every_name(facts: Facts, live: Live, checkout: Path) -> None:
    different = []
    for path in NAMES:
        if path in TAGGED:
            continue
        live.show(path)
        for number, line in enumerate((checkout / path).read_text().split("\n")):
            for match in re.finditer(r"[A-Za-z_]\w*", line.partition("//go:")[0]):
                if match[0] in CONTROL:
                    continue
                column = len(line[: match.start()].encode())
                character = len(line[: match.start()].encode("utf-16-le")) // 2
                for method in ("definition", "references"):
                    static = getattr(facts, method)(path, number, column)
                    real = live.places(method, path, number, character)
                    # The server searches this file from when it was first open; the graph always does.
                    kept = {it for it in static | real if path == LOOSE or it[0] != LOOSE}
                    if {it[:2] for it in static & kept} != {it[:2] for it in real & kept}:
                        different.append((path, number + 1, match[0], method, static, real))
    assert not different, different[:3]


#: Words at which the server shows where control goes; these are no symbols.
CONTROL = frozenset({"return", "continue", "break", "goto"})


def test_without_its_dependencies_a_module_is_resolved_and_every_file_says_what_it_lacks(
    backend: GoBackend, tmp_path: Path
) -> None:
    names = write(
        tmp_path,
        {
            "go.mod": "module example.com/m\n\ngo 1.23\n\nrequire example.invalid/far v1.0.0\n",
            "a.go": 'package m\n\nimport "example.invalid/far"\n\nvar A = far.B(own)\n\nfunc own() {}\n',
            "b.go": 'package m\n\nimport "example.invalid/far/more"\n\nfunc use() { own(); more.C() }\n',
        },
    )
    lines = list(backend.produce(tmp_path, names, quiet, trusted=False))
    assert [json.loads(line)["scope"] for line in lines] == ["partial", "partial"]
    facts = Facts(lines)
    assert facts.definition("b.go", 4, 13) == {("a.go", 6, 5)}
    assert not facts.definition("b.go", 4, 25)
    assert [lack.split(",")[0] for lack in backend.lacks] == ["2 imports lead to no package"]


def test_a_file_with_an_import_that_leads_nowhere_says_so(backend: GoBackend, tmp_path: Path) -> None:
    far = 'package m\n\nimport "example.invalid/far"\n\nfunc far1() { far.Go(near) }\n'
    names = write(tmp_path, {"go.mod": "module example.com/m\n\ngo 1.21\n", "far.go": far, **_many(12)})
    lines = [json.loads(line) for line in backend.produce(tmp_path, names, quiet, trusted=False)]
    scopes = {line["path"]: line["scope"] for line in lines}
    assert {path for path, scope in scopes.items() if scope == "partial"} == {"far.go"}
    assert backend.lacks == (
        "1 imports lead to no package, such as example.invalid/far; "
        "try: go mod download, then codenib index --views graph --rebuild",
    )


def _many(count: int) -> dict[str, str]:
    near = 'package m\n\nimport "fmt"\n\nfunc near{0}() {{ fmt.Println() }}\n'
    return {f"near{at or ''}.go": near.format(at or "") for at in range(count)}


def test_a_folder_without_a_module_has_facts(backend: GoBackend, tmp_path: Path) -> None:
    names = write(
        tmp_path, {"a/a.go": "package a\n\nfunc A() { B() }\n", "a/b.go": "package a\n\nfunc B() {}\n"}
    )
    facts = Facts(list(backend.produce(tmp_path, names, quiet, trusted=False)))
    assert facts.references("a/b.go", 2, 5) == {("a/a.go", 2, 11), ("a/b.go", 2, 5)}
