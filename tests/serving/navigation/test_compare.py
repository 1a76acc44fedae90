"""Where the graph and a server differ, the comparison says who is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.views import ViewKind
from codenib.manifest.home import tools_folder
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.navigation.compare import GUESS, INDEX_AGREES, MACRO_PARAMETER, TAGGED_AGREES
from codenib.serving.workspace import Workspace

pytestmark = pytest.mark.tools
FILES = {
    "list.h": "OP(LOAD)\n",
    "codes.h": "#pragma once\nenum codes {\n#define OP(name) CODE_##name,\n#define TWICE(x) x x\n"
    '#include "list.h"\n#undef OP\n};\n#define OP(name) int name;\n#include "list.h"\n',
    "main.c": '#include "codes.h"\nint main(void) { return LOAD; }\n',
}


def test_the_index_says_who_is_right_in_a_header_that_cannot_be_read_alone(tmp_path: Path) -> None:
    if Toolbox(tools_folder()).find("clangd") is None:
        pytest.skip("clangd is not installed (codenib tools install cpp)")
    repository = GitRepo(tmp_path / "codes")
    repository.commit(FILES)
    with Workspace(repository.path) as workspace:
        workspace.index([ViewKind.GRAPH])
        found = workspace.navigator.compare(n=12, seed=1, paths=["list.h", "codes.h"])
    assert found.categories.keys() <= {INDEX_AGREES, MACRO_PARAMETER}
    assert found.categories.keys() >= {INDEX_AGREES}
    assert (found.definitions.right_rate, found.references.right_rate) == (1.0, 1.0)


def test_a_guess_by_name_in_lines_that_no_compiler_reads_is_in_no_rate(tmp_path: Path) -> None:
    if Toolbox(tools_folder()).find("clangd") is None:
        pytest.skip("clangd is not installed (codenib tools install cpp)")
    repository = GitRepo(tmp_path / "left")
    repository.commit(
        {"a.c": "#ifdef NEVER\nfar_away(1);\n#endif\n", "b.c": "int far_away(int x) { return x; }\n"}
    )
    with Workspace(repository.path) as workspace:
        workspace.index([ViewKind.GRAPH])
        found = workspace.navigator.compare(n=4, seed=1, paths=["a.c"])
    assert found.categories == {GUESS: 1}
    assert found.definitions.n == 0


def test_a_server_with_the_tags_of_a_file_says_who_is_right_in_it(tmp_path: Path) -> None:
    for tool in ("go-facts", "gopls"):
        if Toolbox(tools_folder()).find(tool) is None:
            pytest.skip(f"{tool} is not installed (codenib tools install go)")
    repository = GitRepo(tmp_path / "tagged")
    repository.commit(
        {
            "go.mod": "module example.com/m\n\ngo 1.21\n",
            "m.go": "package m\n\nfunc Plain() int { return 1 }\n",
            "s.go": "//go:build special\n\npackage m\n\nfunc special() int { return Plain() }\n",
        }
    )
    with Workspace(repository.path) as workspace:
        workspace.index([ViewKind.GRAPH])
        found = workspace.navigator.compare(n=20, seed=1)
    assert found.categories.keys() == {TAGGED_AGREES}
    assert found.definitions.match_rate < 1.0
    assert (found.definitions.right_rate, found.references.right_rate) == (1.0, 1.0)


def test_a_position_that_the_server_refuses_does_not_end_the_comparison(tmp_path: Path) -> None:
    for tool in ("go-facts", "gopls"):
        if Toolbox(tools_folder()).find(tool) is None:
            pytest.skip(f"{tool} is not installed (codenib tools install go)")
    repository = GitRepo(tmp_path / "builtin")
    source = "package m; var A int; var B, C, D, E = A, A, A, A\n"
    repository.commit({"go.mod": "module example.com/m\n\ngo 1.21\n", "m.go": source})
    with Workspace(repository.path) as workspace:
        workspace.index([ViewKind.GRAPH])
        compared = [workspace.navigator.compare(n=2, seed=seed) for seed in range(1, 21)]
    # In some, the first of the two is `int`, of which gopls refuses to list references.
    assert sum(found.references.live_errors for found in compared) > 0
    assert all(found.references.match_rate == 1.0 for found in compared if found.references.n)
