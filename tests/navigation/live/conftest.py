"""The fake server as a provider, and the real ones where they are installed."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from codenib.manifest.home import tools_folder
from codenib.navigation.live.provider import LiveProvider
from codenib.navigation.live.servers import SERVERS, Server, tool_paths
from codenib.navigation.live.session import Timeouts
from codenib.navigation.tools.locate import Toolbox

# Before any test has a home of its own.
_TOOLS = tools_folder()
FAKE = Server(
    group="fake",
    languages=frozenset({"fake"}),
    tool="fake",
    language_ids={".fake": "fake"},
    project_files=frozenset({"fake.toml"}),
    idle_grace_s=0.0,
    nothing="^nothing here$",
)
MakeFake = Callable[..., LiveProvider]
MakeLive = Callable[..., LiveProvider]


def fake_command(plan: Mapping[str, object]) -> tuple[str, ...]:
    """Starts the fake server; without `site`, which costs most of its start."""
    return (sys.executable, "-ISE", str(Path(__file__).with_name("fake_server.py")), json.dumps(plan))


class Watched:
    """Processes that run now; `all_end` waits until they do not, whoever their parent is."""

    def __init__(self, group: int | None) -> None:
        if not hasattr(os, "pidfd_open"):
            pytest.skip("needs Linux to see a process of another parent end")
        stats = [(int(file.parent.name), file.read_text()) for file in Path("/proc").glob("[0-9]*/stat")]
        members = [pid for pid, stat in stats if int(stat.rpartition(")")[2].split()[2]) == group]
        handles: dict[int, int] = {}
        for pid in members:
            with suppress(ProcessLookupError):  # a server's short-lived child ended since it was listed
                handles[pid] = os.pidfd_open(pid)
        self.pids, self._handles = list(handles), list(handles.values())

    def all_end(self) -> bool:
        ended = [bool(select.select([handle], [], [], 30)[0]) for handle in self._handles]
        for handle in self._handles:
            os.close(handle)
        return all(ended)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two files: `hello` is defined in one and used in both."""
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "a.fake").write_text("def hello\nhello\n")
    (folder / "b.fake").write_text("é𝕏 hello é𝕏\n")
    return folder


@pytest.fixture
def fake(root: Path) -> Iterator[MakeFake]:
    """Makes providers of the fake server: `fake({"hang": ...}, times=Timeouts(...))`."""
    made: list[LiveProvider] = []

    def make(
        plan: Mapping[str, object] | None = None,
        *,
        server: Server = FAKE,
        times: Timeouts | None = None,
        watch: bool = True,
        trusted: bool = True,  # it is our own program, and writes where a test tells it
    ) -> LiveProvider:
        command = fake_command(plan or {})
        provider = LiveProvider(root, server, command, times=times, watch=watch, trusted=trusted)
        made.append(provider)
        return provider

    yield make
    for provider in made:
        provider.close()


@pytest.fixture(scope="session")
def tools() -> Toolbox:
    """The tools of this machine."""
    return Toolbox(_TOOLS)


@pytest.fixture
def live(tools: Toolbox) -> Iterator[MakeLive]:
    """Makes providers of real servers: `live("go", root)`; skips where the server is not installed."""
    made: list[LiveProvider] = []

    def make(group: str, root: Path, *, trusted: bool = False) -> LiveProvider:
        server = SERVERS[group]
        wanted = (server.tool, *(tool for _, tool, _ in server.places))
        missing = [name for name in wanted if tools.find(name) is None]
        if missing:
            pytest.skip(f"{', '.join(missing)} not installed: codenib tools install {group}")
        command = tools.require(server.tool).command
        places = {"toolbox": str(tools.root), **tool_paths(server, tools)}
        provider = LiveProvider(root, server, command, places=places, trusted=trusted)
        made.append(provider)
        return provider

    yield make
    for provider in made:
        provider.close()
