"""The way back through the versions of a file: what git itself says, and what branches and renames do."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gitrepo import GitRepo
from tests.views.history.histories import Step, import_history, steps
from tests.views.history.test_view import Keeper

from codenib.views.history.read import HistoryView, Past

Make = Callable[..., GitRepo]
Ask = Callable[..., tuple[list[str], bool]]
TEN = "".join(f"line {n}\n" for n in range(1, 11))


def view_of(repo: GitRepo, folder: Path, **options: int) -> HistoryView:
    return HistoryView(Keeper(repo, folder, **options).build(repo.git("rev-parse", "main")))


def blob(repo: GitRepo, path: str) -> str:
    return repo.git("rev-parse", f"main:{path}")


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """The subjects of the commits that touched lines of a file of main, and whether the trail is whole."""

    def asked(
        repo: GitRepo, path: str, first: int = 0, last: int = 0, **options: int
    ) -> tuple[list[str], bool]:
        view = view_of(repo, tmp_path, **options)
        past: Past
        if first:
            (past,) = view.pasts(path, blob(repo, path), [(first, last)])
        else:
            past = view.past_of_file(path, blob(repo, path))
        return [view.touch(made).subject for made in past.touches], past.complete

    return asked


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    drawn=st.lists(steps(merges=False, kinds=("write",)), min_size=3, max_size=12),
    first=st.integers(1, 12),
    size=st.integers(0, 6),
)
def test_on_a_straight_line_it_is_what_git_log_says(drawn: list[Step], first: int, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = GitRepo(Path(folder) / "repo")
        made = import_history(repo, drawn)
        view = view_of(repo, Path(folder))
        for path, lines in made.files[-1].items():
            last = min(first + size, len(lines))
            if first > last:
                continue
            lines_of = f"-L{first},{last}:{path}"
            plain = ("-c", "diff.indentHeuristic=false", "log", "-s", "--format=%H")
            said = repo.git(*plain, lines_of, "main").split()
            (past,) = view.pasts(path, blob(repo, path), [(first, last)])
            assert past.complete
            assert [view.commit_of(each)[0] for each in past.touches] == said


def test_lines_keep_their_past_through_shifts_and_a_rename(git_repo: Make, ask: Ask) -> None:
    repo = git_repo()
    repo.commit({"old.py": TEN}, "create")
    repo.commit({"old.py": TEN.replace("line 7", "LINE 7")}, "touch 7")
    repo.git("mv", "old.py", "new.py")
    repo.commit({}, "move")
    repo.commit({"new.py": "# top\n# top\n" + TEN.replace("line 7", "LINE 7")}, "shift")
    assert ask(repo, "new.py", 9, 9) == (["touch 7", "create"], True)
    assert ask(repo, "new.py", 10, 11) == (["create"], True)
    assert ask(repo, "new.py", 1, 2) == (["shift"], True)
    assert ask(repo, "new.py") == (["shift", "move", "touch 7", "create"], True)


def test_a_merge_leads_to_both_sides_and_is_no_touch(git_repo: Make, ask: Ask) -> None:
    repo = git_repo()
    repo.commit({"a.py": TEN}, "create")
    repo.branch("side")
    repo.commit({"a.py": TEN.replace("line 2\n", "side 2\n")}, "side")
    repo.switch("main")
    repo.commit({"a.py": TEN.replace("line 9\n", "main 9\nmain 9b\n")}, "ours")
    assert repo.merge("side")
    assert ask(repo, "a.py", 2, 2) == (["side", "create"], True)
    assert ask(repo, "a.py", 9, 10) == (["ours", "create"], True)
    assert ask(repo, "a.py", 5, 5) == (["create"], True)
    subjects, complete = ask(repo, "a.py")
    assert (sorted(subjects), complete) == (["create", "ours", "side"], True)


def test_what_one_side_of_a_merge_made_is_not_asked_of_the_other(git_repo: Make, ask: Ask) -> None:
    repo = git_repo()
    repo.commit({"a.py": TEN}, "create")
    repo.branch("side")
    repo.commit({"a.py": TEN.replace("line 5\n", "line 5\nnew\nnew 2\n")}, "add")
    repo.switch("main")
    repo.commit({"a.py": TEN.replace("line 6\n", "LINE 6\n").replace("line 1\n", "LINE 1\n")}, "ours")
    repo.git("merge", "-q", "side", check=False)
    merged = TEN.replace("line 5\n", "line 5\nnew\nnew 2\n")
    merged = merged.replace("line 6\n", "LINE 6\n").replace("line 1\n", "LINE 1\n")
    repo.commit({"a.py": merged}, "merge")
    assert ask(repo, "a.py", 5, 7) == (["add", "create"], True)
    assert ask(repo, "a.py", 6, 7) == (["add"], True)
    assert ask(repo, "a.py", 8, 8) == (["ours", "create"], True)


def test_lines_of_a_merge_alone_are_its_own(git_repo: Make, ask: Ask) -> None:
    repo = git_repo()
    repo.commit({"a.py": TEN}, "create")
    repo.branch("side")
    repo.commit({"b.py": "x\n"}, "side")
    repo.switch("main")
    repo.commit({"c.py": "x\n"}, "ours")
    repo.git("merge", "-q", "--no-commit", "side")
    repo.commit({"a.py": TEN + "evil\n"}, "merge")
    assert ask(repo, "a.py", 11, 11) == (["merge"], True)
    assert ask(repo, "a.py", 3, 3) == (["create"], True)


def test_a_file_made_again_begins_there(git_repo: Make, ask: Ask) -> None:
    repo = git_repo()
    repo.commit({"a.py": TEN}, "first life")
    repo.remove("a.py")
    repo.commit({}, "gone")
    repo.commit({"a.py": "other\n"}, "second life")
    assert ask(repo, "a.py") == (["second life"], True)


def test_going_back_to_an_earlier_content_is_a_touch_each_time(git_repo: Make, ask: Ask) -> None:
    repo = git_repo()
    for message, text in (("one", "x\n"), ("two", "y\n"), ("back", "x\n"), ("again", "y\n")):
        repo.commit({"a.py": text}, message)
    assert ask(repo, "a.py", 1, 1) == (["again", "back", "two", "one"], True)


def test_a_trail_that_leaves_the_window_is_not_complete(git_repo: Make, ask: Ask) -> None:
    repo = git_repo()
    for n in range(4):
        repo.commit({"a.py": f"{n}\n"}, f"{n}")
    assert ask(repo, "a.py", 1, 1, max_commits=2) == (["3", "2"], False)


def test_a_changed_binary_file_is_touched(git_repo: Make, ask: Ask) -> None:
    repo = git_repo()
    repo.commit({"logo": "\0one"}, "draw")
    repo.commit({"logo": "\0two"}, "redraw")
    assert ask(repo, "logo") == (["redraw", "draw"], True)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=st.lists(steps(), min_size=3, max_size=14))
def test_every_trail_of_a_whole_history_is_complete(drawn: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = GitRepo(Path(folder) / "repo")
        made = import_history(repo, drawn)
        view = view_of(repo, Path(folder))
        reachable = set(repo.git("rev-list", "main").split())
        for path, lines in made.files[-1].items():
            ranges = [(n, n) for n in range(1, len(lines) + 1)]
            for past in view.pasts(path, blob(repo, path), ranges):
                assert past.complete
                assert past.touches
                assert {view.commit_of(each)[0] for each in past.touches} <= reachable
