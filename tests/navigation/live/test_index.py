"""Rust by the index of a rust-analyzer on the path: labelled, and without trust nothing is built.

The program is a stand-in that looks how it was started and gives an index of ours.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from tests.navigation.scip.scip_encode import encode

from codenib.core.errors import ProviderError
from codenib.core.facts import WireFacts
from codenib.navigation.live.index import RustAnalyzerIndex
from codenib.navigation.registry import GROUPS
from codenib.navigation.scip.wire import ScipDocument, ScipIndex, ScipOccurrence
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.recipes import RUST_ANALYZER

LOAD = "rust-analyzer cargo app 0.1.0 load()."
INDEX = ScipIndex(
    "rust-analyzer",
    "1.95.0",
    (
        ScipDocument(
            "src/lib.rs",
            "utf-8",
            (ScipOccurrence((0, 3, 0, 7), LOAD, 1), ScipOccurrence((1, 16, 1, 20), LOAD)),
        ),
    ),
)
# It fails unless Cargo is replaced by `true` just where it is offline, which is how it runs without trust.
SERVER = """#!/bin/sh
test "$1" = --version && { echo "rust-analyzer 1.95.0 (5980761 2026-04-14)"; exit; }
if test "$CARGO_NET_OFFLINE" = true
then grep -q '"overrideCommand": \\["[^"]*/true"\\]' "$6" || exit 3
else grep -q overrideCommand "$6" && exit 4
fi
exec cp "$(dirname "$0")/index" "$4"
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "rust-analyzer").write_text(SERVER)
    (folder / "rust-analyzer").chmod(0o755)
    (folder / "index").write_bytes(encode(INDEX))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    source = tmp_path / "app" / "src"
    source.mkdir(parents=True)
    (source / "lib.rs").write_text("fn load() {}\npub fn start() { load() }\n")
    return tmp_path / "app"


def quiet(stage: str, done: int, total: int) -> None: ...


@pytest.mark.parametrize("trusted", [False, True])
def test_an_index_gives_facts_and_builds_only_with_trust(
    tmp_path: Path, server: Path, checkout: Path, trusted: bool
) -> None:
    backend = RustAnalyzerIndex(Toolbox(tmp_path / "tools", [RUST_ANALYZER]))
    assert {**backend.identity(), "options": ""} == {
        "backend": "rust-analyzer scip",
        "version": "1.95.0",
        "options": "",
    }
    (line,) = backend.produce(checkout, ["src/lib.rs"], quiet, trusted=trusted)
    wire = msgspec.json.decode(line, type=WireFacts)
    assert [node.name for node in wire.nodes] == ["load"]


def test_settings_of_a_stranger_are_refused_before_it_starts(
    tmp_path: Path, server: Path, checkout: Path
) -> None:
    (checkout / "rust-analyzer.toml").write_text("")
    backend = RustAnalyzerIndex(Toolbox(tmp_path / "tools", [RUST_ANALYZER]))
    with pytest.raises(ProviderError, match="not trusted"):
        list(backend.produce(checkout, ["src/lib.rs"], quiet, trusted=False))


def test_it_is_the_second_choice() -> None:
    (rust,) = [group for group in GROUPS if group.name == "rust"]
    assert rust.backends == ("rust.backend:RustBackend", "live.index:RustAnalyzerIndex")
