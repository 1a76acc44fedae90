"""Marks: what a path alone says."""

from __future__ import annotations

import pytest

from codenib.core.source import Mark
from codenib.units.marks import marks_of


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "src/pkg/test/Thing.java",
        "lib/__tests__/x.js",
        "spec/models/user.rb",
        "test_api.py",
        "pkg/api_test.go",
        "app.test.ts",
        "user_spec.rb",
        "app.spec.tsx",
        "src/FooTest.java",
        "Core/ParserTests.cs",
        "conftest.py",
        "benches/run.rs",
        "django/test/client.py",
    ],
)
def test_test_paths_are_marked(path: str) -> None:
    assert marks_of(path) & Mark.TEST


@pytest.mark.parametrize(
    "path",
    [
        "src/_pytest/python.py",
        "latest.java",
        "src/contest.py",
        "inspector.go",
        "src/Latest.java",
        "attest/x.rs",
        "starlette/testclient.py",
        "flask/testing.py",
        "numpy/testing/utils.py",
        "lib/history.bash",
        "src/install.ts",
        "doc/md_docs.go",
        "sql/vendors/DatabaseDialect.kt",
    ],
)
def test_names_that_only_contain_test_are_not_marked(path: str) -> None:
    assert marks_of(path) == Mark.NONE


@pytest.mark.parametrize(
    ("path", "mark"),
    [
        ("examples/oauth/src/main.rs", Mark.EXAMPLE),
        ("docs_src/tutorial/a.py", Mark.EXAMPLE),
        ("vendor/github.com/x/y.go", Mark.VENDORED),
        ("a/node_modules/b/index.js", Mark.VENDORED),
        ("single_include/nlohmann/json.hpp", Mark.VENDORED),
        ("dist/app.js", Mark.GENERATED),
        ("api/v1/thing.pb.go", Mark.GENERATED),
        ("api/thing_pb2.py", Mark.GENERATED),
        ("Form.g.cs", Mark.GENERATED),
        ("static/jquery.min.js", Mark.GENERATED),
        ("package-lock.json", Mark.GENERATED),
        ("Cargo.lock", Mark.GENERATED),
        ("locale/de/django.po", Mark.GENERATED),
        ("README.md", Mark.PROSE),
        ("CHANGELOG", Mark.PROSE),
        ("notes.txt", Mark.PROSE),
        ("docs/conf.py", Mark.EXAMPLE),
        ("docs/api.html", Mark.PROSE),
        ("HISTORY.rst", Mark.PROSE),
    ],
)
def test_other_paths_are_marked(path: str, mark: Mark) -> None:
    assert marks_of(path) == mark


def test_marks_add_up() -> None:
    assert marks_of("vendor/lib/tests/README.md") == Mark.VENDORED | Mark.TEST | Mark.PROSE


@pytest.mark.parametrize(
    "path", ["CMakeLists.txt", "requirements.txt", "requirements-dev.txt", "src/dist/hash.py", ""]
)
def test_ordinary_paths_have_no_mark(path: str) -> None:
    assert marks_of(path) == Mark.NONE
