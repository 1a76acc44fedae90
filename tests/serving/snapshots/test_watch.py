from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.views.graph.toy import ToyBackend

from codenib.core.protocols import FactBackend, Progress
from codenib.core.updates import Outcome
from codenib.core.views import Status, ViewKind
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.snapshots.watch import watch_repository
from codenib.serving.workspace import Workspace

ALL = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH)
WAIT_S = 60


class Gated(ToyBackend):
    """An engine that can be told to go on only when a gate opens."""

    def __init__(self) -> None:
        super().__init__()
        self.at_work, self.gate = threading.Event(), threading.Event()
        self.gate.set()
        self.forgets = False

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        self.at_work.set()
        assert self.gate.wait(WAIT_S)
        for line in super().produce(root, files, progress, trusted=trusted):
            yield line.replace(b'"pier"', b'"quay"') if self.forgets else line

    def found(self, tools: Toolbox, languages: Set[str]) -> Mapping[str, Sequence[FactBackend]]:
        return {"toy": [self]}


@pytest.fixture
def repo(git_repo: Callable[..., GitRepo]) -> GitRepo:
    made = git_repo()
    made.commit({"a.py": "def pier\n", "b.py": "pier\n"})
    return made


def test_text_of_the_next_edit_is_published_while_an_engine_is_at_work(repo: GitRepo) -> None:
    engine, stop = Gated(), threading.Event()
    reports: list[Outcome] = []
    heard = threading.Condition()

    def report(outcome: Outcome) -> None:
        with heard:
            reports.append(outcome)
            heard.notify_all()

    def texts() -> list[str]:
        return [each.snapshot.id for each in reports if ViewKind.LEXICAL in each.views]

    def graphs() -> list[str]:
        found = [each.manifest.views[ViewKind.GRAPH] for each in reports]
        return [record.snapshot for record in found if record.status is Status.FRESH]

    with Workspace(repo.path, find_backends=engine.found) as workspace:
        workspace.index(ALL)
        loop = threading.Thread(
            target=watch_repository, args=(workspace, report), kwargs={"say": print, "stop": stop}
        )
        loop.start()
        with heard:
            assert heard.wait_for(lambda: reports, WAIT_S)  # nothing to do, and watching
            engine.at_work.clear()
            engine.gate.clear()
            repo.write("a.py", "def pier\ndef first_edit\n")
        assert engine.at_work.wait(WAIT_S)
        repo.write("a.py", "def pier\ndef second_edit\n")
        now = workspace.twin()
        wanted = now._compiler.take().id
        now.close()
        with heard:
            assert heard.wait_for(lambda: wanted in texts(), WAIT_S)
            assert wanted not in graphs()
            engine.gate.set()
            assert heard.wait_for(lambda: wanted in graphs(), WAIT_S)
        stop.set()
        loop.join(WAIT_S)
        assert not loop.is_alive()
        assert workspace.verify(ALL) == {kind: [] for kind in ALL}


def test_an_audit_finds_wrong_facts_and_makes_the_graph_anew(repo: GitRepo) -> None:
    engine = Gated()
    engine.forgets = True
    with Workspace(repo.path, find_backends=engine.found) as workspace:
        workspace.index(ALL)
        engine.forgets = False
        found = workspace.maintenance.audit(sample=1, repair=False)
        assert not found.clean
        assert [group.group for group in found.groups] == ["toy"]
        assert workspace.verify((ViewKind.GRAPH,))[ViewKind.GRAPH] != []
        repaired = workspace.maintenance.audit(sample=1)
        assert (repaired.clean, repaired.repaired) == (False, True)
        assert workspace.maintenance.audit(sample=1).clean
        assert workspace.verify(ALL) == {kind: [] for kind in ALL}
