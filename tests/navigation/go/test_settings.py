from __future__ import annotations

import os
from pathlib import Path

import pytest

from codenib.navigation.go.settings import build_settings

_GO = """#!/bin/sh
echo asked >> "$(dirname "$0")/asked"
shift
for name in "$@"; do echo "$name-${GOFLAGS:-none}"; done
"""


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
def test_go_is_asked_again_when_what_it_reads_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, asked, user = tmp_path / "bin" / "go", tmp_path / "bin" / "asked", tmp_path / "env"
    program.parent.mkdir()
    program.write_text(_GO)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GOENV", str(user))
    monkeypatch.delenv("GOFLAGS", raising=False)
    counts = []
    for change in (
        lambda: None,
        lambda: None,
        lambda: user.write_text("GOOS=plan9"),
        lambda: monkeypatch.setenv("GOFLAGS", "-tags=a"),
        lambda: program.write_text(_GO.replace("asked >>", "again >>")),
        lambda: None,
    ):
        change()
        settings = build_settings()
        counts.append(len(asked.read_text().splitlines()))
    assert counts == [1, 1, 2, 3, 4, 4]
    assert "GOOS=GOOS--tags=a" in settings
