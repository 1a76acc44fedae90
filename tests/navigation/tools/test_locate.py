"""Finding tools: the path first when its version is known to work, then the environment, then ours."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codenib.core.errors import InputError, ProviderError
from codenib.navigation.tools.locate import MARKER, Toolbox
from codenib.navigation.tools.recipes import (
    CustomCommand,
    GoBuild,
    Npm,
    Pip,
    Recipe,
    numbers,
    recipes,
    source_version,
)

HAMMER = Recipe(
    "hammer", "2.1.0", "wood", "Wood: nails", CustomCommand(()), program="bin/hammer",
    on_path="hammer", ask=("--version",), known=(("2.0", "3"),),
)  # fmt: skip
NODE = Recipe(
    "node", "24.0.0", "node", "runs", CustomCommand(()), "bin/node", on_path="node", ask=("--version",),
    known=(("20", "27"),),
)  # fmt: skip
PLANE = Recipe(
    "plane", "1.2.3", "wood", "Wood: planks", Npm(Path()), "cli.js", package="node_modules/@wood/plane",
    runner="node", on_path="plane",
)  # fmt: skip


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole path."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(path: Path, prints: str, code: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{prints}'\necho asked >> '{path}.asked'\nexit {code}\n")
    path.chmod(0o755)
    return path


def ours(root: Path, recipe: Recipe, version: str = "") -> Path:
    folder = root / f"{recipe.name}-{recipe.version}"
    started = program(folder / recipe.package / recipe.program, "ours")
    (folder / MARKER).write_text(json.dumps({"name": recipe.name, "version": version or recipe.version}))
    return started


def test_a_program_on_the_path_at_a_known_version_is_used_before_ours(tmp_path: Path, path: Path) -> None:
    mine = program(path / "hammer", "hammer version v2.4.1 (abc)")
    ours(tmp_path / "tools", HAMMER)
    tool = Toolbox(tmp_path / "tools", [HAMMER]).require("hammer")
    assert (tool.version, tool.command, tool.origin) == ("2.4.1", (str(mine),), "path")
    assert tool.folder == path


@pytest.mark.parametrize(("prints", "code"), [("hammer 1.9.0", 0), ("hammer 3.0", 0), ("hammer 2.4.1", 1)])
def test_a_program_of_another_version_or_that_fails_is_passed_over(
    tmp_path: Path, path: Path, prints: str, code: int
) -> None:
    program(path / "hammer", prints, code)
    started = ours(tmp_path / "tools", HAMMER)
    tool = Toolbox(tmp_path / "tools", [HAMMER]).require("hammer")
    assert (tool.version, tool.command, tool.origin) == ("2.1.0", (str(started),), "codenib")


def test_a_program_is_asked_for_its_version_once_until_it_changes(tmp_path: Path, path: Path) -> None:
    hammer = program(path / "hammer", "2.2.0")
    for _ in range(3):
        assert Toolbox(tmp_path, [HAMMER]).require("hammer").version == "2.2.0"
    assert Path(f"{hammer}.asked").read_text() == "asked\n"
    program(path / "hammer", "hammer, a newer one: 2.3.0")
    assert Toolbox(tmp_path, [HAMMER]).require("hammer").version == "2.3.0"


def test_a_missing_tool_names_what_installs_it(tmp_path: Path, path: Path) -> None:
    with pytest.raises(ProviderError, match=r"hammer 2\.1\.0 is not installed") as caught:
        Toolbox(tmp_path, [HAMMER]).require("hammer")
    assert caught.value.hint == "codenib tools install wood"


def test_the_error_tells_of_a_program_that_is_there_but_not_known_to_work(tmp_path: Path, path: Path) -> None:
    program(path / "hammer", "1.0.0")
    with pytest.raises(ProviderError, match=r"hammer is 1\.0\.0, not known to work"):
        Toolbox(tmp_path, [HAMMER]).require("hammer")


def test_a_folder_without_its_mark_or_with_another_is_not_installed(tmp_path: Path, path: Path) -> None:
    started = ours(tmp_path, HAMMER, version="2.0.9")
    assert Toolbox(tmp_path, [HAMMER]).find("hammer") is None
    started.parents[1].joinpath(MARKER).unlink()
    assert Toolbox(tmp_path, [HAMMER]).find("hammer") is None


def test_an_npm_package_on_the_path_is_known_by_its_package_file_and_run_by_node(
    tmp_path: Path, path: Path
) -> None:
    node = program(path / "node", "v22.1.0")
    package = tmp_path / "lib" / "node_modules" / "@wood" / "plane"
    script = program(package / "cli.js", "")
    (package / "package.json").write_text('{"name": "@wood/plane", "version": "1.2.3"}')
    (path / "plane").symlink_to(script)
    tool = Toolbox(tmp_path / "tools", [NODE, PLANE]).require("plane")
    assert tool.command == (str(node), str(script))
    assert (tool.folder, tool.version, tool.origin) == (package, "1.2.3", "path")
    (package / "package.json").write_text('{"name": "@wood/plane", "version": "1.2.4"}')
    assert Toolbox(tmp_path / "tools", [NODE, PLANE]).find("plane") is None


def test_a_tool_within_another_is_started_by_that_one_before_the_path(tmp_path: Path, path: Path) -> None:
    program(path / "hammer", "2.2.0")
    inside = replace(HAMMER, within="bench", arguments=("hammer",))
    bench = Recipe("bench", "9", "wood", "", CustomCommand(()), program="bin/bench")
    tools = Toolbox(tmp_path / "tools", [bench, inside])
    assert tools.require("hammer").origin == "path"
    started = ours(tmp_path / "tools", bench)
    tool = Toolbox(tmp_path / "tools", [bench, inside]).require("hammer")
    assert (tool.version, tool.command) == ("2.1.0", (str(started), "hammer"))


def test_a_script_without_its_runner_says_so(tmp_path: Path, path: Path) -> None:
    ours(tmp_path, PLANE)
    with pytest.raises(ProviderError, match="node is missing"):
        Toolbox(tmp_path, [NODE, PLANE]).require("plane")


def test_a_package_of_the_running_environment_is_used(tmp_path: Path, path: Path) -> None:
    wheel = Recipe(
        "click", "0", "x", "", Pip(Path()), "core.py", package="click", module="click", distribution="click",
        known=(("1", "99"),),
    )  # fmt: skip
    tool = Toolbox(tmp_path, [wheel]).require("click")
    assert tool.origin == "python environment"
    assert tool.folder.name == "click"


def test_an_unknown_name_is_the_callers_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="saw"):
        Toolbox(tmp_path).find("saw")


def test_the_report_has_every_tool_with_its_command(tmp_path: Path, path: Path) -> None:
    program(path / "hammer", "1.0.0")
    program(path / "node", "v20.20.2")
    rows = {row.name: row for row in Toolbox(tmp_path, [HAMMER, NODE]).report()}
    assert (rows["node"].version, rows["node"].origin, rows["node"].note) == ("20.20.2", "path", "")
    assert rows["hammer"].version == ""
    assert rows["hammer"].install == "codenib tools install wood"
    assert "1.0.0" in rows["hammer"].note


def test_every_recipe_accepts_its_version_and_its_runner_is_a_tool() -> None:
    names = [recipe.name for recipe in recipes()]
    assert len(names) == len(set(names))
    for recipe in recipes():
        assert recipe.accepts(recipe.version)
        assert not recipe.runner or recipe.runner in names


def test_versions_compare_by_number() -> None:
    assert numbers("0.9.1") < numbers("v0.21.1") < numbers("1.0")
    assert HAMMER.accepts("2.10.0")
    assert not HAMMER.accepts("")


def test_a_program_of_our_own_has_the_version_of_its_source_without_tests(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text("package main\n")
    first = source_version(tmp_path)
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "built").write_text("x")
    (tmp_path / "main_test.go").write_text("package main\n")
    assert source_version(tmp_path) == first
    (tmp_path / "main.go").write_text("package main // changed\n")
    assert source_version(tmp_path) != first
    assert GoBuild(tmp_path).source == tmp_path
