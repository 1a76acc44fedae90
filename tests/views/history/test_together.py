from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.views.history.test_walk import view_of

from codenib.views.history.together import MAX_TOGETHER

Make = Callable[..., GitRepo]


@pytest.fixture
def repo(git_repo: Make) -> GitRepo:
    """`a.py` and its test change together; `log.txt` changes always; `c.py` never with `a.py`."""
    repo = git_repo()
    for n in range(4):
        repo.commit({"a.py": f"{n}\n", "test_a.py": f"{n}\n", "log.txt": f"a{n}\n"}, f"a {n}")
        repo.commit({"c.py": f"{n}\n", "log.txt": f"c{n}\n"}, f"c {n}")
    return repo


def test_companions_change_together_more_than_chance_has_it(repo: GitRepo, tmp_path: Path) -> None:
    view = view_of(repo, tmp_path)
    files = ["a.py", "test_a.py", "log.txt", "c.py"]
    (companion,) = view.cochange("a.py", 5, files)
    assert (companion.path, companion.together, companion.share, companion.lift) == ("test_a.py", 4, 1.0, 2.0)
    assert view.cochange("a.py", 5, ["a.py"]) == []
    assert view.cochange("none", 5, files) == []


def test_a_commit_of_many_files_says_nothing(git_repo: Make, tmp_path: Path) -> None:
    repo = git_repo()
    names = [f"{n}.py" for n in range(MAX_TOGETHER + 1)]
    for n in range(3):
        repo.commit({name: f"{name} {n}\n" for name in names})
    repo.commit({"other": "x\n"})
    assert view_of(repo, tmp_path).cochange("0.py", 5, names) == []


def test_churn_and_recency_follow_a_rename(git_repo: Make, tmp_path: Path) -> None:
    repo = git_repo()
    text = "".join(f"{n}\n" for n in range(20))
    repo.commit({"old.py": text})
    repo.commit({"old.py": text + "more\n"})
    repo.git("mv", "old.py", "new.py")
    repo.commit({})
    repo.commit({"old.py": "another\n"})
    repo.git("commit", "-q", "--allow-empty", "-m", "later", "--date", "2001-01-01")
    view = view_of(repo, tmp_path)
    assert (view.churn("new.py"), view.churn("old.py"), view.churn("none")) == (3, 1, 0)
    assert view.activity("new.py").authors == 1
    assert 0 <= view.recency("new.py") < 1
    assert view.recency("none") == float("inf")


def test_messages_come_newest_first_with_the_files_they_touched(repo: GitRepo, tmp_path: Path) -> None:
    messages = list(view_of(repo, tmp_path).messages())
    assert [message.text for message in messages[:2]] == ["c 3", "a 3"]
    assert messages[1].paths == ("a.py", "log.txt", "test_a.py")
    assert messages[0].author == "Test"
