"""The database of a checkout: nothing of the repository runs to get one unless it is trusted."""

from __future__ import annotations

import json
from pathlib import Path

from codenib.navigation.cpp.database import INFERRED, prepare_database


def test_no_build_code_runs_without_trust(tmp_path: Path) -> None:
    (tmp_path / "a.c").touch()
    (tmp_path / "CMakeLists.txt").write_text(f"file(WRITE {tmp_path}/ran yes)\n")
    prepared = prepare_database(tmp_path, tmp_path / "out", trusted=False)
    assert (prepared.source, prepared.is_inferred("a.c")) == (INFERRED, True)
    assert not (tmp_path / "ran").exists()


def test_a_build_that_cannot_be_configured_leaves_inferred_commands_and_its_reason(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.c").touch()
    (root / "Makefile").write_text("all:\n\ttrue\n")
    prepared = prepare_database(root, tmp_path / "out", trusted=True)
    assert (prepared.source, prepared.reasons) == (INFERRED, ("make: it started no compiler",))
    assert [command.file for command in prepared.commands] == [str(root / "a.c")]


def test_a_database_of_another_project_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "a.c").touch()
    rows = [
        {"directory": "/x", "file": name, "arguments": ["cc", "-DOTHER", name]} for name in ("b.c", "c.c")
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(rows))
    prepared = prepare_database(tmp_path, tmp_path / "out", trusted=False)
    assert prepared.source == INFERRED
    assert "not in the checkout" in prepared.reasons[0]
