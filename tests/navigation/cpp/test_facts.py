"""Facts of sources of which clangd's index lists less than there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.navigation.cpp.test_backend import Facts, found_at, produce, write, write_database

from codenib.core.facts import Role
from codenib.manifest.home import tools_folder
from codenib.navigation.tools.locate import Toolbox

BOX = "template <typename T> struct Box { T value; T get() { return value; } };\n"
USE = '#include "box.h"\nint {name}(Box<int> box) {{ return box.get(); }}\n'


CALLS = """\
template <typename T> T load(int from) { return T(from); }
template <typename T, int N> struct Kept { T get() { return load<T>(N); } };
template <typename T> T twice(T one) { return load<T>(one) + load<T>(one); }
int both(int low, int x) {
  int load_limit = 3;
  bool between = low < x && x > (load_limit);
  return load<int>(between) + (load_limit < (x) > (low));
}
int pointer() { return (&load<int>)(1); }
"""


def test_a_call_with_arguments_of_a_template_is_a_call(tmp_path: Path) -> None:
    tools = Toolbox(tools_folder())
    if tools.find("clangd") is None:
        pytest.skip("clangd is not installed (codenib tools install cpp)")
    write(tmp_path, {"calls.cpp": CALLS})
    write_database(tmp_path, tmp_path, ["calls.cpp"])
    facts = Facts(produce(tools, tmp_path)).files["calls.cpp"]
    rows = [facts["occurrences"][at : at + 8] for at in range(0, len(facts["occurrences"]), 8)]
    lines = CALLS.splitlines()
    called = {
        (row[0] + 1, lines[row[0]][row[1] : row[3]])
        for row in rows
        if row[4] & Role.CALL and row[0] == row[2]
    }
    # A pointer to a function is called too, but by nothing that is written.
    assert {each for each in called if each[1] != "T"} == {(2, "load"), (3, "load"), (7, "load")}


def test_uses_of_templates_after_a_missing_header_are_references(tmp_path: Path) -> None:
    tools = Toolbox(tools_folder())
    if tools.find("clangd") is None:
        pytest.skip("clangd is not installed (codenib tools install cpp)")
    lacking = '#include "no/such.h"\n' + USE.format(name="lacks")
    write(tmp_path, {"include/box.h": BOX, "good.cpp": USE.format(name="good"), "lacks.cpp": lacking})
    write_database(tmp_path, tmp_path, ["good.cpp", "lacks.cpp"])
    found = tmp_path, Facts(produce(tools, tmp_path))
    expected = {"include/box.h:1", "good.cpp:2", "lacks.cpp:3"}
    assert found_at(found, "references", "include/box.h", 1, "get") == expected
