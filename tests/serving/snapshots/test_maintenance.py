from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from tests.gitrepo import GitRepo
from tests.views.graph.toy import ToyBackend

from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.protocols import FactBackend, Progress
from codenib.core.requests import PUBLISHED
from codenib.core.views import Status, ViewKind
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace

ALL = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH)


class Busy(ToyBackend):
    """An engine during whose work somebody else does something."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        super().__init__()
        self.meanwhile = meanwhile

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        lines = list(super().produce(root, files, progress, trusted=trusted))
        self.meanwhile()
        return iter(lines)

    def found(self, tools: Toolbox, languages: Set[str]) -> Mapping[str, Sequence[FactBackend]]:
        return {"toy": [self]}


def test_an_update_publishes_text_first_and_all_views_of_one_snapshot_at_the_end(
    git_repo: Callable[..., GitRepo],
) -> None:
    repo = git_repo()
    repo.commit({"a.py": "def harbour\n"})
    seen: dict[ViewKind, Status] = {}

    def look() -> None:
        with Workspace(repo.path) as reader:
            manifest = reader.snapshots.pin(ViewKind.LEXICAL, PUBLISHED)[0].manifest
            seen.update({kind: record.status for kind, record in manifest.views.items()})

    busy = Busy(lambda: None)
    with Workspace(repo.path, find_backends=busy.found) as workspace:
        workspace.index(ALL)
        repo.write("a.py", "def harbour\ndef pier\n")
        busy.meanwhile = look
        outcome = workspace.update()
    assert seen == {
        ViewKind.LEXICAL: Status.FRESH, ViewKind.TRIGRAM: Status.FRESH, ViewKind.GRAPH: Status.STALE,
    }  # fmt: skip
    assert set(outcome.views) == set(ALL)
    assert {record.snapshot for record in outcome.manifest.views.values()} == {outcome.snapshot.id}
    assert outcome.changed == 1


def test_text_of_the_next_edit_does_not_wait_for_an_engine_at_work(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"a.py": "def harbour\n"})
    answered: list[str] = []

    def edit_and_ask() -> None:
        repo.write("a.py", "def harbour\ndef lighthouse\n")
        with Workspace(repo.path) as other:
            answered.extend(match.path for match in other.regex("lighthouse").items)

    busy = Busy(lambda: None)
    with Workspace(repo.path, find_backends=busy.found) as workspace:
        workspace.index(ALL)
        repo.write("a.py", "def harbour\ndef pier\n")
        busy.meanwhile = edit_and_ask
        first = workspace.update()
        assert answered == ["a.py"]
        # The graph of the older snapshot was published, and the worktree's head was not set back to it.
        now = workspace.snapshots.pin(ViewKind.LEXICAL, PUBLISHED)[0].manifest
        assert now.snapshot != first.snapshot.id
        assert first.manifest.views[ViewKind.GRAPH].snapshot == first.snapshot.id
        busy.meanwhile = lambda: None
        second = workspace.update()
        assert second.manifest.snapshot == now.snapshot
        assert second.views == {ViewKind.GRAPH: "maintained"}
        assert second.manifest.views[ViewKind.GRAPH].status is Status.FRESH


def test_many_edits_of_text_leave_the_graph_that_the_next_update_follows(
    git_repo: Callable[..., GitRepo],
) -> None:
    repo = git_repo()
    repo.commit({"a.py": "def harbour\n", "notes.md": "# one\n"})
    with Workspace(repo.path, find_backends=Busy(lambda: None).found) as workspace:
        workspace.index(ALL)
        for number in range(40):
            repo.write("notes.md", f"# number {number}\n")
            workspace.maintenance.snapshots.look_again()
            assert workspace.regex(f"number {number}$").total == 1
        assert workspace.update().views[ViewKind.GRAPH] == "maintained"


def test_one_step_is_enough_without_slow_views(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"a.py": "x = 1\n"})
    with Workspace(repo.path) as workspace:
        workspace.index(TEXT_VIEWS)
        repo.write("a.py", "x = 2\n")
        outcome = workspace.update()
    assert set(outcome.views) == {ViewKind.LEXICAL, ViewKind.TRIGRAM}
    assert outcome.changed == 1


def test_text_views_come_with_a_graph_so_that_no_question_by_name_builds_one(
    git_repo: Callable[..., GitRepo],
) -> None:
    repo = git_repo()
    repo.commit({"a.py": "def load\nload\n"})
    engine = Busy(lambda: None)
    with Workspace(repo.path, find_backends=engine.found) as workspace:
        workspace.index([ViewKind.GRAPH])
        published = workspace.maintenance.published()
        assert published is not None
        assert set(published.views) == set(ALL)
        answer = workspace.definition("load")
        assert not answer.refreshed
        rebuilt = workspace.index([ViewKind.GRAPH], rebuild=True)
        assert set(rebuilt.manifest.views) == set(ALL)
