"""What the graph of C answers about a name: its body, and by name what the compiler leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.views import ViewKind
from codenib.manifest.home import tools_folder
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace

pytestmark = pytest.mark.tools


def test_a_name_is_defined_where_its_body_is_and_one_in_lines_left_out_is_by_name(
    tmp_path: Path,
) -> None:
    if Toolbox(tools_folder()).find("clangd") is None:
        pytest.skip("clangd is not installed (codenib tools install cpp)")
    repository = GitRepo(tmp_path / "poll")
    repository.commit(
        {
            "add.h": "int add(int left, int right);\n",
            "add.c": '#include "add.h"\nint add(int left, int right)\n{\n  return left + right;\n}\n',
            "box.h": "class Box {\n public:\n  int size() const;\n};\n",
            "box.cpp": '#include "box.h"\nint Box::size() const { return 1; }\n',
            "poll.c": (
                "#ifdef HAVE_POLL\nstatic int poll_one(int at);\nstatic int poll_one(int at) { return at; }\n"
                "int poll_all(void) { return poll_one(1); }\n#endif\nint none;\n"
            ),
            "sum.c": (
                '#include "add.h"\n#define TWICE(x) add(x, x)\nint two(void) { return add(1, 1); }\n'
                "#if 0\nint three(void) { return add(1, 2); }\n#endif\nint four(void) { return TWICE(2); }\n"
            ),
        }
    )
    with Workspace(repository.path) as workspace:
        workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])
        defined = workspace.definition("add")
        assert [(place.path, place.line) for place in defined] == [("add.c", 2)]
        assert workspace.definition("Box.size").meanings[0].symbol == "Box.size"
        assert [each.qualified for each in workspace.outline("box.cpp").symbols] == ["Box.size"]
        used = workspace.references("poll_one")
        assert {place.line for place in used} == {2, 3, 4}
        assert (used.provider, used.completeness) == ("syntactic", "unknown")
        callers = workspace.neighbours("poll_one", "callers")
        assert "poll_all" in {each.qualified for each in callers.symbols}
        # The body of a macro and what a condition leaves out are read by nobody: by name, live too.
        for provider in ("static", "live"):
            used = workspace.references("sum.c:3", name="add", provider=provider)
            by_name = {(place.path, place.line) for place in used if place.scope == "name"}
            resolved = {(place.path, place.line) for place in used} - by_name
            assert by_name == {("sum.c", 2), ("sum.c", 5)}, provider
            assert resolved == {("add.h", 1), ("add.c", 2), ("sum.c", 3), ("sum.c", 7)}, provider
            assert used.completeness == "partial"
        guessed = workspace.definition("sum.c:5", name="add")
        assert (guessed.provider, guessed.locations[0].path) == ("syntactic", "add.c")
