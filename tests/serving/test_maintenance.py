from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tests.gitrepo import GitRepo

from codenib.compiler.compiler import Outcome
from codenib.core.views import Status, ViewKind
from codenib.serving.maintenance import in_two_steps
from codenib.serving.workspace import Workspace

ALL = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH)


def test_text_views_are_published_before_the_graph_and_all_are_of_one_snapshot(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    repo = git_repo()
    repo.commit({"a.rb": "def harbour\nend\n"})
    with Workspace(repo.path) as workspace:
        workspace.index(ALL)
        repo.write("a.rb", "def harbour\nend\n\ndef pier\nend\n")
        seen: list[tuple[tuple[ViewKind, ...], Status]] = []

        def index(views: Sequence[ViewKind]) -> Outcome:
            done = workspace._index(views, None, False)
            seen.append((tuple(views), done.manifest.views[ViewKind.GRAPH].status))
            return done

        outcome = in_two_steps(ALL, index)
    assert seen == [(ALL[:2], Status.STALE), (ALL, Status.FRESH)]
    assert set(outcome.views) == set(ALL)
    assert {record.snapshot for record in outcome.manifest.views.values()} == {outcome.snapshot.id}


def test_one_step_is_enough_without_slow_views(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"a.py": "x = 1\n"})
    with Workspace(repo.path) as workspace:
        workspace.index()
        repo.write("a.py", "x = 2\n")
        outcome = workspace.update()
    assert set(outcome.views) == {ViewKind.LEXICAL, ViewKind.TRIGRAM}
    assert outcome.changed == 1
