"""Java files follow edits: with the real engine, maintained facts equal those of an independent rebuild."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.navigation.following import assert_as_rebuilt, edit, indexed, need, updated_group

from codenib.core.updates import FOLLOWED
from codenib.serving.workspace import Workspace

pytestmark = pytest.mark.tools
BASE, MID, TOP = (f"src/main/java/{name}.java" for name in ("base/Base", "mid/Mid", "top/Top"))
PROJECT = {
    "pom.xml": "<project><artifactId>m</artifactId></project>\n",
    BASE: """
        package base;

        public class Base {
            public int size;
            public java.util.List<Base> all;

            public static Base of(Object any) { return new Base(); }

            public Base next() { return this; }

            public void each(Step step) { step.go(this); }

            public interface Step { void go(Base base); }
        }
        """,
    "src/main/java/base/Other.java": """
        package base;

        public class Other extends Base {
            public int weight;
        }
        """,
    MID: """
        package mid;

        import base.*;

        public class Mid {
            public Base start() { return Base.of("a"); }

            public static int pick(Base base) { return 1; }

            public static int pick(Object any) { return 2; }
        }
        """,
    TOP: """
        package top;

        import mid.Mid;

        class Top {
            int run(Mid mid) {
                var first = mid.start();
                first.each(it -> { System.out.println(it.size); });
                for (var each : first.all) { System.out.println(each.size); }
                return Mid.pick(mid.start().next()) + first.next().size;
            }
        }
        """,
}
#: What is edited: the file, what is replaced in it, and by what; an empty one stands for a whole new file.
EDITS = [
    (BASE, "package base;\n", "package base;\n\n// moved down\n"),
    (BASE, "return this;", "int more = size; return this;"),
    (BASE, "public int size;", "public int width;\n\n    public int size;"),
    (BASE, "List<Base> all", "List<Other> all"),
    (BASE, "Base next()", "Other next()"),
    (BASE, "Step { void go(Base base); }", "Step { void go(Other other); }"),
    ("src/main/java/base/Other.java", " extends Base", ""),
    ("src/main/java/base/Other.java", "Other {", "Other extends Base {"),
    ("src/main/java/mid/Base.java", "", "package mid;\n\npublic class Base {\n    public int size;\n}\n"),
    (MID, "import base.*;", "import base.Base;"),
    (MID, "public static int pick(Base", "static int pick(int a) { return 3; }\n\n    static int pick(Base"),
    (BASE, "of(Object any)", "of(Object any, int more)"),
    (BASE, "public int size;", "public int length;"),
    ("src/test/java/mid/Mid.java", "", "package mid;\n\nclass Mid {\n    Object start() { return 1; }\n}\n"),
    (TOP, "class Top {", "class Top {\n    enum Kind { A, B }\n    Kind kind = Kind.A;"),
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Iterator[tuple[GitRepo, Workspace]]:
    need("java")
    with indexed(tmp_path / "m", PROJECT) as project:
        yield project


def test_maintained_facts_equal_rebuilt_facts_after_edits_that_reach_other_files(
    project: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = project
    for path, old, new in EDITS:
        edit(repo, path, old, new)
        assert updated_group(workspace, "java").how == FOLLOWED, (path, new)
        assert_as_rebuilt(workspace, path, new)
    (repo.path / "src/main/java/mid/Base.java").unlink()
    assert updated_group(workspace, "java").how == FOLLOWED
    assert_as_rebuilt(workspace)


def test_a_body_that_moves_others_derives_its_file_alone(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    edit(repo, BASE, "public Base next() { return this; }", "\n\n    public Base next() { return of(1); }")
    assert [each.path for each in updated_group(workspace, "java").rederived] == [BASE]


def test_build_files_are_followed(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    edit(repo, "pom.xml", "<artifactId>m<", "<artifactId>n<")
    assert updated_group(workspace, "java").how == FOLLOWED
    edit(repo, "src/main/java/pom.xml", "", "<project><artifactId>inner</artifactId></project>\n")
    (repo.path / "pom.xml").unlink()
    edit(repo, MID, "return 1;", "return 2;")
    assert updated_group(workspace, "java").how == FOLLOWED
    assert_as_rebuilt(workspace)


def test_another_kind_of_build_is_more_than_an_edit(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    edit(repo, "build.xml", "", "<project/>\n")
    group = updated_group(workspace, "java")
    assert (group.how != FOLLOWED, "build.xml" in group.why) == (True, True)
