"""The table of servers, and how a row becomes a command."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from codenib.navigation.live.servers import CPP, PYTHON, RUST, SERVERS, TYPESCRIPT, launch_of, server_of
from codenib.navigation.tools.recipes import recipes
from codenib.units.languages import BY_NAME
from codenib.units.notebooks import NOTEBOOK

LANGUAGES = sorted({language for server in SERVERS.values() for language in server.languages} - {NOTEBOOK})


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages_of_servers_are_languages_of_units(language: str) -> None:
    server = server_of(language)
    assert language in BY_NAME
    assert server is not None and any(server.language_id(f"a{ext}") for ext in BY_NAME[language].extensions)


def test_a_language_without_a_server_has_none() -> None:
    assert server_of("lua") is None


@pytest.mark.parametrize("group", SERVERS)
def test_every_program_of_a_row_is_a_tool_that_can_be_installed(group: str) -> None:
    server = SERVERS[group]
    assert {server.tool, *(tool for _, tool, _ in server.places)} <= {recipe.name for recipe in recipes()}


@pytest.mark.parametrize("said", ["Found 12 source files", "Found 1 source file", "No source files found."])
def test_python_waits_no_longer_than_its_server_lists_files(said: str) -> None:
    assert re.search(PYTHON.lists, said)


def test_an_argument_whose_place_is_not_known_is_left_out() -> None:
    without = launch_of(CPP, ("clangd",), {}, trusted=False).command
    having = launch_of(CPP, ("clangd",), {"commands": "/db"}, trusted=False).command
    assert set(having) - set(without) == {"--compile-commands-dir=/db"}


def test_an_option_takes_its_place() -> None:
    options = launch_of(TYPESCRIPT, ("x",), {"tsserver": "/ts.js"}, trusted=False).options
    tsserver = options["tsserver"]
    assert isinstance(tsserver, dict) and tsserver["path"] == "/ts.js"


def test_nothing_of_the_repository_runs_without_trust() -> None:
    limited = launch_of(RUST, ("x",), {}, trusted=False)
    assert limited.options["cargo"] == {"buildScripts": {"enable": False}}
    assert limited.options["procMacro"] == {"enable": False}
    assert limited.settings["rust-analyzer"] == limited.options
    assert "python" in launch_of(PYTHON, ("x",), {}, trusted=False).settings


def test_trust_lifts_the_limits() -> None:
    free = launch_of(RUST, ("x",), {}, trusted=True)
    assert free.options == RUST.options
    assert "python" not in launch_of(PYTHON, ("x",), {}, trusted=True).settings


def test_limits_are_laid_over_options_in_depth() -> None:
    row = replace(RUST, options={"cargo": {"features": "all", "buildScripts": {"enable": True}}})
    options = launch_of(row, ("x",), {}, trusted=False).options
    assert options["cargo"] == {"features": "all", "buildScripts": {"enable": False}}
