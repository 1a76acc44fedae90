"""A project's files in, a repository whose graph follows edits out; for the tests of each language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import ProviderError
from codenib.core.updates import GraphUpdate, GroupUpdate
from codenib.core.views import ViewKind
from codenib.manifest.home import tools_folder
from codenib.navigation.registry import backends_of
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace

GRAPH = (ViewKind.GRAPH,)
#: Versions of each file; None: it is not there. What an edit does is a change from one to another.
Versions = Mapping[str, Sequence[str | None]]


def need(group: str) -> None:
    """Skip where the engine of a group is not installed."""
    try:
        backends_of(Toolbox(tools_folder()), {group})[group][0].identity()
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")


@contextmanager
def indexed(folder: Path, files: Mapping[str, str | None]) -> Iterator[tuple[GitRepo, Workspace]]:
    """A repository of these files, and its workspace with a graph."""
    repo = GitRepo(folder)
    for path, text in files.items():
        put(repo, path, text)
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        yield repo, workspace


def first_versions(project: Versions) -> dict[str, str | None]:
    return {path: versions[0] for path, versions in project.items()}


def check_script(folder: Path, project: Versions, script: Sequence[tuple[str, int]]) -> None:
    """After each edit (a file and the version that it gets) the facts equal those of a rebuild."""
    with indexed(folder, first_versions(project)) as (repo, workspace):
        for path, at in script:
            put(repo, path, project[path][at])
            workspace.index(GRAPH)
            assert_as_rebuilt(workspace)


def assert_as_rebuilt(workspace: Workspace, *edit: str) -> None:
    """The graph's facts equal those of an independent rebuild; `edit` says after what."""
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == [], edit


def put(repo: GitRepo, path: str, text: str | None) -> None:
    """Write a file, or remove it."""
    if text is None:
        (repo.path / path).unlink(missing_ok=True)
    else:
        repo.write(path, dedent(text).lstrip("\n"))


def edit(repo: GitRepo, path: str, old: str, new: str) -> None:
    """Replace a part of a file once; an empty `old` stands for a whole new file."""
    text = (repo.path / path).read_text() if old else ""
    assert old in text
    repo.write(path, text.replace(old, new, 1) if old else new)


def updated(workspace: Workspace) -> GraphUpdate:
    """Index again: what happened to the graph."""
    done = workspace.maintenance.graph_update(workspace.index(GRAPH))
    assert done is not None
    return done


def updated_group(workspace: Workspace, group: str) -> GroupUpdate:
    """Index again: what happened to the facts of a group."""
    return group_of(updated(workspace), group)


def group_of(update: GraphUpdate, group: str) -> GroupUpdate:
    return next(each for each in update.groups if each.group == group)
