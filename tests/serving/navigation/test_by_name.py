"""Declarations by name, where nothing resolves."""

from __future__ import annotations

from collections.abc import Callable

from tests.gitrepo import GitRepo

from codenib.core.navigation import Position
from codenib.core.requests import CURRENT
from codenib.serving.navigation.by_name import declarations
from codenib.serving.workspace import Workspace


def test_functions_inside_functions_and_constants_are_declarations(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(
        {"app.py": "LIMIT = 3\n\n\ndef outer():\n    def inner():\n        return LIMIT\n    return inner\n"}
    )
    with Workspace(repository.path) as workspace:
        assert declarations(workspace.snapshots, "inner", CURRENT) == [Position("app.py", 5, 8)]
        assert declarations(workspace.snapshots, "outer.inner", CURRENT) == [Position("app.py", 5, 8)]
        assert declarations(workspace.snapshots, "LIMIT", CURRENT) == [Position("app.py", 1, 0)]
        assert declarations(workspace.snapshots, "nothing", CURRENT) == []
