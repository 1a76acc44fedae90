"""Go files follow edits: with the real engine, maintained facts equal those of an independent rebuild."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gitrepo import GitRepo
from tests.navigation.following import assert_as_rebuilt, check_script, edit, indexed, need, updated_group

from codenib.core.updates import FOLLOWED
from codenib.serving.workspace import Workspace

pytestmark = pytest.mark.tools
#: Versions of each file; None: it is not there.
VERSIONS: dict[str, list[str | None]] = {
    "go.mod": ["module example.com/m\n\ngo 1.21\n"],
    "shapes/shape.go": [
        "package shapes\n\ntype Shape interface{ Area() int }\n\n"
        "func Sum(all []Shape) int {\n\treturn all[0].Area()\n}\n",
        "package shapes\n\n// moved\n\ntype Shape interface {\n\tArea() int\n\tName() string\n}\n\n"
        "func Sum(all []Shape) int {\n\treturn len(all)\n}\n",
    ],
    "shapes/square.go": [
        "package shapes\n\ntype Square struct{ Side int }\n\nfunc (s Square) Area() int { return s.Side }\n",
        "package shapes\n\ntype Square struct{ Side int }\n\n"
        "func (s Square) Area() int { return s.Side * s.Side }\n\n"
        'func (s Square) Name() string { return "square" }\n',
        None,
    ],
    # What these names mean depends on methods that the file does not mention.
    "shapes/measure.go": [
        "package shapes\n\nfunc get() Square { return Square{} }\n\n"
        "func measure() int { return Shape(get()).Area() + same(get()).Side }\n",
        "package shapes\n\nfunc get() *Square { return nil }\n\n"
        "func measure() int { return Sum([]Shape{get()}) + same(get()).Area() }\n",
    ],
    "shapes/same.go": ["package shapes\n\nfunc same[T Shape](t T) T { return t }\n", None],
    "cmd/main.go": [
        'package main\n\nimport "example.com/m/shapes"\n\nfunc main() {\n\tprintln(shapes.Sum(nil))\n}\n',
        'package main\n\nimport "example.com/m/shapes"\n\n'
        "type dot struct{}\n\nfunc (dot) Area() int { return 0 }\n\n"
        "func main() {\n\tvar s shapes.Shape\n\tprintln(s.Area(), dot{}.Area())\n}\n",
        "package main\n\nfunc main() {\n",
    ],
}
PROJECT = {
    "go.mod": "module example.com/m\n\ngo 1.21\n",
    "base/base.go": """
        package base

        type Key string

        func (k Key) Size() int { return len(k) }

        type Index map[Key]int

        type Shape interface{ Area() int }

        type Square struct{ Side int }

        func (s Square) Area() int { return s.Side }

        var Origin = struct{ Left int }{1}

        func Keys() Index { return nil }
        """,
    "mid/mid.go": """
        package mid

        import "example.com/m/base"

        var First = base.Keys()

        type Wrapped struct{ base.Square }

        func Total(all []base.Shape) int {
            sum := 0
            for _, each := range all {
                sum += each.Area()
            }
            return sum
        }
        """,
    "mid/mid_test.go": """
        package mid_test

        import (
            "testing"

            "example.com/m/mid"
        )

        func TestTotal(t *testing.T) {
            for key := range mid.First {
                t.Log(key.Size(), mid.Wrapped{}.Area(), mid.Total(nil))
            }
        }
        """,
    "top/top.go": """
        package main

        import (
            "example.com/m/base"
            "example.com/m/mid"
        )

        type dot struct{}

        func (dot) Area() int { return base.Origin.Left }

        func main() {
            for key := range mid.First {
                println(key.Size(), mid.Wrapped{}.Area())
            }
        }
        """,
}
#: What is edited: the file, what is replaced in it, and by what; an empty one stands for a whole new file.
EDITS = [
    ("base/base.go", "package base\n", "package base\n\n// moved down\n"),
    ("base/base.go", "int { return s.Side }", "int { return 4 }"),
    ("base/base.go", "type Key", "type Word string\n\nfunc (w Word) Size() int { return 1 }\n\ntype Key"),
    ("base/base.go", "type Index map[Key]int", "type Index map[Word]int"),
    ("base/base.go", "struct{ Left int }{1}", "struct{ Up, Left int }{1, 2}"),
    ("base/base.go", "Shape interface{ Area() int }", "Shape interface {\n\tArea() int\n\tName() string\n}"),
    ("mid/mid.go", 'import "example.com/m/base"', 'import (\n\t"strings"\n\n\t"example.com/m/base"\n)'),
    ("mid/mid.go", "sum := 0", 'sum := strings.Count("a", "b")'),
    ("mid/more.go", "", "package mid\n\nfunc (w Wrapped) Name() string { return name }\n\nvar name = \"\"\n"),
    ("mid/rest_test.go", "", "package mid\n\nfunc more() string { return name }\n"),
    ("top/top.go", "type dot", 'func (dot) Name() string { return "" }\n\ntype dot'),
    ("go.mod", "go 1.21", "go 1.22"),
    ("top/top.go", '"example.com/m/base"\n', '"example.com/m/base"\n\t_ "expvar"\n'),
    ("mid/more.go", "package mid\n", "package other\n"),
    ("base/base.go", "func Keys() Index { return nil }", "func Keys() *Index { return 1 }"),
    ("mid/mid.go", "type Wrapped struct{ base.Square }", "type Wrapped = base.Square"),
    ("base/linux.go", "", "//go:build windows\n\npackage base\n\nfunc Drive() Key { return \"\" }\n"),
]  # fmt: skip
MOVES = [(path, at) for path, versions in VERSIONS.items() for at in range(len(versions))]


@pytest.mark.slow
@given(script=st.lists(st.sampled_from(MOVES), min_size=3, max_size=4))
@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_maintained_facts_equal_rebuilt_facts_after_every_edit_of_a_script(
    tmp_path_factory: pytest.TempPathFactory, script: list[tuple[str, int]]
) -> None:
    need("go")
    check_script(tmp_path_factory.mktemp("project"), VERSIONS, script)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[tuple[GitRepo, Workspace]]:
    need("go")
    with indexed(tmp_path / "m", PROJECT) as project:
        yield project


def test_maintained_facts_equal_rebuilt_facts_after_edits_that_reach_other_packages(
    project: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = project
    for path, old, new in EDITS:
        edit(repo, path, old, new)
        assert updated_group(workspace, "go").how == FOLLOWED, (path, new)
        assert_as_rebuilt(workspace, path, new)


def test_a_body_that_moves_others_derives_its_file_alone(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    edit(repo, "base/base.go", "type Key string", "// a line more\ntype Key string")
    assert [each.path for each in updated_group(workspace, "go").rederived] == ["base/base.go"]


def test_a_module_that_another_requires_is_followed(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    repo.write("dep/go.mod", "module example.com/dep\n\ngo 1.21\n")
    repo.write("dep/dep.go", "package dep\n\nfunc Value() int { return 1 }\n")
    updated_group(workspace, "go")
    edit(
        repo,
        "go.mod",
        "go 1.21\n",
        "go 1.21\n\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => ./dep\n",
    )
    edit(repo, "top/top.go", '"example.com/m/base"\n', '"example.com/m/base"\n\t"example.com/dep"\n')
    edit(repo, "top/top.go", "func main() {", "func main() {\n\tprintln(dep.Value())")
    assert updated_group(workspace, "go").how == FOLLOWED
    line = (repo.path / "top/top.go").read_text().splitlines().index("\tprintln(dep.Value())") + 1
    found = workspace.definition(f"top/top.go:{line}", name="Value", provider="static")
    assert [place.path for place in found.locations] == ["dep/dep.go"]
    assert_as_rebuilt(workspace)
