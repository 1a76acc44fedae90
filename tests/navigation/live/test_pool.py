"""One server for each root and group."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.navigation.live.conftest import FAKE, fake_command

from codenib.core.errors import InputError, ProviderError
from codenib.core.navigation import Position
from codenib.navigation.live.pool import ServerPool
from codenib.navigation.tools.locate import ExternalTool, Toolbox

HELLO = Position("b.fake", 1, 4)


class FakeTools(Toolbox):
    """Knows the fake server alone."""

    def require(self, name: str) -> ExternalTool:
        return ExternalTool(name, "1", fake_command({}), self.root)


@pytest.fixture
def tools(tmp_path: Path) -> Toolbox:
    return FakeTools(tmp_path)


def test_threads_share_one_server(root: Path, tools: Toolbox) -> None:
    with ServerPool(tools, servers={"fake": FAKE}) as pool:

        def ask(_: int) -> int | None:
            provider = pool.provider(root, "fake")
            provider.definition(HELLO)
            return provider.pid

        with ThreadPoolExecutor(4) as threads:
            assert len(set(threads.map(ask, range(8)))) == 1


def test_another_root_has_another_server(root: Path, tools: Toolbox, tmp_path: Path) -> None:
    with ServerPool(tools, servers={"fake": FAKE}) as pool:
        assert pool.provider(root, "fake") is pool.provider(root / ".", "fake")
        assert pool.provider(root, "fake") is not pool.provider(tmp_path, "fake")
        assert pool.provider(root, "fake") is not pool.provider(root, "fake", trusted=True)


def test_a_closed_pool_runs_nothing(root: Path, tools: Toolbox) -> None:
    pool = ServerPool(tools, servers={"fake": FAKE})
    provider = pool.provider(root, "fake")
    provider.definition(HELLO)
    pool.close()
    assert provider.pid is None
    with pytest.raises(ProviderError):
        pool.provider(root, "fake")


def test_an_unknown_group_is_the_callers_error(root: Path, tools: Toolbox) -> None:
    with ServerPool(tools) as pool, pytest.raises(InputError, match="cobol"):
        pool.provider(root, "cobol")


def test_servers_end_with_the_program_that_forgot_them(root: Path) -> None:
    script = f"""
from pathlib import Path
from tests.navigation.live.test_pool import FAKE, HELLO, FakeTools, ServerPool
pool = ServerPool(FakeTools(Path({str(root)!r})), servers={{"fake": FAKE}})
provider = pool.provider(Path({str(root)!r}), "fake")
provider.definition(HELLO)
print(provider.pid)
"""
    folder = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    assert not Path(f"/proc/{done.stdout.strip()}").exists()
