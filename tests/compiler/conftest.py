"""Repositories and compilers for the tests of the compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.compiler.compiler import IndexCompiler, silent
from codenib.core.protocols import ViewMaintainer
from codenib.core.views import ViewKind
from codenib.manifest.store import Store
from codenib.snapshot.repository import locate

Compile = Callable[..., IndexCompiler]


@pytest.fixture
def harbour(git_repo: Callable[..., GitRepo]) -> GitRepo:
    """A small committed repository."""
    repo = git_repo("harbour")
    repo.commit(
        {
            "harbour.py": "def dock(ship):\n    return pier(ship)\n",
            "pier.py": "def pier(ship):\n    return ship.length\n",
            "README.md": "# Harbour\n\nShips dock at the pier.\n",
        }
    )
    return repo


@pytest.fixture
def compiler_of() -> Compile:
    """Makes the compiler of a repository: `compiler_of(path, builders={...})`."""

    def make(path: Path, builders: Mapping[ViewKind, ViewMaintainer] | None = None) -> IndexCompiler:
        repository = locate(path)
        return IndexCompiler(repository, Store(repository.key), silent, builders)

    return make
