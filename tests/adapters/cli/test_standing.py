"""Paths in and out are as a shell user expects, wherever in the repository one stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.core.errors import InputError

FILES = {
    "src/session.py": "def save_session(store):\n    store.write()\n\n\ndef drop_session(store):\n    pass\n",
    "src/web/login.py": "def login(user):\n    save_session(user)\n",
    "session_notes.py": "def save_session_notes():\n    pass\n",
    ".github/ci.py": "def save_session_log():\n    pass\n",
}


@pytest.fixture
def repository(git_repo: Callable[..., GitRepo], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> GitRepo:
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "no-tools"))
    made = git_repo("project")
    made.commit(FILES, "Add sessions")
    monkeypatch.chdir(made.path / "src")
    return made


def run(*args: str) -> str:
    """What a command prints on standard output."""
    done = CliRunner().invoke(cli, list(args))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.usefixtures("repository")
def test_text_names_paths_from_here_and_json_from_the_root() -> None:
    shown = run("search", "save", "session")
    assert "\nsession.py:1  save_session" in f"\n{shown}"
    assert "../session_notes.py:1" in shown
    paths = {item["path"] for item in json.loads(run("search", "save session", "--json"))["items"]}
    assert {"src/session.py", "session_notes.py"} <= paths
    assert "web/login.py:2:5:     save_session(user)" in run("regex", "save_session.user")
    assert "session.py:1:5  save_session  function" in run("def", "save_session")
    assert "\n            session.py:1-6  +6" in run("history", "session.py")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("path", ["session.py", "src/session.py", "./session.py", "../src/session.py"])
def test_a_path_is_taken_from_here_or_from_the_root(path: str) -> None:
    assert run("read", f"{path}:5") == "5  def drop_session(store):\n"
    assert "drop_session" in run("units", path)
    assert "session.py:1:5" in run("def", f"{path}:1:5")


@pytest.mark.usefixtures("repository")
def test_paths_of_a_question_may_be_here() -> None:
    found = run("regex", "def", "--paths", ".")
    assert [line.split(":")[0] for line in found.splitlines()] == ["session.py", "session.py", "web/login.py"]
    assert "login" in run("regex", "def", "--paths", "web/*.py")
    assert "session_notes" in run("regex", "def", "--paths", "../session_notes.py")
    assert "../.github/ci.py" in run("regex", "def", "--paths", ".github/**")
    assert "session.py" not in run("regex", "def", "--paths", ".", "--paths", "!./session.py")


def test_the_folder_that_is_named_is_where_one_stands(repository: GitRepo) -> None:
    assert "login.py:1" in run("-C", str(repository.path / "src" / "web"), "search", "login", "--paths", ".")
    assert "src/web/login.py:1" in run("-C", str(repository.path), "search", "login", "--paths", ".")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("lines", "first", "last"), [("5-", 5, 6), ("2,5", 2, 5), ("2-5", 2, 5), ("6", 6, 6), ("6:", 6, 6)]
)
def test_lines_are_read_as_they_are_written(lines: str, first: int, last: int) -> None:
    item = json.loads(run("read", f"session.py:{lines}", "--json"))["items"][0]
    assert (item["start_line"], item["end_line"]) == (first, last)


@pytest.mark.usefixtures("repository")
def test_a_folder_is_listed_with_how_many_files_are_below() -> None:
    assert run("read", ".") == "web/  1 files\nsession.py\n"
    assert run("read", "web") == "web/login.py\n"
    listed = json.loads(run("read", "..", "--json"))["items"]
    assert [(entry["path"], entry["files"]) for entry in listed] == [
        (".github/", 1),
        ("src/", 2),
        ("session_notes.py", 1),
    ]


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("typo", ["sesion.py", "src/session.pyy", "docs/session.py"])
def test_a_typo_names_the_nearest_files(typo: str) -> None:
    with pytest.raises(InputError, match=r"near: src/session\.py") as raised:
        run("read", typo)
    assert raised.value.hint == "codenib read src/session.py"


@pytest.mark.usefixtures("repository")
def test_codenib_alone_says_where_one_is_and_what_to_do() -> None:
    shown = run()
    assert "is a git repository with 4 files" in shown
    assert "not indexed yet" in shown
    assert shown.count("  codenib ") == 4
    run("search", "login")
    assert "indexed and fresh" in run()


def test_a_folder_that_does_not_exist_still_gets_a_start(tmp_path: Path) -> None:
    assert "does not exist" in run("-C", str(tmp_path / "nowhere"))


@pytest.mark.parametrize(("typo", "meant"), [("serach", "search"), ("statsu", "status"), ("hist", "history")])
def test_a_mistyped_command_gets_a_suggestion(typo: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"did you mean {meant}") as raised:
        run(typo, "x")
    assert raised.value.hint == f"cli {meant} --help"


@pytest.mark.usefixtures("repository")
def test_no_limit_means_all_in_every_command() -> None:
    run("index", "--views", "lexical,trigram,graph")
    for command in ("search session", "regex def", "symbols s", "refs save_session", "history session.py"):
        answer = json.loads(run(*command.split(), "-k", "0", "--json"))
        assert (answer["truncated"], len(answer["items"])) == (False, answer["total"]), command
        assert answer["items"], command
    assert json.loads(run("callers", "save_session", "-k", "0", "--json"))["truncated"] is False
