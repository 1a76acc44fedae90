"""Facts of a small repository of Java: what each name leads to, and what says that it leads nowhere."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from tests.navigation.following import indexed, need
from tests.navigation.go.test_backend import Facts, Place
from tests.navigation.java.java_project import FILES, MODULE, NAMES, OTHER, SHAPES, UNITS, USES

from codenib.core.errors import InputError
from codenib.core.requests import NeighboursRequest
from codenib.manifest.home import tools_folder
from codenib.navigation.java.backend import JavaBackend
from codenib.navigation.tools.locate import Toolbox

pytestmark = pytest.mark.tools
CORE = "core/src/main/java/shop/"
Around = tuple[str, str, str]  # a path, a part of a line, a name in it
At = Callable[[str, str, str], Place]
SHAPE, SQUARE = f"{CORE}Shape.java", f"{CORE}Square.java"


def quiet(stage: str, done: int, total: int) -> None:
    pass


def write(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text).lstrip("\n"))
    return sorted(name for name in files if name.endswith(".java"))


@pytest.fixture(scope="module")
def backend() -> JavaBackend:
    need("java")
    return JavaBackend(Toolbox(tools_folder()))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    write(root, FILES)
    return root


@pytest.fixture(scope="module")
def lines(backend: JavaBackend, checkout: Path) -> list[bytes]:
    return list(backend.produce(checkout, NAMES, quiet, trusted=False))


@pytest.fixture(scope="module")
def facts(lines: list[bytes]) -> Facts:
    return Facts(lines)


@pytest.fixture
def at(checkout: Path) -> At:
    def find(path: str, around: str, name: str) -> Place:
        """The place of `name` in the first line that holds `around`."""
        for number, line in enumerate((checkout / path).read_text().split("\n")):
            if around in line:
                found = re.search(rf"\b{name}\b", around)
                assert found
                text = line[: line.index(around) + found.start()]
                return path, number, len(text.encode("utf-16-le")) // 2
        raise AssertionError(around)

    return find


def test_every_file_has_one_line(lines: list[bytes]) -> None:
    assert sorted(json.loads(line)["path"] for line in lines) == NAMES


@pytest.mark.parametrize(
    ("used", "declared"),
    [
        ((SHAPES, "each.area()", "area"), (SHAPE, "double area()", "area")),
        ((SHAPES, "each.label()", "label"), (SHAPE, "String label()", "label")),
        ((SHAPES, "Shape::label", "label"), (SHAPE, "String label()", "label")),
        ((SHAPES, "twice(total)", "twice"), (UNITS, "double twice(double", "twice")),
        ((SHAPES, "twice(1)", "twice"), (UNITS, "int twice(int", "twice")),
        ((SHAPES, "+ EACH", "EACH"), (UNITS, "double EACH", "EACH")),
        ((SHAPES, "new Square(2)", "Square"), (SQUARE, "Square(double side)", "Square")),
        ((SHAPES, "new Square()", "Square"), (SQUARE, "public Square()", "Square")),
        ((SHAPES, "new Pair(", "Pair"), (SHAPES, " Pair {", "Pair")),
        ((SHAPES, "pair.left()", "left"), (SHAPES, "Shape left,", "left")),
        ((SHAPES, "if (left", "left"), (SHAPES, "Shape left,", "left")),
        ((SHAPES, "inner.area()", "inner"), (SHAPES, "Shape inner", "inner")),
        ((SHAPES, "new Square.Corner", "Corner"), (SQUARE, "class Corner", "Corner")),
        ((SHAPES, "import shop.Square.Corner", "Corner"), (SQUARE, "class Corner", "Corner")),
        ((SHAPES, "corner.as(Square.class).area()", "area"), (SQUARE, "double area()", "area")),
        ((SHAPES, "this.own()", "own"), (SHAPES, "double own()", "own")),
        ((SHAPES, "Unit.FOOT", "FOOT"), (UNITS, "FOOT(0.3)", "FOOT")),
        ((SHAPES, "shop.units.Unit.valueOf", "Unit"), (UNITS, "enum Unit", "Unit")),
        ((SHAPES, "return square.area()", "area"), (SQUARE, "double area()", "area")),
        ((SHAPES, "l.area()", "area"), (SHAPE, "double area()", "area")),
        ((SHAPES, "r.area()", "area"), (SHAPE, "double area()", "area")),
        ((SHAPES, "unit.in()", "in"), (UNITS, "double in() { return size", "in")),
        ((SQUARE, "this(1)", "this"), (SQUARE, "Square(double side)", "Square")),
        ((SQUARE, "this.side = side", "side"), (SQUARE, "double side;", "side")),
        ((SQUARE, "U as(", "U"), (SQUARE, "<U extends", "U")),
        ((SQUARE, "T of", "T"), (SQUARE, "Corner<T", "T")),
        ((SHAPE, "#area() area", "area"), (SHAPE, "double area()", "area")),
        ((f"{CORE}package-info.java", "{@link Shape", "Shape"), (SHAPE, "interface Shape", "Shape")),
        ((MODULE, "shop.Square", "Square"), (SQUARE, "class Square", "Square")),
        (("other/src/main/java/shop/More.java", "Uses.shape", "shape"), (OTHER, "String shape", "shape")),
        ((USES, "Uses.shape", "shape"), (USES, "Shape shape", "shape")),
    ],
    ids=lambda value: f"{value[1]}",
)  # fmt: skip
def test_a_use_leads_to_its_declaration(at: At, facts: Facts, used: Around, declared: Around) -> None:
    assert facts.definition(*at(*used)) == {at(*declared)}
    assert at(*used) in facts.references(*at(*declared))


def test_a_static_import_leads_to_every_overload(at: At, facts: Facts) -> None:
    imported = facts.definition(*at(SHAPES, "Unit.twice", "twice"))
    assert imported == {at(UNITS, "double twice(double", "twice"), at(UNITS, "int twice(int", "twice")}


def test_a_comment_without_parameters_leads_to_every_overload(at: At, facts: Facts) -> None:
    linked = facts.definition(*at(SHAPES, "Unit#twice", "twice"))
    assert linked == facts.definition(*at(SHAPES, "Unit.twice", "twice"))
    assert "unresolved#stream" not in facts.listed


def test_a_call_of_an_unknown_constructor_is_one_of_its_class(at: At, facts: Facts) -> None:
    call = at(USES, "new Square(missing", "Square")
    assert facts.definition(*call) == {at(SQUARE, "class Square", "Square")}
    assert call in facts.listed["unresolved#Square"]
    made = at(SHAPES, "new Shape() {", "Shape")
    assert facts.definition(*made) == {at(SHAPE, "interface Shape", "Shape")}


def test_references_of_a_method_hold_those_of_its_overrides(at: At, facts: Facts) -> None:
    found = facts.references(*at(SHAPE, "double area()", "area"))
    assert {at(SHAPES, "each.area()", "area"), at(SHAPES, "corner.as(Square.class).area()", "area")} <= found
    own = facts.references(*at(SQUARE, "double area()", "area"))
    assert at(SHAPES, "each.area()", "area") not in own


def test_relations_of_types_and_methods(at: At, facts: Facts) -> None:
    shape, square = at(SHAPE, "interface Shape", "Shape"), at(SQUARE, "class Square", "Square")
    area = at(SHAPE, "double area()", "area")
    assert ("implement", square, shape) in facts.relations(SQUARE)
    assert ("override", at(SQUARE, "double area()", "area"), area) in facts.relations(SQUARE)
    assert ("inherit", shape, "java.lang.Comparable") in facts.relations(SHAPE)
    assert shape in {to for kind, _, to in facts.relations(SHAPES) if kind == "implement"}


def test_what_needs_a_missing_library_is_listed_as_not_resolved(at: At, facts: Facts) -> None:
    asked = facts.at(*at(USES, "missing.area()", "area"))
    assert asked is not None
    assert (asked[5], asked[6]) == ([], ["unresolved#area"])
    assert at(SHAPES, ".call(", "call") in facts.listed["unresolved#call"]
    assert facts.definition(*at(USES, "shape.area())", "area")) == {at(SHAPE, "double area()", "area")}


def test_every_target_in_the_checkout_has_a_node(facts: Facts) -> None:
    names = {path: {(row[7], row[8]) for row in held["nodes"]} for path, held in facts.files.items()}
    for held in facts.files.values():
        for target in held["targets"]:
            if isinstance(target, list):
                assert (target[1], target[2]) in names[target[0]], target


def test_the_text_of_an_exact_occurrence_is_the_symbols_name(facts: Facts, checkout: Path) -> None:
    names = {(path, row[7], row[8]): row[0] for path, held in facts.files.items() for row in held["nodes"]}
    for path, rows in facts.rows.items():
        source = (checkout / path).read_text().split("\n")
        for line, start, _, end, roles, _, asked in rows:
            known = [names[it] for it in asked if it in names]
            if known and not roles & 64:
                text = source[line].encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")
                assert text in known, (path, line, start)


def test_a_file_says_how_it_belongs_to_the_build(facts: Facts) -> None:
    scopes = {path: held["scope"] for path, held in facts.files.items()}
    assert (scopes["sample/Broken.java"], scopes[OTHER], scopes[USES]) == ("loose", "variant", "variant")


def test_a_text_that_does_not_parse_keeps_what_can_be_read(at: At, facts: Facts) -> None:
    assert facts.definition(*at("sample/Broken.java", "s.area()", "area")) == {
        at(SHAPE, "double area()", "area")
    }


def test_no_place_of_the_machine_is_in_the_facts(lines: list[bytes], checkout: Path) -> None:
    assert not any(str(checkout).encode() in line for line in lines)


def test_a_jar_of_the_local_repository_is_found_by_what_the_build_says(
    backend: JavaBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home" / ".m2" / "repository" / "org" / "far" / "far" / "1.5"
    write(tmp_path, {"Far.java": "package far;\npublic class Far { public Far go() { return this; } }\n"})
    subprocess.run(["javac", "-d", str(tmp_path), str(tmp_path / "Far.java")], check=True)
    home.mkdir(parents=True)
    with zipfile.ZipFile(home / "far-1.5.jar", "w") as jar:
        jar.write(tmp_path / "far" / "Far.class", "far/Far.class")
    named = "<groupId>org.far</groupId><artifactId>far</artifactId><version>${v}</version>"
    pom = f"<dependencies><dependency>{named}</dependency></dependencies>"
    root = tmp_path / "repository"
    names = write(root, {
        "pom.xml": f"<project><artifactId>m</artifactId>{pom}<properties><v>1.5</v></properties></project>\n",
        "src/main/java/Use.java": "import far.Far;\nclass Use { Far far = new Far().go(); }\n",
    })  # fmt: skip
    list(backend.produce(root, names, quiet, trusted=False))
    assert "1 imported types are in no jar here, such as far.Far" in backend.lacks[0]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    facts = Facts(list(backend.produce(root, names, quiet, trusted=False)))
    assert backend.lacks == ()
    assert "far.Far#go()" in facts.listed


def test_answers_say_what_is_not_resolved(tmp_path: Path) -> None:
    need("java")
    with indexed(tmp_path / "shop", FILES) as (_, workspace):
        answer = workspace.references("Shape.area", provider="static")
        named = [each for each in answer.locations if each.scope == "name"]
        assert (answer.completeness, answer.unresolved) == ("partial", 2)
        assert {each.path for each in named} == {USES, SHAPES}
        assert workspace.references("Shape.label", provider="static").completeness == "all"
        callers = workspace.navigator.neighbours(NeighboursRequest("Shape.area", "callers"))
        assert callers.completeness == "partial"
        assert {"Shapes.sum", "Uses.go"} <= {each.qualified for each in callers}
        callees = workspace.navigator.neighbours(NeighboursRequest("Uses.go", "callees"))
        assert "1 name in it not resolved" in callees.note
        defined = workspace.definition(f"{USES}:7", name="Missing")
        assert (defined.provider, defined.note) == ("syntactic", "the engine could not resolve this name")
        with pytest.raises(InputError, match="no language server is known to compare with: java has none"):
            workspace.navigator.compare(n=5)
        instances = workspace.navigator.neighbours(NeighboursRequest("Square", "callers"))
        assert "Shapes.made" in {each.qualified for each in instances}


def test_the_engine_may_not_read_outside_nor_write(backend: JavaBackend, checkout: Path) -> None:
    program = backend._program(checkout, "run", trusted=False)
    assert program.policy is not None
    assert program.policy.write == ()
    assert Path.home() not in program.policy.read
