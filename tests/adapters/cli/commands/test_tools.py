"""`codenib tools` as a user and a script see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from codenib.navigation.tools.recipes import recipes


def run(*args: str, path: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "codenib", *args],
        capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PATH": path, "CODENIB_TOOLBOX": f"{path}/tools"},
    )  # fmt: skip
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def test_every_tool_is_listed_with_what_installs_it(tmp_path: Path) -> None:
    rows = json.loads(run("tools", "--json", path=str(tmp_path)).stdout)["items"]
    assert [row["name"] for row in rows] == [recipe.name for recipe in recipes()]
    gopls = next(row for row in rows if row["name"] == "gopls")
    assert (gopls["version"], gopls["install"]) == ("", "codenib tools install go")
    text = run("tools", path=str(tmp_path)).stdout
    assert "try: codenib tools install go" in text


def test_a_failed_install_exits_with_4_and_says_why(tmp_path: Path) -> None:
    done = run("tools", "install", "gopls", "--json", path=str(tmp_path), code=4)
    (row,) = json.loads(done.stdout)["items"]
    assert (row["name"], row["done"]) == ("gopls", "failed")
    assert "go is not on the path" in done.stderr


def test_an_unknown_group_exits_with_2(tmp_path: Path) -> None:
    assert "cobol" in run("tools", "install", "cobol", path=str(tmp_path), code=2).stderr
