"""SCIP indexes lowered to facts: every pair of place and symbol is there, and answers what SCIP says."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import astuple
from tests.navigation.scip.scip_encode import encode

from codenib.core.errors import InputError, ProviderError
from codenib.core.facts import Role, WireFacts
from codenib.manifest.home import tools_folder
from codenib.navigation.scip.facts import lower
from codenib.navigation.scip.indexers import ScipPython, ScipTypeScript
from codenib.navigation.scip.symbols import descriptors, kind_of, parent_of
from codenib.navigation.scip.wire import (
    Relationship,
    ScipDocument,
    ScipIndex,
    ScipOccurrence,
    SymbolInformation,
    read_index,
)
from codenib.navigation.tools.locate import Toolbox

P = "scip-x pip app 1 "
A = """class Animal:
    def sound(self): ...

class Dog(Animal):
    def sound(self):
        bark = 1
        return bark
"""
B = "from a import Dog\nDog().sound()\n"
FILES = {"a.py": A.encode(), "b.py": B.encode()}
ANIMAL, DOG = f"{P}a/Animal#", f"{P}a/Dog#"
ZOO = ScipIndex(
    "scip-x",
    "1",
    (
        ScipDocument(
            "b.py",
            "utf-16",
            (
                ScipOccurrence((0, 5, 0, 6), f"{P}a/__init__:", 2),
                ScipOccurrence((0, 14, 0, 17), DOG, 2),
                ScipOccurrence((1, 0, 1, 3), DOG),
                ScipOccurrence((1, 6, 1, 11), f"{DOG}sound()."),
                ScipOccurrence((1, 6, 1, 11), f"{P}z/other()."),
            ),
        ),
        ScipDocument(
            "a.py",
            "utf-16",
            (
                ScipOccurrence((0, 0, 0, 0), f"{P}a/__init__:", 1),
                ScipOccurrence((0, 6, 0, 12), ANIMAL, 1, (0, 0, 1, 24)),
                ScipOccurrence((1, 8, 1, 13), f"{ANIMAL}sound().", 1, (1, 4, 1, 24)),
                ScipOccurrence((3, 6, 3, 9), DOG, 1, (3, 0, 6, 19)),
                ScipOccurrence((3, 10, 3, 16), ANIMAL),
                ScipOccurrence((4, 8, 4, 13), f"{DOG}sound().", 1, (4, 4, 6, 19)),
                ScipOccurrence((4, 14, 4, 18), f"{DOG}sound().(self)", 1),
                ScipOccurrence((5, 8, 5, 12), "local 0", 1),
                ScipOccurrence((6, 15, 6, 19), "local 0"),
            ),
            (
                SymbolInformation(DOG, 7, "Dog", (Relationship(ANIMAL, is_implementation=True),)),
                SymbolInformation(
                    f"{DOG}sound().",
                    relationships=(
                        Relationship(f"{ANIMAL}sound().", is_reference=True, is_implementation=True),
                    ),
                ),
            ),
        ),
    ),
)


def facts(index: ScipIndex, files: dict[str, bytes] = FILES) -> dict[str, WireFacts]:
    wires = (msgspec.json.decode(line, type=WireFacts) for line in lower(index, files.get))
    return {wire.path: wire for wire in wires}


def rows(wire: WireFacts) -> list[list[int]]:
    flat = wire.occurrences
    return [flat[at : at + 8] for at in range(0, len(flat), 8)]


def at(wire: WireFacts, line: int, column: int) -> tuple[int, list[object], list[object]]:
    """Roles, definitions and keys of the occurrence that begins there."""
    (row,) = [row for row in rows(wire) if row[:2] == [line, column]]
    defs, keys = ([wire.targets[item] for item in wire.lists[row[field]]] for field in (5, 6))
    return row[4], list(defs), list(keys)


def test_every_pair_of_place_and_symbol_is_kept() -> None:
    found = facts(read_index(encode(ZOO)))
    assert list(found) == ["a.py", "b.py"]
    for document in ZOO.documents:
        wire = found[document.path]
        assert len(rows(wire)) == len({one.place for one in document.occurrences})
        assert sum(len(wire.lists[row[6]]) for row in rows(wire)) == len(document.occurrences)


def test_a_use_is_defined_and_listed_where_the_symbol_is_declared() -> None:
    wire = facts(ZOO)["b.py"]
    assert at(wire, 1, 0) == (Role.CALL, [["a.py", 3, 6]], [["a.py", 3, 6]])
    assert at(wire, 0, 14)[0] == Role.IMPORT | Role.TYPE
    assert at(wire, 1, 6)[2] == [["a.py", 4, 8], f"{P}z/other()."]


def test_a_definition_without_extent_is_the_file() -> None:
    found = facts(ZOO)
    assert at(found["b.py"], 0, 5) == (Role.IMPORT | Role.INEXACT, [["a.py"]], [["a.py"]])
    assert at(found["a.py"], 0, 0)[0] == Role.DECLARATION | Role.INEXACT


def test_nodes_have_names_kinds_parents_and_extents() -> None:
    nodes = facts(ZOO)["a.py"].nodes
    shown = [
        (node.name, node.kind, nodes[node.parent].name if node.parent >= 0 else "", node.flags)
        for node in nodes
    ]
    assert shown == [
        ("Animal", "class", "", 0),
        ("sound", "method", "Animal", 0),
        ("Dog", "class", "", 0),
        ("sound", "method", "Dog", 0),
        ("self", "parameter", "sound", 1),
        ("bark", "variable", "sound", 1),
    ]
    assert astuple(nodes[3])[3:10] == (4, 4, 6, 19, 4, 8, 13)


def test_relationships_become_relations() -> None:
    wire = facts(ZOO)["a.py"]
    shown = {(kind, str(wire.targets[source]), str(wire.targets[to])) for kind, source, to in wire.relations}
    dog, animal, bark, sound = "['a.py', 3, 6]", "['a.py', 0, 6]", "['a.py', 4, 8]", "['a.py', 1, 8]"
    assert shown == {
        ("implement", dog, animal),
        ("override", bark, sound),
        ("also", bark, sound),
        ("also", sound, bark),
    }


def test_a_symbol_defined_twice_has_one_key_and_two_definitions() -> None:
    text = b"x = 1\nx = 2\nx\n"
    places = ((0, 0, 0, 1), (1, 0, 1, 1), (2, 0, 2, 1))
    uses = tuple(ScipOccurrence(place, f"{P}m/x.", int(at < 2)) for at, place in enumerate(places))
    wire = facts(ScipIndex("t", "1", (ScipDocument("m.py", "utf-8", uses),)), {"m.py": text})["m.py"]
    for line in range(3):
        assert at(wire, line, 0)[1:] == ([["m.py", 0, 0], ["m.py", 1, 0]], [["m.py", 0, 0]])


def test_equal_local_symbols_of_two_files_are_two_things() -> None:
    local = (ScipOccurrence((0, 0, 0, 1), "local 1", 1),)
    free = (ScipOccurrence((0, 0, 0, 1), "local 2"),)
    index = ScipIndex(
        "t", "1", tuple(ScipDocument(p, "utf-8", o) for p, o in (("a", local), ("b", local), ("c", free)))
    )
    found = facts(index, dict.fromkeys("abc", b"x\n"))
    assert at(found["a"], 0, 0)[2] == [["a", 0, 0]]
    assert at(found["b"], 0, 0)[2] == [["b", 0, 0]]
    assert at(found["c"], 0, 0)[2] == ["c#local 2"]


def test_columns_of_wide_characters_are_read_in_the_documents_unit() -> None:
    line = '"é😀"; name\n'
    for unit, column in (("utf-8", 10), ("utf-16", 7), ("utf-32", 6)):
        use = (ScipOccurrence((0, column, 0, column + 4), f"{P}m/name.", 1),)
        wire = facts(ScipIndex("t", "1", (ScipDocument("m", unit, use),)), {"m": line.encode()})["m"]
        assert wire.nodes[0].name == "name"
        assert at(wire, 0, column)[0] == Role.DECLARATION


def test_an_alias_is_marked_as_not_the_symbols_name() -> None:
    use = (ScipOccurrence((0, 0, 0, 2), f"{P}numpy/__init__:"),)
    wire = facts(ScipIndex("t", "1", (ScipDocument("m", "utf-8", use),)), {"m": b"np\n"})["m"]
    assert at(wire, 0, 0)[0] & Role.INEXACT


@pytest.mark.parametrize("text", [b"", b"class", b"class Animal:\n"])
def test_an_index_of_another_state_is_refused(text: bytes) -> None:
    with pytest.raises(InputError, match=r"does not fit a\.py"):
        facts(ZOO, {**FILES, "a.py": text})


def test_a_document_that_the_repository_lacks_is_refused_unless_it_was_not_asked_for() -> None:
    with pytest.raises(InputError, match=r"a\.py"):
        facts(ZOO, {"b.py": B.encode()})
    (line,) = lower(ZOO, FILES.get, ["b.py"])
    wire = msgspec.json.decode(line, type=WireFacts)
    assert at(wire, 1, 0)[2] == [DOG]  # defined in a file that is not analysed: outside


def test_symbols_are_taken_apart() -> None:
    symbol = "scip-typescript npm a  b 1.0 src/`x ``y``.ts`/Foo#`<constructor>`(+1).(arg)"
    shown = [(part.name, part.suffix) for part in descriptors(symbol)]
    names = ["src", "x `y`.ts", "Foo", "<constructor>", "arg"]
    assert shown == list(zip(names, "//#(p", strict=True))
    rust = "rust-analyzer cargo app 0.1.0 impl#[Foo]bar()."
    assert [(part.name, part.suffix) for part in descriptors(rust)] == [
        ("impl", "#"),
        ("Foo", "["),
        ("bar", "("),
    ]
    assert descriptors("local 3") == descriptors("odd") == ()
    assert parent_of(f"{DOG}sound().(self)") == f"{DOG}sound()."
    assert kind_of(f"{DOG}age.", None, has_body=False) == "field"
    assert kind_of(f"{DOG}age.", SymbolInformation("", 12), has_body=False) == "enum_member"
    assert (
        kind_of(f"{P}m/Shape#", SymbolInformation("", about="```ts\ninterface Shape\n```"), has_body=True)
        == "interface"
    )
    assert kind_of(f"{P}m/run.", None, has_body=True) == "function"


@pytest.fixture(scope="session")
def installed_tools() -> Toolbox:
    """The tools of this machine, not those of a test's own home."""
    return Toolbox(tools_folder())


def quiet(stage: str, done: int, total: int) -> None: ...


@pytest.mark.slow
def test_scip_python_gives_facts_of_a_checkout(tmp_path: Path, installed_tools: Toolbox) -> None:
    if installed_tools.find("scip-python") is None:
        pytest.skip("scip-python is not installed: codenib tools install scip-python")
    for path, data in FILES.items():
        (tmp_path / path).write_bytes(data)
    backend = ScipPython(installed_tools)
    assert backend.identity()["backend"] == "scip-python"
    lines = list(backend.produce(tmp_path, ["a.py", "b.py"], quiet, trusted=False))
    found = {wire.path: wire for wire in (msgspec.json.decode(line, type=WireFacts) for line in lines)}
    assert at(found["b.py"], 1, 0)[1] == [["a.py", 3, 6]]
    names = [node.name for node in found["a.py"].nodes]
    assert names == [
        "Animal",
        "sound",
        "self",
        "Dog",
        "sound",
        "self",
        "bark",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "b.py"]


@pytest.mark.slow
def test_scip_typescript_gives_facts_of_a_checkout(tmp_path: Path, installed_tools: Toolbox) -> None:
    if installed_tools.find("scip-typescript") is None:
        pytest.skip("scip-typescript is not installed: codenib tools install scip-typescript")
    (tmp_path / "a.ts").write_text("export function load(x: number) { return x }\n")
    (tmp_path / "b.js").write_text("import { load } from './a'\nload(1)\n")
    backend = ScipTypeScript(installed_tools)
    lines = list(backend.produce(tmp_path, ["a.ts", "b.js"], quiet, trusted=False))
    found = {wire.path: wire for wire in (msgspec.json.decode(line, type=WireFacts) for line in lines)}
    assert at(found["b.js"], 1, 0) == (Role.CALL, [["a.ts", 0, 16]], [["a.ts", 0, 16]])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ts", "b.js"]


def test_a_missing_indexer_names_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProviderError) as caught:
        ScipPython(Toolbox(tmp_path)).identity()
    assert caught.value.hint == "codenib tools install scip-python"
