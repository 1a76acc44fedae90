"""Which value holds: the default, the user's file, the repository's, the environment, in this order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codenib.compiler.registry import DEFAULT_VIEWS
from codenib.config.keys import BY_NAME, HARMLESS_VIEWS, KEYS
from codenib.config.resolve import repository_settings, resolve, source_settings, user_choice, user_file
from codenib.core.errors import InputError


def held(name: str, repository: str | None = None) -> tuple[object, str, str]:
    data = None if repository is None else repository.encode()
    found = resolve(repository_settings(lambda: data))[name]
    return found.value, found.origin, Path(found.where).name


def test_the_later_comes_before_the_earlier(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert held("search.k") == (10, "default", "")
    (own_home / "codenib.toml").write_text("search.k = 3\n")
    assert held("search.k") == (3, "user", "codenib.toml:1")
    assert held("search.k", "\nsearch.k = 4\n") == (4, "repository", "codenib.toml:2")
    monkeypatch.setenv("CODENIB_SEARCH_K", "6")
    assert held("search.k", "search.k = 4\n") == (6, "environment", "CODENIB_SEARCH_K")
    monkeypatch.setenv("CODENIB_SEARCH_K", "six")
    with pytest.raises(InputError, match=r"CODENIB_SEARCH_K: search.k must be a whole number"):
        held("search.k")


def test_what_the_user_leaves_out_no_repository_takes_back(own_home: Path) -> None:
    (own_home / "codenib.toml").write_text("paths.exclude = ['private/**']\ntests.include = ['qa/**']\n")
    settings = source_settings(lambda: b"paths.exclude = ['gen/**']\ntests.include = ['checks/**']\n")
    assert settings.exclude == ("private/**", "gen/**")
    assert settings.tests == ("checks/**",)
    assert source_settings(lambda: b"paths.exclude = []\n").exclude == ("private/**",)


def test_a_repositorys_file_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODENIB_REPOSITORY_FILE", "off")
    assert not source_settings(lambda: b"paths.exclude = ['**']\nnonsense = 1\n")


def test_a_changed_file_of_the_user_is_read_again(own_home: Path) -> None:
    file = own_home / "codenib.toml"
    assert user_file() == file
    file.write_text("embedder = 'one'\n")
    assert user_choice("embedder") == "one"
    file.write_text("embedder = 'three'\n")
    assert user_choice("embedder") == "three"
    file.unlink()
    assert user_choice("embedder") == ""


def test_a_file_of_the_user_that_is_a_pipe_is_refused_by_name(own_home: Path) -> None:
    os.mkfifo(own_home / "codenib.toml")
    with pytest.raises(InputError, match=r"codenib.toml is not a regular file"):
        user_choice("embedder")


def test_the_users_file_is_in_the_platforms_folder_unless_a_home_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CODENIB_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    monkeypatch.setattr("sys.platform", "linux")
    assert user_file() == Path("/elsewhere/codenib/codenib.toml")


def test_no_variable_stands_for_two_keys_and_defaults_are_those_of_the_product() -> None:
    variables = [key.variable for key in KEYS if key.variable]
    assert len(set(variables)) == len(variables)
    assert BY_NAME["views"].default == HARMLESS_VIEWS == tuple(kind.value for kind in DEFAULT_VIEWS)
