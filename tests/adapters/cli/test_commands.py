"""The command line as a user and a script see it: real processes, real repositories."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.gitrepo import GitRepo

import codenib
from codenib.adapters.envelopes.envelope import Envelope
from codenib.serving.doctor import Check

FILES = {
    "src/session.py": (
        "def save_session(store):\n    store.write()\n\n\ndef drop_session(store):\n    store.clear()\n"
    ),
    "src/login.py": "from session import save_session\n\n\ndef login(user):\n    save_session(user.store)\n",
}


class Terminal:
    """Runs `codenib` on a repository."""

    def __init__(self, repository: GitRepo) -> None:
        self.repository = repository

    def run(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "codenib", "-C", str(self.repository.path), *args]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == code, f"{args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *args: str, code: int = 0) -> Any:
        return json.loads(self.run(*args, "--json", code=code).stdout)


@pytest.fixture
def terminal(git_repo: Callable[..., GitRepo]) -> Terminal:
    repository = git_repo("project")
    repository.commit(FILES)
    return Terminal(repository)


def test_search_json_has_the_documented_shape(terminal: Terminal) -> None:
    answer = terminal.json("search", "save session", "-k", "1")
    assert list(answer) == [
        "items", "total", "truncated", "snapshot", "freshness", "provider", "seconds", "plan", "coverage",
        "note", "without", "steps", "explained",
    ]  # fmt: skip
    assert answer["snapshot"]["commit"] == terminal.repository.head()
    assert (answer["plan"]["route"], answer["note"], answer["without"]) == ("hybrid", "", [])
    assert answer["truncated"] is True
    (first,) = answer["items"]
    assert {
        key: first[key] for key in ("path", "start_line", "end_line", "symbol", "kind", "level", "language")
    } == {
        "path": "src/session.py",
        "start_line": 1,
        "end_line": 4,
        "symbol": "save_session",
        "kind": "function",
        "level": "L2",
        "language": "python",
    }
    assert first["score"] > 0


def test_the_same_question_gives_the_same_evidence_from_python_and_the_command_line(
    terminal: Terminal,
) -> None:
    answer = terminal.json(
        "search", "save session", "--route", "lexical", "--level", "unit", "--tests", "include"
    )
    with codenib.open(terminal.repository.path) as workspace:
        same = workspace.search("save session", route="lexical", tests="include")
        lines = workspace.regex(r"save_\w+")
    assert answer["items"] == json.loads(msgspec.json.encode(same.items))
    assert answer["snapshot"]["id"] == same.snapshot.id
    assert terminal.json("regex", r"save_\w+")["items"] == json.loads(msgspec.json.encode(lines.items))


def test_a_fresh_repository_has_nothing_added(terminal: Terminal) -> None:
    terminal.run("index")
    status = terminal.json("status")
    assert (status["freshness"]["state"], status["added"]) == ("fresh", 0)
    assert (status["changed"], status["removed"]) == (0, 0)
    terminal.repository.commit({}, "empty")
    update = terminal.json("update")
    reused = dict.fromkeys(("lexical", "trigram", "dense"), "reused")
    assert update["done"] == {**reused, "history": "maintained"}
    assert update["files"]["added"] == 0


def test_people_see_places_source_and_why(terminal: Terminal) -> None:
    done = terminal.run("search", "save session")
    assert "src/session.py:1  save_session" in done.stdout
    assert "1  def save_session(store):" in done.stdout
    assert "matched: save, " in done.stdout
    assert "indexed 2 files" in done.stderr


def test_nonsense_says_so_and_which_files_were_not_searched(terminal: Terminal) -> None:
    done = terminal.run("search", "zzyzx")
    assert done.stdout == ""
    assert done.stderr.endswith("nothing matches\n")
    terminal.repository.write("a.bin", b"zzyzx\0")
    terminal.repository.write("b.bin", b"zzyzx\0\0")
    for command in ("search", "regex"):
        done = terminal.run(command, "zzyzx")
        assert done.stderr.endswith("nothing matches; not searched: 2 binary files\n")
        assert terminal.json(command, "zzyzx")["coverage"]["skipped"] == {"binary": 2}


def test_a_batch_answers_every_row_in_order(terminal: Terminal, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "a", "query": "save session"}\n\n{"id": 7, "query": "login user", "more": 1}\n')
    out = tmp_path / "out.jsonl"
    terminal.run("search", "--batch", str(rows), "--out", str(out), "-k", "3")
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    assert [answer["id"] for answer in answers] == ["a", 7]
    assert answers[0]["items"][0]["symbol"] == "save_session"
    assert answers[1]["items"][0]["symbol"] == "login"


def test_a_bad_row_of_a_batch_is_named_and_nothing_is_written(terminal: Terminal, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "a", "query": "x"}\n{"id": "b"}\n')
    out = tmp_path / "out.jsonl"
    done = terminal.run("search", "--batch", str(rows), "--out", str(out), code=2)
    assert f"{rows}:2" in done.stderr
    assert not out.exists()


def test_regex_finds_lines_with_columns(terminal: Terminal) -> None:
    answer = terminal.json("regex", r"save_\w+")
    assert [(m["path"], m["line"], m["column"]) for m in answer["items"]] == [
        ("src/login.py", 1, 20),
        ("src/login.py", 5, 4),
        ("src/session.py", 1, 4),
    ]
    assert (answer["total"], answer["files"], answer["complete"]) == (3, 2, True)
    assert terminal.json("regex", "SAVE_session")["total"] == 0
    assert terminal.json("regex", "-i", "SAVE_session")["total"] == 3
    assert terminal.json("regex", "-F", "store.write()")["total"] == 1


def test_a_bad_pattern_is_an_input_error(terminal: Terminal) -> None:
    done = terminal.run("regex", "a(b", code=2)
    assert "codenib:" in done.stderr
    assert "try:" in done.stderr


def test_errors_are_json_too_when_asked(terminal: Terminal) -> None:
    body = terminal.json("read", "nowhere.py", code=2)
    assert body["error"]["kind"] == "InputError"
    assert "nowhere.py" in body["error"]["message"]


def test_read_prints_lines_of_the_snapshot(terminal: Terminal) -> None:
    assert (
        terminal.run("read", "src/session.py:5-6").stdout
        == "5  def drop_session(store):\n6      store.clear()\n"
    )
    assert terminal.json("read", "src/session.py:1")["items"][0]["text"] == "def save_session(store):"


def test_units_are_listed(terminal: Terminal) -> None:
    names = [unit["symbol"] for unit in terminal.json("units", "src/session.py")["items"]]
    assert names == ["", "save_session", "drop_session"]


def test_index_update_status_and_verify_agree(terminal: Terminal) -> None:
    first = terminal.json("index")
    assert first["done"] == dict.fromkeys(("lexical", "trigram", "dense", "history"), "built")
    again = terminal.json("update")
    assert (again["changed"], again["derived_blobs"]) == (False, 0)
    terminal.repository.write("src/logout.py", "def logout(user):\n    drop_session(user)\n")
    stale = terminal.json("status")
    assert (stale["freshness"]["state"], stale["added"]) == ("stale", 1)
    update = terminal.json("update")
    maintained = dict.fromkeys(("lexical", "trigram", "dense"), "maintained")
    assert update["done"] == {**maintained, "history": "reused"}
    assert update["derived_blobs"] == 1
    verified = terminal.json("verify")
    assert (verified["clean"], verified["items"], verified["views"]) == (True, [], list(first["done"]))


def test_gc_and_doctor_report(terminal: Terminal) -> None:
    terminal.run("index")
    assert terminal.json("gc")["size_bytes"] > 0
    examined = msgspec.convert(terminal.json("doctor"), Envelope[Check])
    checks = {check.name: check.state for check in examined.items}
    assert checks["git"] == checks["grammars"] == checks["store"] == "ok"
    assert terminal.json("search", "login")["freshness"] == {"state": "fresh", "refreshed": ""}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("search",), "a query, --like FILE:LINE"),
        (("search", "x", "-k", "-1"), "-1 is not in the range"),
        (("search", "x", "--at", "no-such-branch"), "no-such-branch"),
        (("index", "--views", "psychic"), "unknown view: psychic"),
        (("frobnicate",), "there is no command 'frobnicate'"),
    ],
)
def test_bad_input_names_itself_and_the_command_that_helps(
    terminal: Terminal, args: tuple[str, ...], message: str
) -> None:
    done = terminal.run(*args, code=2)
    assert message in done.stderr
    assert "try: " in done.stderr


def test_a_folder_that_does_not_exist_is_an_input_error(tmp_path: Path, terminal: Terminal) -> None:
    terminal.repository.path = tmp_path / "missing"
    assert "does not exist" in terminal.run("status", code=2).stderr


def test_watch_publishes_what_changes(terminal: Terminal) -> None:
    command = [
        sys.executable,
        "-m",
        "codenib",
        "-C",
        str(terminal.repository.path),
        "watch",
        "--once",
        "--json",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert first["done"] == {"lexical": "built", "trigram": "built"}
        terminal.repository.write("src/fresh.py", "def freshly_written():\n    pass\n")
        rows = [json.loads(line) for line in process.stdout]
        assert process.wait(timeout=60) == 0
    assert {"dense", "history"} <= {kind for row in rows for kind in row["done"]}
    answer = terminal.json("search", "freshly written", "--no-refresh")
    assert (answer["items"][0]["path"], answer["without"]) == ("src/fresh.py", [])
