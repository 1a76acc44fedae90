"""A question that names something is answered by its declaration first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.gitrepo import GitRepo

from codenib.core.answers import Answer
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace

USERS = "".join(
    f"def use_{number}(session):\n    return Session(session).open_session(Session)\n\n\n"
    for number in range(12)
)
FILES = {
    "app/users.py": USERS,
    "app/core/sessions.py": (
        "class Session:\n    def __init__(self, session):\n        self.session = session\n\n"
        "    def open_session(self, Session):\n        return Session\n\n\n"
        "def session():\n    return Session\n\n\ndef x():\n    return 1\n"
    ),
    "app/other.py": "class Other:\n    def open_session(self):\n        return 0\n",
    "tests/test_sessions.py": (
        "def make_session_fixture():\n    return Session()\n\n\ndef session():\n    return 2\n"
    ),
    "docs/session.md": "# Session\n\nA Session holds what open_session opened.\n",
    "vendor/lib/only.py": "def only_here_in_vendored_code():\n    return 1\n",
    "app/nested.py": (
        "MOST_SESSIONS = 3\n\n\ndef outer():\n    def patch_sessions():\n        return 1\n    return 2\n"
    ),
    "app/long.py": f"def {'very_' * 20}long_name():\n    return 1\n",
}


@pytest.fixture
def workspace(git_repo: Callable[..., GitRepo]) -> Iterator[Workspace]:
    repository = git_repo("sessions")
    repository.commit(FILES)
    with Workspace(repository.path) as opened:
        opened.index((ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE))
        yield opened


def first(answer: Answer) -> tuple[str, str]:
    return answer.items[0].path, answer.items[0].symbol


@pytest.mark.parametrize("route", ["auto", "lexical", "semantic", "hybrid"])
def test_a_name_brings_its_declaration_first_on_every_route(workspace: Workspace, route: str) -> None:
    assert first(workspace.search("Session", route=route)) == ("app/core/sessions.py", "Session")
    assert first(workspace.search("session", route=route)) == ("app/core/sessions.py", "session")


@pytest.mark.parametrize("query", ["`Session`", "class Session", "sessions.Session", "Session?"])
def test_a_name_may_be_written_as_people_write_it(workspace: Workspace, query: str) -> None:
    assert first(workspace.search(query)) == ("app/core/sessions.py", "Session")


def test_an_owner_chooses_among_declarations_of_one_name(workspace: Workspace) -> None:
    assert first(workspace.search("Other.open_session")) == ("app/other.py", "Other.open_session")
    assert first(workspace.search("Session#open_session()"))[1] == "Session.open_session"
    assert {item.symbol for item in workspace.search("open_session").items[:2]} == {
        "Other.open_session",
        "Session.open_session",
    }


def test_a_name_inside_a_question_counts_when_it_can_only_be_code(workspace: Workspace) -> None:
    assert first(workspace.search("where does make_session_fixture come from"))[1] == "make_session_fixture"
    answer = workspace.search("how does open_session work")
    assert {item.symbol for item in answer.items[:2]} == {"Other.open_session", "Session.open_session"}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("make_session_fixture", "tests/test_sessions.py"),
        ("only_here_in_vendored_code", "vendor/lib/only.py"),
        ("x", "app/core/sessions.py"),
        ("MOST_SESSIONS", "app/nested.py"),
        (f"{'very_' * 20}long_name", "app/long.py"),
    ],
)
def test_folder_and_length_of_a_name_do_not_matter(workspace: Workspace, name: str, path: str) -> None:
    assert first(workspace.search(name)) == (path, name)


def test_a_function_inside_a_function_is_found_at_its_own_lines(workspace: Workspace) -> None:
    best = workspace.search("patch_sessions").items[0]
    assert (best.path, best.symbol, best.start_line, best.end_line) == (
        "app/nested.py",
        "outer.patch_sessions",
        5,
        6,
    )
    text = workspace.texts([best], at_snapshot=workspace.current_snapshot())
    assert text == ["    def patch_sessions():\n        return 1"]


def test_tests_and_prose_come_behind_code_of_the_same_name(workspace: Workspace) -> None:
    paths = [item.path for item in workspace.search("session").items if item.symbol == "session"]
    assert paths == ["app/core/sessions.py", "tests/test_sessions.py"]


def test_paths_and_tests_of_the_caller_hold(workspace: Workspace) -> None:
    inside = workspace.search("Session", paths=["app/users.py"])
    assert {item.path for item in inside.items} == {"app/users.py"}
    without = workspace.search("make_session_fixture", tests="exclude")
    assert "tests/test_sessions.py" not in {item.path for item in without.items}


def test_a_file_is_first_for_what_it_declares(workspace: Workspace) -> None:
    assert workspace.search("Session", level="file").items[0].path == "app/core/sessions.py"
    paths = [item.path for item in workspace.search("Session", level="file").items]
    assert len(paths) == len(set(paths))


def test_scores_never_rise_and_no_result_is_twice(workspace: Workspace) -> None:
    answer = workspace.search("Session", k=20)
    scores = [item.score for item in answer.items]
    assert scores == sorted(scores, reverse=True)
    keys = [(item.path, item.start_line) for item in answer.items]
    assert len(keys) == len(set(keys))


def test_a_name_of_nothing_changes_nothing(workspace: Workspace) -> None:
    assert workspace.search("zzyzx").total == 0


def test_further_units_of_a_file_make_room_for_other_files(workspace: Workspace) -> None:
    answer = workspace.search("session of a user", k=6, route="lexical")
    assert {"app/users.py", "app/core/sessions.py"} <= {item.path for item in answer.items}
    crowded = [item for item in answer.items if item.path == "app/users.py"]
    assert crowded[0].further > 0
    assert all(item.further == 0 for item in crowded[1:])
