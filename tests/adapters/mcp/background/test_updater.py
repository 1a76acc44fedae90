"""The server's graph follows edits beside it, with engines that stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.adapters.mcp.server_context import ServerContext
from codenib.core.errors import ProviderError
from codenib.core.views import ViewKind
from codenib.manifest.home import tools_folder
from codenib.navigation.registry import backends_of
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace

_BOX = os.environ["CODENIB_TOOLBOX"]  # as the tests of engines have it


@pytest.fixture
def engines(no_engines: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODENIB_TOOLBOX", _BOX)
    return tools_folder()


@pytest.mark.tools
def test_edits_are_answered_from_the_graph_that_the_updater_publishes(shop: GitRepo, engines: Path) -> None:
    try:
        backends_of(Toolbox(engines), {"python"})["python"][0].identity()
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    shop.commit({"pier.py": "def pier():\n    return 1\n", "use.py": "from pier import pier\n\npier()\n"})
    with Workspace(shop.path) as workspace:
        workspace.index((ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH))
    command = [sys.executable, "-m", "codenib.adapters.mcp.background.updater", str(shop.path)]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as updater,
        Workspace(shop.path) as workspace,
    ):
        assert updater.stdin is not None
        assert updater.stdout is not None
        assert updater.stdout.readline() == b"ready\n"
        for turn in range(1, 4):
            shop.write("pier.py", "# moved\n" * turn + "def pier():\n    return 1\n")
            workspace.maintenance.snapshots.look_again()
            answer = workspace.neighbours("pier", "callers")
            assert [(each.path, each.line) for each in answer.symbols[1:]] == [("use.py", 1)]
            found = workspace.definition("use.py:3", name="pier")
            assert (found.provider, [place.line for place in found.locations]) == ("static", [turn + 1])
        assert workspace._compiler.graph._pool.running == 0
        updater.stdin.close()
        assert updater.wait(60) == 1


def test_the_server_has_an_updater_once_there_is_a_graph_and_ends_it(shop: GitRepo) -> None:
    context = ServerContext(shop.path)
    try:
        context._prepare()
        none = context._updater
        assert none is None
        with context.workspace() as workspace:
            workspace.index((ViewKind.GRAPH,))
        context.require(ViewKind.GRAPH)
        updater = context._updater
        assert updater is not None
        assert updater.poll() is None
    finally:
        context.close()
    assert updater.poll() is not None
