"""Installing tools: complete or not there at all, again only when asked; no registry is needed here."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codenib.core.errors import InputError
from codenib.navigation.tools.install import chosen, install
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.recipes import (
    CargoInstall,
    CustomCommand,
    GoBuild,
    GoInstall,
    Npm,
    Pip,
    Recipe,
)


def made(name: str, script: str, group: str = "wood", *, optional: bool = False, runner: str = "") -> Recipe:
    """A tool that a Python script makes in its folder."""
    return Recipe(
        name, "1.0", group, "", CustomCommand((sys.executable, "-c", script)), "bin/tool", runner=runner,
        optional=optional,
    )  # fmt: skip


MAKE = """
import pathlib
pathlib.Path('bin').mkdir()
pathlib.Path('bin/tool').write_text('made')
"""
COUNT = MAKE + "open(r'{log}', 'a').write('x')\n"


def quiet(_line: str) -> None: ...


def test_an_installed_tool_is_found_and_not_installed_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tools = Toolbox(tmp_path / "tools", [made("saw", COUNT.format(log=log))])
    (first,) = install(tools, ["wood"], quiet)
    assert first.done == "installed"
    assert first.tool is not None
    assert first.tool == tools.require("saw")
    assert first.tool.folder == tmp_path / "tools" / "saw-1.0" / "bin"
    (second,) = install(tools, ["saw"], quiet)
    assert (second.done, log.read_text()) == ("there already", "x")
    (third,) = install(tools, ["saw"], quiet, force=True)
    assert (third.done, log.read_text()) == ("installed", "xx")
    assert sorted(path.name for path in (tmp_path / "tools").iterdir()) == [".lock", "saw-1.0"]


def test_a_failed_install_leaves_nothing_and_shows_the_last_lines(tmp_path: Path) -> None:
    script = MAKE + "for n in range(50): print('line', n)\nraise SystemExit(7)"
    tools = Toolbox(tmp_path / "tools", [made("saw", script)])
    (outcome,) = install(tools, ["saw"], quiet)
    assert outcome.done == "failed"
    assert "ended with 7" in outcome.error
    assert "line 49" in outcome.error
    assert "line 9\n" not in outcome.error
    assert outcome.hint == "codenib tools install wood"
    assert [path.name for path in (tmp_path / "tools").iterdir()] == [".lock"]
    assert tools.find("saw") is None


def test_a_failed_install_again_keeps_the_one_that_was_there(tmp_path: Path) -> None:
    install(Toolbox(tmp_path, [made("saw", MAKE)]), ["saw"], quiet)
    broken = Toolbox(tmp_path, [made("saw", "raise SystemExit(1)")])
    (outcome,) = install(broken, ["saw"], quiet, force=True)
    assert outcome.done == "failed"
    assert broken.find("saw") is not None


def test_one_failure_does_not_stop_the_others(tmp_path: Path) -> None:
    tools = Toolbox(tmp_path, [made("axe", "raise SystemExit(1)"), made("saw", MAKE)])
    assert [outcome.done for outcome in install(tools, ["all"], quiet)] == ["failed", "installed"]


def test_an_install_without_its_program_fails(tmp_path: Path) -> None:
    tools = Toolbox(tmp_path, [made("saw", "print('did nothing')")])
    (outcome,) = install(tools, ["saw"], quiet)
    assert "without bin/tool" in outcome.error


def test_what_a_killed_install_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".partial-saw-0123").mkdir()
    install(Toolbox(tmp_path, [made("saw", MAKE)]), ["saw"], quiet)
    assert not list(tmp_path.glob(".partial-*"))


def test_two_installs_at_once_take_turns(tmp_path: Path) -> None:
    slow = MAKE + "import time; time.sleep(0.3)"
    boxes = [Toolbox(tmp_path, [made("saw", slow)]) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda box: install(box, ["saw"], quiet, force=True), boxes))
    assert [outcome.done for (outcome,) in outcomes] == ["installed", "installed"]


def test_groups_leave_out_what_is_optional(tmp_path: Path) -> None:
    table = [made("saw", MAKE), made("lathe", MAKE, optional=True), made("kiln", MAKE, "clay")]
    tools = Toolbox(tmp_path, table)
    assert [recipe.name for recipe in chosen(tools, ["wood"])] == ["saw"]
    assert [recipe.name for recipe in chosen(tools, ["lathe", "clay"])] == ["lathe", "kiln"]
    assert [recipe.name for recipe in chosen(tools, ["all"])] == ["saw", "kiln"]
    with pytest.raises(InputError, match="glass"):
        chosen(tools, ["glass"])


def test_what_runs_a_tool_is_installed_before_it(tmp_path: Path) -> None:
    tools = Toolbox(tmp_path, [made("saw", MAKE, runner="motor"), made("motor", MAKE, "motors")])
    assert [outcome.name for outcome in install(tools, ["saw"], quiet)] == ["motor", "saw"]
    assert tools.require("saw").command[0].endswith("motor-1.0/bin/tool")


def test_progress_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    install(Toolbox(tmp_path, [made("saw", MAKE)]), ["saw"], said.append)
    assert said[0] == "saw 1.0: installing"
    assert said[-1].startswith("saw 1.0: installed in")


@pytest.mark.parametrize(
    ("source", "lacks"),
    [
        (Npm(("x@1",)), "npm is not on the path"),
        (GoInstall("x@v1"), "go is not on the path"),
        (CargoInstall("x@1", "1.0"), "rustc is not on the path"),
    ],
)
def test_a_missing_package_manager_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Npm | GoInstall | CargoInstall, lacks: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    tools = Toolbox(tmp_path / "tools", [Recipe("saw", "1", "wood", "", source, "saw")])
    (outcome,) = install(tools, ["saw"], quiet)
    assert lacks in outcome.error
    assert outcome.hint


def fake(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!{sys.executable}\nimport sys, os, pathlib\n{script}")
    (folder / name).chmod(0o755)


def test_a_go_program_of_our_own_is_built_from_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, path = tmp_path / "engine", tmp_path / "path"
    source.mkdir()
    path.mkdir()
    (source / "main.go").write_text("package main\n")
    fake(
        path,
        "go",
        "assert os.environ['GOTOOLCHAIN'] == 'local' and pathlib.Path('main.go').exists()\n"
        "assert str(pathlib.Path.cwd()) != " + repr(str(source)) + "\n"
        "out = pathlib.Path(sys.argv[sys.argv.index('-o') + 1])\n"
        "out.parent.mkdir(parents=True); out.write_text('built')\n",
    )
    monkeypatch.setenv("PATH", str(path))
    tools = Toolbox(tmp_path / "tools", [Recipe("facts", "1", "go", "", GoBuild(source), "bin/facts")])
    (outcome,) = install(tools, ["go"], quiet)
    assert outcome.done == "installed", outcome.error
    assert sorted(file.name for file in (tmp_path / "tools" / "facts-1").iterdir()) == [
        "bin",
        "codenib-tool.json",
    ]
    assert [file.name for file in source.iterdir()] == ["main.go"]


def test_an_old_compiler_is_refused_before_a_long_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, "rustc", "print('rustc 1.70.0 (abc 2023-01-01)')\n")
    fake(tmp_path, "cargo", "raise SystemExit('never started')\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    recipe = Recipe("ra", "1", "rust", "", CargoInstall("ra@1", "1.95"), "bin/ra")
    (outcome,) = install(Toolbox(tmp_path / "tools", [recipe]), ["ra"], quiet)
    assert "needs Rust 1.95" in outcome.error
    assert "1.70.0" in outcome.error


def test_wheels_are_unpacked_without_running_their_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel on disk: pip works without a network."""
    import zipfile

    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "sawmill-1.0-py3-none-any.whl", "w") as wheel:
        info = "sawmill-1.0.dist-info"
        wheel.writestr("sawmill/__init__.py", "raise RuntimeError('imported')")
        wheel.writestr("sawmill/bin/saw", "saw")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: sawmill\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    recipe = Recipe("saw", "1.0", "wood", "", Pip(("sawmill==1.0",)), "bin/saw", package="sawmill")
    tools = Toolbox(tmp_path / "tools", [recipe])
    (outcome,) = install(tools, ["wood"], quiet)
    assert outcome.done == "installed", outcome.error
    assert tools.require("saw").folder == tmp_path / "tools" / "saw-1.0" / "sawmill"
