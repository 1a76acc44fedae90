"""Facts of a small TypeScript and JavaScript repository, and the live server asked at every name of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.navigation.typescript.typescript_project import FILES, Facts, Live, Place, write

from codenib.core.errors import ProviderError
from codenib.core.facts import Role
from codenib.manifest.home import tools_folder
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.typescript.backend import TypeScriptBackend

SHAPES, USE, TEST = "app/src/shapes.ts", "app/src/use.ts", "app/test/shapes.test.ts"


def quiet(stage: str, done: int, total: int) -> None:
    pass


@pytest.fixture(scope="module")
def backend() -> TypeScriptBackend:
    tools = Toolbox(tools_folder())
    try:
        tools.require("typescript"), tools.require("node")
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    return TypeScriptBackend(tools)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository").resolve()
    write(root, FILES)
    return root


@pytest.fixture(scope="module")
def lines(backend: TypeScriptBackend, checkout: Path) -> list[bytes]:
    names = sorted(name for name in FILES if not name.endswith(".json"))
    return list(backend.produce(checkout, names, quiet, trusted=False))


@pytest.fixture(scope="module")
def facts(lines: list[bytes]) -> Facts:
    return Facts(lines)


@pytest.fixture(scope="module")
def live(backend: TypeScriptBackend, checkout: Path) -> Iterator[Live]:
    tools = Toolbox(tools_folder())
    tool = tools.find("typescript-language-server")
    if tool is None:
        pytest.skip("typescript-language-server is not installed: codenib tools install typescript")
    server = Live(tool.command, tools.require("typescript").folder / "lib" / "tsserver.js", checkout)
    yield server
    server.stop()


def find(root: Path, path: str, around: str, name: str) -> Place:
    """The place of `name` in the first line that holds `around`."""
    for number, line in enumerate((root / path).read_text(encoding="utf-8").split("\n")):
        if around in line:
            column = line.index(around) + re.search(rf"\b{name}\b", around).start()  # type: ignore[union-attr]
            return path, number, column
    raise AssertionError(around)


def test_definition_of_a_renamed_import_is_the_class(facts: Facts, checkout: Path) -> None:
    found = facts.definition(*find(checkout, USE, "shapes: (Box | Circle)", "Box"))
    assert found == {find(checkout, SHAPES, "class Square", "Square")}


def test_definition_of_a_call_is_the_body_of_the_overloads(facts: Facts, checkout: Path) -> None:
    found = facts.definition(*find(checkout, USE, 'pick("area")', "pick"))
    assert found == {find(checkout, SHAPES, 'function pick(key: "area")', "pick")}


def test_definition_of_new_is_the_constructor_and_the_class(facts: Facts, checkout: Path) -> None:
    found = facts.definition(*find(checkout, TEST, "new Square(", "Square"))
    assert find(checkout, SHAPES, "constructor(side: number)", "constructor") in found


def test_definition_of_a_module_name_is_its_file(facts: Facts, checkout: Path) -> None:
    path, line, column = find(checkout, USE, 'from "./index"', "index")
    assert facts.definition(path, line, column - 2) == {("app/src/index.ts", 0, 0)}


def test_references_of_a_union_member_include_every_member(facts: Facts, checkout: Path) -> None:
    found = facts.references(*find(checkout, USE, "const { value,", "value"))
    assert find(checkout, USE, '{ tag: "a", value: 1 }', "value") in found
    assert find(checkout, USE, '{ tag: "b", value: "x" }', "value") in found


def test_references_of_a_method_include_its_overrides(facts: Facts, checkout: Path) -> None:
    found = facts.references(*find(checkout, SHAPES, "area(): number; }", "area"))
    assert find(checkout, SHAPES, "area() { return this.#side", "area") in found
    assert find(checkout, USE, "super.area()", "area") in found


def test_a_shorthand_is_listed_for_the_property_and_the_local(facts: Facts, checkout: Path) -> None:
    short = find(checkout, USE, "{ deep });", "deep")
    assert short in facts.references(*find(checkout, USE, "{ deep: boolean;", "deep"))
    assert short in facts.references(*find(checkout, USE, "const deep =", "deep"))


def test_references_cross_the_projects_of_a_solution(facts: Facts, checkout: Path) -> None:
    found = facts.references(*find(checkout, "solution/core/core.ts", "function load", "load"))
    assert find(checkout, "solution/client/client.ts", "= load(2)", "load") in found


def test_a_file_without_a_project_sees_only_what_it_imports(facts: Facts, checkout: Path) -> None:
    declared = find(checkout, "js/lib/utils.js", "exports.merge", "merge")
    used = find(checkout, "js/test/app.js", "merge(v", "merge")
    assert used not in facts.references(*declared)
    assert {declared, used} <= facts.references(*used)


def test_globals_of_two_scripts_stay_apart(facts: Facts, checkout: Path) -> None:
    found = facts.references(*find(checkout, "js/old/first.js", "var shared", "shared"))
    assert {place[0] for place in found} == {"js/old/first.js"}


def test_every_span_is_the_name_unless_it_is_marked(facts: Facts, checkout: Path) -> None:
    for path, rows in facts.rows.items():
        text = (checkout / path).read_text(encoding="utf-8").split("\n")
        for line, start, end_line, end, roles, defined, _ in rows:
            if roles & 64 or line != end_line:
                continue
            for target in defined:
                if isinstance(target, tuple) and len(target) == 3:
                    node = next(it for it in facts.files[target[0]]["nodes"] if tuple(it[7:9]) == target[1:])
                    assert node[0] == text[line][start:end]


def test_every_target_has_a_node_and_parents_come_first(facts: Facts) -> None:
    named = {(path, *node[7:9]) for path, it in facts.files.items() for node in it["nodes"]}
    for it in facts.files.values():
        assert all(node[2] < index for index, node in enumerate(it["nodes"]))
        for target in it["targets"]:
            assert isinstance(target, str) or len(target) == 1 or tuple(target) in named


def test_relations_say_who_extends_and_overrides_whom(facts: Facts) -> None:
    file = facts.files[SHAPES]
    named = {tuple(node[7:9]): node[0] for node in file["nodes"]}
    targets = [named.get(tuple(it[1:])) if it[0] == SHAPES else it for it in file["targets"]]
    relations = {(kind, targets[one], targets[two]) for kind, one, two in file["relations"]}
    assert {
        ("inherit", "Square", "Base"),
        ("implement", "Base", "Shape"),
        ("override", "area", "area"),
    } <= relations


def test_two_runs_give_the_same_bytes(backend: TypeScriptBackend, checkout: Path, lines: list[bytes]) -> None:
    names = sorted(name for name in FILES if not name.endswith(".json"))
    assert list(backend.produce(checkout, names, quiet, trusted=False)) == lines


def test_a_file_of_an_unread_kind_has_a_line_without_facts(
    backend: TypeScriptBackend, tmp_path: Path
) -> None:
    write(tmp_path, {"a.es6": "var a = 1;"})
    (line,) = backend.produce(tmp_path, ["a.es6"], quiet, trusted=False)
    assert Facts([line]).rows == {"a.es6": []}
    assert Facts([line]).files["a.es6"]["scope"] == "unresolved"


def test_a_file_deeper_than_the_stack_costs_the_others_nothing(
    backend: TypeScriptBackend, tmp_path: Path
) -> None:
    deep = {"sum.js": "a() +\n" * 9_000 + "1", "calls.js": "a(\n" * 5_000 + ")" * 5_000}
    write(
        tmp_path,
        {"a.js": "function a() {}\na();", "chain.js": "if (1) {}\n" + "else if (1) {}\n" * 9_000} | deep,
    )
    names = ["a.js", "calls.js", "chain.js", "sum.js"]
    facts = Facts(list(backend.produce(tmp_path, names, quiet, trusted=False)))
    assert [facts.files[name]["scope"] for name in names] == ["loose", *["unresolved"] * 3]
    assert facts.rows["a.js"]


#: A project whose path leads to its root, two components with a property of the same name, and a loose file.
ROOTED = {
    "tsconfig.json": """{"compilerOptions": {"paths": {"shop": ["."]}, "allowJs": true, "jsx": "preserve"},
        "include": ["index.ts", "src"]}""",
    "index.ts": "export function total() {}",
    "src/use.ts": 'import { total } from "shop";\ntotal();',
    "src/one.jsx": """const One = ({ i }) => i;
export const a = <One i={0} />;
export const b = <One i={2} />;""",
    "src/two.jsx": "const Two = ({ i }) => i;\nexport const c = <Two i={1} />;",
    "demo/try.js": 'import { total } from "../index";\nclass Demo { run() { return this; } }\ntotal();',
}


@pytest.fixture(scope="module")
def rooted(backend: TypeScriptBackend, tmp_path_factory: pytest.TempPathFactory) -> Facts:
    root = tmp_path_factory.mktemp("rooted").resolve()
    write(root, ROOTED)
    names = sorted(name for name in ROOTED if not name.endswith(".json"))
    return Facts(list(backend.produce(root, names, quiet, trusted=False)))


def test_a_path_may_lead_to_the_root_itself(rooted: Facts) -> None:
    assert rooted.definition("src/use.ts", 1, 0) == {("index.ts", 0, 16)}


def test_an_attribute_is_that_of_its_own_component(rooted: Facts) -> None:
    found = rooted.references("src/one.jsx", 2, 22)
    assert {place[0] for place in found} == {"src/one.jsx"}
    assert ("src/one.jsx", 1, 22) in found
    assert {place[0] for place in rooted.references("src/two.jsx", 1, 22)} == {"src/two.jsx"}


def test_lines_say_whether_a_project_includes_the_file(rooted: Facts) -> None:
    scopes = {path: file["scope"] for path, file in rooted.files.items()}
    assert scopes.pop("demo/try.js") == "loose"
    assert set(scopes.values()) == {"project"}


def test_a_keyword_is_no_name_of_what_it_leads_to(rooted: Facts) -> None:
    keyword = rooted.at("demo/try.js", 1, 28)
    assert keyword is not None and keyword[4] & Role.KEYWORD
    called = rooted.at("demo/try.js", 2, 0)
    assert called is not None and not called[4] & Role.KEYWORD
    assert rooted.definition("demo/try.js", 2, 0) == {("index.ts", 0, 16)}


def test_a_failing_engine_is_an_error_with_its_reason(backend: TypeScriptBackend, tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="TypeScript engine"):
        list(backend.produce(tmp_path / "missing", ["a.ts"], quiet, trusted=False))


def test_every_name_answers_as_the_live_server(facts: Facts, live: Live) -> None:
    # Opened once before it is asked, as in a session at work: the projects of a folder stay loaded.
    different = []
    for path in sorted(facts.rows, key=lambda name: ("/test/" in name, name)):
        live.open(path)
        for row in facts.rows[path]:
            place = (path, row[0], row[1])
            for method in ("definition", "references"):
                static, said = getattr(facts, method)(*place), live.places(method, *place)
                if {it[:2] for it in static} != {it[:2] for it in said}:
                    different.append((method, place, sorted(said - static), sorted(static - said)))
    assert not different, "\n".join(map(str, different))
