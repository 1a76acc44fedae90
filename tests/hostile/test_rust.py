"""No program that a Rust repository of a stranger names runs without trust, in facts or live."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.hostile.rust_settings import OVERRULED, REFUSED, write_crate

from codenib.core.errors import ProviderError
from codenib.core.navigation import Position
from codenib.manifest.home import tools_folder
from codenib.navigation.live.pool import ServerPool
from codenib.navigation.live.provider import LiveProvider
from codenib.navigation.live.servers import RUST
from codenib.navigation.rust.backend import RustBackend
from codenib.navigation.rust.setup import environment, refuse_unsafe_settings
from codenib.navigation.tools.locate import Toolbox

HARMLESS = (
    '[build]\nrustflags = ["--cfg", "tokio_unstable", "-Ctarget-cpu=native", "-D", "warnings"]\n'
    '[target.x86_64-unknown-linux-gnu]\nlinker = "clang"\nrustflags = "-C link-arg=-fuse-ld=lld"\n'
    '[alias]\nxtask = "run -p xtask --"\n[unstable]\nbuild-std = ["core"]\n[net]\nretry = 3\n'
)


@pytest.mark.parametrize("case", REFUSED)
def test_settings_that_choose_a_program_are_refused(tmp_path: Path, case: str) -> None:
    own, victim = tmp_path / "own", tmp_path / "victim"
    write_crate(own, victim, REFUSED[case])
    with pytest.raises(ProviderError, match="not trusted") as refusal:
        refuse_unsafe_settings(own)
    assert "--trust" in refusal.value.hint
    # The live server is not even started: this one would leave a file.
    command = (sys.executable, "-c", f"open({str(victim / 'ran')!r}, 'w')")
    with LiveProvider(own, RUST, command) as live, pytest.raises(ProviderError, match="not trusted"):
        live.definition(Position("src/lib.rs", 4, 23))
    assert not (victim / "ran").exists() and not (victim / "written").exists()


def test_settings_in_a_linked_folder_are_refused(tmp_path: Path) -> None:
    write_crate(tmp_path / "own", tmp_path / "victim", {})
    outside = tmp_path / "outside"
    (outside / ".cargo").mkdir(parents=True)
    (outside / ".cargo" / "config.toml").write_text("include = 'x.toml'\n")
    (tmp_path / "own" / "linked").symlink_to(outside)
    with pytest.raises(ProviderError, match="not trusted"):
        refuse_unsafe_settings(tmp_path / "own")


@pytest.mark.parametrize("case", [*OVERRULED, "harmless"])
def test_settings_that_variables_overrule_are_accepted(tmp_path: Path, case: str) -> None:
    write_crate(
        tmp_path / "own",
        tmp_path / "victim",
        {**OVERRULED, "harmless": {".cargo/config.toml": HARMLESS}}[case],
    )
    refuse_unsafe_settings(tmp_path / "own")


def test_the_live_server_gets_the_variables_of_the_facts(tmp_path: Path) -> None:
    write_crate(tmp_path / "own", tmp_path / "victim", {})
    folder = tmp_path / "server"
    told = folder / "told"
    command = (
        sys.executable,
        "-c",
        f"import os; import json; json.dump(dict(os.environ), open({str(told)!r}, 'w'))",
    )
    with (
        LiveProvider(tmp_path / "own", RUST, command, folder=folder) as live,
        pytest.raises(ProviderError),
    ):
        live.definition(Position("src/lib.rs", 4, 23))
    wanted = environment(tmp_path, trusted=False)
    assert wanted["CARGO_NET_OFFLINE"] == "true"
    del wanted["CARGO_TARGET_DIR"]
    given = json.loads(told.read_text())
    assert wanted.items() <= given.items()


@pytest.mark.tools
@pytest.mark.parametrize("case", OVERRULED)
def test_no_program_of_the_repository_runs(tmp_path: Path, case: str) -> None:
    tools = Toolbox(tools_folder())
    if tools.find("rust-analyzer") is None or tools.find("rust-facts") is None:
        pytest.skip("rust-analyzer or rust-facts is not installed")
    own, victim = tmp_path / "own", tmp_path / "victim"
    write_crate(own, victim, OVERRULED[case])
    lines = list(RustBackend(tools).produce(own, ["src/lib.rs"], lambda *_: None, trusted=False))
    assert b"half" in lines[0]
    with ServerPool(tools) as pool:
        [place] = pool.provider(own, "rust").definition(Position("src/lib.rs", 4, 22)).locations
    assert (place.path, place.line) == ("src/lib.rs", 1)
    assert not (victim / "ran").exists()
