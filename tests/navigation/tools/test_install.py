"""Installing tools: complete or not there at all, again only when asked; no registry is needed here."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codenib.core.errors import InputError
from codenib.navigation.tools.fetch import CRATES
from codenib.navigation.tools.install import chosen, install
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.recipes import CustomCommand, Recipe


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


def test_an_interrupted_install_keeps_what_was_done_and_goes_on_there(tmp_path: Path) -> None:
    """The user's Ctrl-C is an exception wherever we are; here, when the second tool is about to begin."""
    log, said = tmp_path / "log", list[str]()
    table = [made("axe", COUNT.format(log=log)), made("saw", COUNT.format(log=log))]

    def interrupt(line: str) -> None:
        said.append(line)
        if "saw" in line and "installing" in line:
            raise KeyboardInterrupt

    compiled = tmp_path / "tools" / CRATES / "salsa"
    compiled.mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt):
        install(Toolbox(tmp_path / "tools", table), ["wood"], interrupt)
    assert said[0] == "[1/2] axe 1.0: installing"
    assert said[-1] == "interrupted; the same command goes on with saw"
    assert compiled.exists()
    outcomes = install(Toolbox(tmp_path / "tools", table), ["wood"], quiet)
    assert [outcome.done for outcome in outcomes] == ["there already", "installed"]
    assert log.read_text() == "xx"
    assert not compiled.exists()


def test_what_was_compiled_stays_when_a_tool_failed(tmp_path: Path) -> None:
    (tmp_path / CRATES).mkdir()
    install(Toolbox(tmp_path, [made("saw", "raise SystemExit(1)")]), ["saw"], quiet)
    assert (tmp_path / CRATES).exists()
