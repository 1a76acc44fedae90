"""No compilation database, `compile_flags.txt` or `.clangd` of a stranger makes clangd write or load."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hostile.compile_options import HOSTILE_OPTIONS, hostile_database, write_project

from codenib.core.navigation import Position
from codenib.manifest.home import tools_folder
from codenib.navigation.cpp.backend import CppBackend
from codenib.navigation.cpp.compile_commands import commands_in
from codenib.navigation.live.pool import ServerPool
from codenib.navigation.tools.locate import Toolbox

# Each makes clangd write by itself, seen with clangd 22.1 before options passed a list.
_WRITERS = (
    "diagnostic log", "module cache", "serialized diagnostics", "statistics", "dependencies", "time trace",
    "crash reports", "output",
)  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE_OPTIONS)
def test_an_option_that_names_a_place_outside_does_not_pass(tmp_path: Path, case: str) -> None:
    own, victim = tmp_path / "own", tmp_path / "victim"
    entries = hostile_database(own, victim, HOSTILE_OPTIONS[case])
    [command] = commands_in(entries, own)
    assert command.file == f"{own}/a.c"
    assert not [word for word in command.arguments if "victim" in word or word.startswith("@")]
    if "--" not in HOSTILE_OPTIONS[case]:
        assert "-DKEPT" in command.arguments


def test_a_header_whose_compiled_form_lies_beside_it_is_not_included(tmp_path: Path) -> None:
    (tmp_path / "all.h").touch()
    entries = hostile_database(tmp_path, tmp_path / "victim", ["-include", "all.h"])
    assert "-include" in commands_in(entries, tmp_path)[0].arguments
    (tmp_path / "all.h.gch").touch()
    assert "-include" not in commands_in(entries, tmp_path)[0].arguments


def test_an_entry_for_a_device_is_left_out(tmp_path: Path) -> None:
    row = {"directory": "/", "file": "/dev/zero", "arguments": ["cc", "/dev/zero"]}
    assert commands_in([row, {**row, "file": "a\0b"}, {"file": "a.c", "command": "cc 'a"}], tmp_path) == []


@pytest.fixture
def tools() -> Iterator[Toolbox]:
    box = Toolbox(tools_folder())
    if box.find("clangd") is None:
        pytest.skip("clangd is not installed")
    yield box


@pytest.mark.tools
def test_clangd_writes_nothing_outside(tmp_path: Path, tools: Toolbox) -> None:
    own, victim = (tmp_path / "own").resolve(), (tmp_path / "victim").resolve()
    write_project(own, victim, [option for case in _WRITERS for option in HOSTILE_OPTIONS[case]])
    before = sorted(own.rglob("*"))
    lines = list(CppBackend(tools).produce(own, ["a.c", "b.h"], lambda *_: None, trusted=False))
    assert b"half" in b"".join(lines)
    with ServerPool(tools) as pool:
        [place] = pool.provider(own, "cpp").definition(Position("a.c", 2, 37)).locations
    assert (place.path, place.line) == ("b.h", 1)
    assert list(victim.iterdir()) == []
    assert sorted(own.rglob("*")) == before


@pytest.mark.tools
def test_a_source_whose_includes_explode_is_left_out_by_name_and_the_rest_is_read(
    tmp_path: Path, tools: Toolbox
) -> None:
    twice = '#include "x{0}.h"\n#include "x{0}.h"\n'
    files = {f"x{n}.h": twice.format(n + 1) for n in range(24)} | {"x24.h": "int x;\n"}
    files |= {"bomb.c": twice.format(0), "good.c": "int half(int a) { return a / 2; }\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    backend = CppBackend(tools)
    lines = dict(
        zip(files, backend.produce(tmp_path, list(files), lambda *_: None, trusted=False), strict=True)
    )
    empty = {path for path, line in lines.items() if b'"scope":"unresolved"' in line}
    assert empty == set(files) - {"good.c"} and b"half" in lines["good.c"]
    named, _, why = backend.lacks[-1].rpartition(" take ")
    assert (set(named.split(", ")), why) == (empty, "too long to read")
