"""The graph of edited files comes before that of all which the edit reaches, and says what it is behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import places
from tests.views.graph.toy import ToyBackend

from codenib.core.protocols import FactBackend
from codenib.core.symbols import NavigationAnswer
from codenib.core.views import ViewKind
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace

VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH)
FILES = {
    "shop/load.py": "def load_cart(): pass\n",
    "shop/cart.py": "def show_cart(): load_cart()\n",
    "shop/page.py": "def page(): show_cart(); load_cart()\n",
}


class SlowEngine:
    """Tells the edited files first; `meanwhile` is called before the rest."""

    requests = resident_bytes = 0
    alive = True

    def __init__(self, backend: SlowBackend, root: Path) -> None:
        self._backend = backend
        self._root = root
        self._files: list[str] = []
        self._changed: list[str] = []
        self.settled = False

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        self._files, self._changed = list(files), list(changed)

    def early(self) -> tuple[Mapping[str, bytes], frozenset[str]]:
        lines = self._lines()
        return {path: lines[path] for path in self._changed}, frozenset(set(self._files) - {*self._changed})

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[Mapping[str, bytes], frozenset[str]]:
        self._backend.meanwhile()
        self.settled = True
        return self._lines(), frozenset()

    def close(self) -> None:
        self.alive = False

    def _lines(self) -> dict[str, bytes]:
        lines = self._backend.produce(self._root, self._files, lambda *_: None, trusted=False)
        return {json.loads(line)["path"]: line for line in lines}


class SlowBackend(ToyBackend):
    stays = True
    caveat = ""
    reread_files: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], None] = lambda: None

    def __call__(self, tools: Toolbox, languages: Set[str]) -> Mapping[str, Sequence[FactBackend]]:
        return {"toy": [self]}

    def engine(self, root: Path, *, trusted: bool) -> SlowEngine:
        return SlowEngine(self, root)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        return ""


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    made = GitRepo(tmp_path / "shop")
    made.commit(FILES)
    return made


def test_edited_files_answer_before_the_rest_and_the_answer_says_so(repository: GitRepo) -> None:
    backend = SlowBackend()
    seen: list[NavigationAnswer] = []

    def ask() -> None:
        with Workspace(repository.path, find_backends=backend) as other:
            seen.append(other.definition("shop/load.py:2:23"))
            seen.append(other.references("shop/load.py:1:5"))

    with Workspace(repository.path, find_backends=backend) as workspace:
        workspace.index(VIEWS)
        repository.write("shop/load.py", "def empty(): pass\ndef load_cart(): empty()\n")
        backend.meanwhile = ask
        workspace.index(VIEWS)
        backend.meanwhile = lambda: None
        definition, references = seen
        assert (definition.provider, places(definition)) == ("static", [("shop/load.py", 1, 4)])
        assert (references.completeness, references.behind) == ("partial", ("shop/cart.py", "shop/page.py"))
        after = workspace.references("shop/load.py:1:5")
        assert (after.completeness, after.behind) == ("all", ())
        assert workspace.verify([ViewKind.GRAPH])[ViewKind.GRAPH] == []


def test_an_update_that_ends_early_is_made_whole_by_the_next(repository: GitRepo) -> None:
    backend = SlowBackend()
    with Workspace(repository.path, find_backends=backend) as workspace:
        workspace.index(VIEWS)
        repository.write("shop/load.py", "def empty(): pass\ndef load_cart(): empty()\n")

        def end() -> None:
            raise KeyboardInterrupt

        backend.meanwhile = end
        with pytest.raises(KeyboardInterrupt):
            workspace.index(VIEWS)
    backend.meanwhile = lambda: None
    with Workspace(repository.path, find_backends=backend) as later:
        between = later.references("shop/load.py:2:5")
        assert (between.provider, between.completeness) == ("static", "partial")
        assert between.behind == ("shop/cart.py", "shop/page.py")
        later.index(VIEWS)
        assert later.references("shop/load.py:2:5").behind == ()
        assert later.verify([ViewKind.GRAPH])[ViewKind.GRAPH] == []
