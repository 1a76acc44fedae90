"""Facts of sources of which clangd's index lists less than there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.navigation.cpp.test_backend import Facts, found_at, produce, write, write_database

from codenib.manifest.home import tools_folder
from codenib.navigation.tools.locate import Toolbox

BOX = "template <typename T> struct Box { T value; T get() { return value; } };\n"
USE = '#include "box.h"\nint {name}(Box<int> box) {{ return box.get(); }}\n'


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
