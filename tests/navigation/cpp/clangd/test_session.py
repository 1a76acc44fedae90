"""A clangd process without a repository: what it does beside what it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.manifest.home import tools_folder
from codenib.navigation.cpp.clangd.session import ClangdSession, path_to_uri
from codenib.navigation.tools.locate import Toolbox

pytestmark = pytest.mark.tools


@pytest.mark.parametrize("denied", [False, True])
def test_a_denied_library_is_not_indexed(tmp_path: Path, denied: bool) -> None:
    tool = Toolbox(tools_folder()).find("clangd")
    if tool is None:
        pytest.skip("clangd is not installed: codenib tools install cpp")
    root, library, empty = (tmp_path / name for name in ("root", "library", "empty"))
    root.mkdir()
    library.mkdir()
    (library / "vector").write_text("namespace std { template <typename T> class vector {}; }\n")
    command = (str(root / "a.cpp"), str(root), ("clang", "-nostdinc", "-isystem", str(library), "a.cpp"))
    with ClangdSession((*tool.command, "--sync", "--background-index", "--log=error"), root) as session:
        if denied:
            session.deny_libraries(empty)
        rounds = session.index_rounds
        session.compile(*command)
        session.await_index(rounds)
        document = {"uri": path_to_uri(command[0]), "languageId": "cpp", "version": 1, "text": "int a;\n"}
        session.tell("textDocument/didOpen", {"textDocument": document})
        (found,) = session.ask_all([("workspace/symbol", {"query": "std::vector"})])
    assert [symbol["name"] for symbol in found] == ([] if denied else ["vector"])
