"""The graph of C and C++ follows edits: maintained facts equal those of an independent rebuild."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gitrepo import GitRepo

from codenib.core.protocols import ReportingEngine
from codenib.core.updates import FOLLOWED, REBUILT, UNCHANGED, GroupUpdate
from codenib.core.views import ViewKind
from codenib.manifest.home import tools_folder
from codenib.navigation.cpp.backend import CppBackend
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace

GRAPH = (ViewKind.GRAPH,)
pytestmark = pytest.mark.tools
COMPILED = ("src/area.cpp", "src/main.cpp", "src/sum.c", "tools/check.c")
#: Versions of each file; None: it is not there. What an edit does is a change from one to another.
PROJECT: dict[str, list[str | None]] = {
    "include/shape.h": [
        """
        #pragma once
        #define SIDES 4
        #define TWICE(x) ((x) + (x))
        namespace geo {
        class Shape {
         public:
          virtual ~Shape() = default;
          virtual int area() const = 0;
          int scale(int by);
        };
        template <typename T> struct Box { T value; T get() const { return value; } };
        int total(const Shape& one);
        }
        """,
        """
        #pragma once
        // moved down by a comment
        /* and another */
        #define SIDES 4
        #define TWICE(x) ((x) + (x))
        namespace geo {
        class Shape {
         public:
          virtual ~Shape() = default;
          virtual int area() const = 0;
          int scale(int by);
        };
        template <typename T> struct Box { T value; T get() const { return value; } };
        int total(const Shape& one);
        }
        """,
        """
        #pragma once
        #define SIDES 5
        #define TWICE(x) geo::twice(x)
        namespace geo {
        inline int twice(int x) { return 2 * x; }
        inline long twice(long x) { return 2 * x; }
        struct NamedSymbol { const char* name() const; };
        class Shape : public NamedSymbol {
         public:
          virtual ~Shape() = default;
          virtual long area() const = 0;
          int scale(int by);
          int scale(long by);
        };
        template <typename T> struct Box { T value; auto get() const { return &value; } };
        int total(const Shape& one, int more = 0);
        }
        """,
    ],
    "src/area.cpp": [
        """
        #include "shape.h"
        namespace geo {
        static int helper(int n) { return n + SIDES; }
        int Shape::scale(int by) { return TWICE(by); }
        class Square : public Shape {
         public:
          int area() const override { return side_ * helper(side_); }
         private:
          int side_ = 1;
        };
        int total(const Shape& one) { Square other; return one.area() + other.area(); }
        }
        """,
        """
        #include "shape.h"
        #include "sum.h"
        namespace geo {
        // shifted
        static int helper(int n, int m) { return n + sum(m, SIDES); }
        int Shape::scale(int by) { int twice = by; return TWICE(twice); }
        class Square : public Shape {
         public:
          int area() const override { return side_ * helper(side_, 1); }
         private:
          int side_ = 1;
        };
        }
        """,
    ],
    "src/main.cpp": [
        """
        #include "shape.h"
        #include "sum.h"
        int main() {
          geo::Box<int> box{1};
          auto value = box.get();
          return sum(value, SIDES);
        }
        """,
        """
        #include "shape.h"
        #include "sum.h"
        using geo::Box;
        int run(const geo::Shape& shape) { return geo::total(shape) + TWICE(shape.area()); }
        int main() {
          Box<int> box{1};
          auto value = box.get();
        #if 0
          return total(value);
        #endif
          return sum(1, SIDES) + last(2);
        }
        """,
        "int main() { return sum(\n",
    ],
    "src/sum.h": [
        """
        #ifdef __cplusplus
        extern "C" {
        #endif
        typedef struct pair { int left, right; } pair_t;
        int sum(int left, int right);
        int last(int one);
        #ifdef __cplusplus
        }
        #endif
        """,
        """
        /* shifted */
        #ifdef __cplusplus
        extern "C" {
        #endif
        typedef struct triple { int left, middle, right; } triple_t;
        typedef triple_t pair_t;
        int sum(int left, int right);
        #ifndef QUIET
        int last(int one);
        #endif
        #ifdef __cplusplus
        }
        #endif
        """,
    ],
    # It cannot be read alone: `pair_t` stands before it in the source that includes it.
    "src/late.h": [
        "#pragma once\nint late(pair_t both);\n",
        "#pragma once\n\nextern pair_t spare;\nint late(pair_t both);\n",
    ],
    "src/sum.c": [
        """
        #include "sum.h"
        #include "late.h"
        static int add(pair_t both) { return both.left + both.right; }
        int sum(int left, int right) {
          pair_t both = {.left = left, .right = right};
          return add(both);
        }
        """,
        """
        #define QUIET 1
        #include "sum.h"
        int before;
        #include "late.h"

        static int add(pair_t both) { return both.left + both.right; }
        static int add_all(const int* all) { return all[0]; }
        int sum(int left, int right) {
          pair_t both = {.left = left, .right = right};
          int again = add_all(&left);
          return add(both) + again;
        }
        int last(int one) { return one; }
        """,
    ],
    "tools/check.c": [
        """
        #include "../src/sum.h"
        int last(int one) { return sum(one, one); }
        int main(void) { return last(1); }
        """,
        """
        #include "../src/sum.h"
        int first(int one) { return sum(one, one); }
        int last(int one) { return first(one); }

        int main(void) { pair_t p = {1}; return last(p.right); }
        """,
    ],
    # Not compiled: they have no part in the index.
    "tools/apart.c": [
        '#include "../src/sum.h"\n#include "more.h"\nint main(void) { return more(sum(1, 2)); }\n',
        '#include "../src/sum.h"\n\nint more(int one) { return last(one); }\n',
        None,
    ],
    "tools/more.h": ["int more(int one);\n", "\n\nstatic inline int more(int one) { return one; }\n", None],
    "tools/other.c": [
        '#include "more.h"\nint other(void) { return more(1); }\n',
        "int more(int x) { return x; }\n",
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _clangd() -> None:
    if Toolbox(tools_folder()).find("clangd") is None:
        pytest.skip("clangd is not installed (codenib tools install cpp)")


def put(repo: GitRepo, path: str, text: str | None) -> None:
    if text is None:
        (repo.path / path).unlink(missing_ok=True)
    else:
        repo.write(path, dedent(text).lstrip("\n"))


def started(folder: Path) -> GitRepo:
    repo = GitRepo(folder)
    for path, versions in PROJECT.items():
        put(repo, path, versions[0])
    rows = [
        {
            "directory": str(repo.path),
            "file": path,
            "command": f"{'cc' if path.endswith('.c') else 'c++'} -Iinclude -Isrc -c {path}",
        }
        for path in COMPILED
    ]
    repo.write("compile_commands.json", json.dumps(rows))
    repo.commit()
    return repo


MOVES = [(path, at) for path, versions in PROJECT.items() for at in range(len(versions))]


@pytest.mark.slow
@given(script=st.lists(st.lists(st.sampled_from(MOVES), min_size=1, max_size=3), min_size=3, max_size=4))
@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_maintained_facts_equal_rebuilt_facts_after_every_edit_of_a_script(
    tmp_path_factory: pytest.TempPathFactory, script: list[list[tuple[str, int]]]
) -> None:
    repo = started(tmp_path_factory.mktemp("project"))
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        for edits in script:
            for path, at in edits:
                put(repo, path, PROJECT[path][at])
            workspace.index(GRAPH)
            assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


@pytest.fixture
def project(tmp_path: Path) -> Iterator[tuple[GitRepo, Workspace]]:
    repo = started(tmp_path / "project")
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        yield repo, workspace


def updated(workspace: Workspace) -> GroupUpdate:
    done = workspace.maintenance.graph_update(workspace.index(GRAPH))
    assert done is not None
    return next(group for group in done.groups if group.group == "cpp")


def test_an_edit_of_a_body_derives_its_file_alone(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    text = (repo.path / "tools/check.c").read_text()
    repo.write("tools/check.c", "\n\n" + text.replace("return last(1);", "int x = 2; return last(x);"))
    done = updated(workspace)
    assert (done.how, [(each.path, each.why) for each in done.rederived]) == (
        FOLLOWED,
        [("tools/check.c", "edited")],
    )
    found = workspace.definition("src/sum.h:6", name="last", provider="static")
    assert [(place.path, place.line) for place in found.locations] == [("tools/check.c", 4)]
    callers = workspace.neighbours("last", "callers")  # its prototype in sum.h is no other meaning
    assert [(each.path, each.name) for each in callers.symbols if each.depth] == [("tools/check.c", "main")]
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


def test_a_definition_that_moves_to_another_file_derives_who_names_it(
    project: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = project
    put(repo, "src/main.cpp", PROJECT["src/main.cpp"][1])
    assert updated(workspace).how == FOLLOWED
    text = (repo.path / "tools/check.c").read_text()
    repo.write("tools/check.c", text.replace("int last(int one) { return sum(one, one); }\n", ""))
    repo.write("src/sum.c", (repo.path / "src/sum.c").read_text() + "int last(int one) { return one; }\n")
    done = updated(workspace)
    assert done.how == FOLLOWED
    assert "src/main.cpp" in [each.path for each in done.rederived]
    found = workspace.definition("src/main.cpp:11", name="last", provider="static")
    assert [place.path for place in found.locations] == ["src/sum.c"]
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


def test_a_change_of_how_files_are_compiled_rebuilds_the_group_and_says_why(
    project: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = project
    text = (repo.path / "compile_commands.json").read_text()
    repo.write("compile_commands.json", text.replace("-Iinclude", "-Iinclude -DQUIET"))
    done = updated(workspace)
    assert (done.how, done.why) == (REBUILT, "compile_commands.json decides how files are compiled")
    repo.write("notes.yml", "a: 1\n")
    assert updated(workspace).how == UNCHANGED


def test_a_header_that_only_shifts_leaves_the_answers_of_who_includes_it(
    project: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = project
    put(repo, "include/shape.h", PROJECT["include/shape.h"][1])
    done = updated(workspace)
    assert (done.how, [each.path for each in done.rederived]) == (FOLLOWED, ["include/shape.h"])
    text = (repo.path / "src/sum.h").read_text()
    repo.write("src/sum.h", text.replace("int last(", "int extra(int one);\n/* */ int last("))
    done = updated(workspace)
    assert (done.how, [each.path for each in done.rederived]) == (FOLLOWED, ["src/sum.h"])
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


def test_what_stands_before_a_header_decides_what_it_names(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    found = workspace.definition("src/late.h:2", name="pair_t", provider="static")
    assert [(place.path, place.line) for place in found.locations] == [("src/sum.h", 4)]
    put(repo, "src/sum.c", PROJECT["src/sum.c"][1])
    repo.write("src/sum.c", 'typedef struct { int one; } pair_t;\n#include "late.h"\n')
    assert updated(workspace).how == FOLLOWED
    found = workspace.definition("src/late.h:2", name="pair_t", provider="static")
    assert [(place.path, place.line) for place in found.locations] == [("src/sum.c", 1)]
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


def test_an_edited_header_is_told_before_the_files_that_include_it(tmp_path: Path) -> None:
    repo = started(tmp_path / "project")
    files = sorted(path for path in PROJECT if path.endswith((".c", ".h", ".cpp")))
    engine = CppBackend(Toolbox(tools_folder())).engine(repo.path, trusted=False)
    told = []
    engine.on_progress = lambda stage, done, total: told.append((stage, done, total))
    engine.sync(files, files)
    engine.differing(files, anew=True)
    assert isinstance(engine, ReportingEngine)
    sources = sum(path.endswith((".c", ".cpp")) for path in files)
    assert told == [
        *(("index", at, sources) for at in range(1, sources + 1)),
        *(("names", at, len(files)) for at in range(1, len(files) + 1)),
    ]
    assert engine.early() == ({}, frozenset())
    put(repo, "include/shape.h", PROJECT["include/shape.h"][2])
    engine.sync(files, ["include/shape.h"])
    lines, behind = engine.early()
    assert lines.keys() == {"include/shape.h"}
    assert "twice" in [node[0] for node in json.loads(lines["include/shape.h"])["nodes"]]
    assert behind == {"src/area.cpp", "src/main.cpp"}
    after, _ = engine.differing(files, anew=True)
    engine.close()
    rebuilt = CppBackend(Toolbox(tools_folder())).produce(repo.path, files, lambda *_: None, trusted=False)
    assert sorted(after.values()) == sorted(rebuilt)
