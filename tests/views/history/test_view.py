"""The history view for the compiler: what it holds; maintained equals rebuilt on random histories."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gitrepo import GitRepo
from tests.views.conftest import Sources
from tests.views.history.histories import Edit, Step, import_history, steps

from codenib.compiler.compiler import silent
from codenib.core.errors import CannotMaintain, StateError
from codenib.core.history import Commit
from codenib.core.source import Delta, SourceSnapshot
from codenib.snapshot.history import CommitLog
from codenib.snapshot.repository import locate
from codenib.views.history.artifact import read_artifact
from codenib.views.history.read import HistoryView
from codenib.views.history.view import HistoryViewBuilder

Make = Callable[..., GitRepo]


LINE = Step((1,), (Edit("write", 0, 3, 1),), 60, "line")


class CountingLog(CommitLog):
    """Remembers which commits were read."""

    def __init__(self, repo: GitRepo) -> None:
        super().__init__(locate(repo.path))
        self.read_ids: list[str] = []

    def read(self, ids: Sequence[str]) -> Iterator[Commit]:
        self.read_ids += ids
        return super().read(ids)


class Keeper:
    """Builds and maintains views of one repository in folders of their own."""

    def __init__(self, repo: GitRepo, folder: Path, max_commits: int = 100) -> None:
        self.log = CountingLog(repo)
        self.builder = HistoryViewBuilder(self.log, max_commits, silent)
        self._folder = folder

    def build(self, commit: str | None) -> Path:
        out = self._out()
        self.builder.build(SourceSnapshot("x", commit, False, {}), Sources(), out)
        return out

    def maintain(self, base: Path, commit: str) -> Path:
        out = self._out()
        self.builder.maintain(base, Delta("x", "y", commit=commit), Sources(), out)
        return out

    def _out(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self._folder))


@pytest.fixture
def keeper(git_repo: Make, tmp_path: Path) -> Callable[..., Keeper]:
    return lambda repo, **options: Keeper(repo, tmp_path, **options)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    # A long straight line first, so that small steps leave most of a segment alive.
    drawn=st.lists(steps(), min_size=2, max_size=14).map(lambda more: [LINE] * 12 + more),
    visits=st.lists(st.integers(0, 15), min_size=1, max_size=6),
    max_commits=st.sampled_from([3, 12, 100]),
)
def test_maintained_equals_rebuilt(drawn: list[Step], visits: list[int], max_commits: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = GitRepo(Path(folder) / "repo")
        made = import_history(repo, drawn)
        keeper = Keeper(repo, Path(folder), max_commits)
        view = keeper.build(made.ids[-1 - visits[0] % len(made.ids)])
        for visit in visits[1:]:
            commit = made.ids[-1 - visit % len(made.ids)]
            view = keeper.maintain(view, commit)
            rebuilt = keeper.build(commit)
            assert list(keeper.builder.differences(view, rebuilt)) == []
            assert list(HistoryView(view).messages()) == list(HistoryView(rebuilt).messages())
            assert HistoryView(view).commit_count == HistoryView(rebuilt).commit_count


def test_only_new_commits_are_read(git_repo: Make, keeper: Callable[..., Keeper]) -> None:
    repo = git_repo()
    for n in range(5):
        repo.commit({"a.py": f"{n}\n"})
    kept = keeper(repo)
    base = kept.build(repo.head())
    kept.log.read_ids.clear()
    new = repo.commit({"a.py": "new\n"})
    view = read_artifact(kept.maintain(base, new))
    assert kept.log.read_ids == [new]
    assert (view.tip.commit, view.commit_count, view.tip.reachable) == (new, 6, 6)


def test_an_amended_commit_is_one_commit_read(git_repo: Make, keeper: Callable[..., Keeper]) -> None:
    repo = git_repo()
    repo.commit({"a.py": "1\n"})
    old = repo.commit({"a.py": "2\n"}, "tpyo")
    kept = keeper(repo)
    base = kept.build(old)
    kept.log.read_ids.clear()
    repo.git("commit", "-q", "--amend", "-m", "typo")
    view = HistoryView(kept.maintain(base, repo.head()))
    assert kept.log.read_ids == [repo.head()]
    assert [message.text for message in view.messages()] == ["typo", "commit"]


def test_going_back_and_forth_reads_nothing_again(git_repo: Make, keeper: Callable[..., Keeper]) -> None:
    repo = git_repo()
    ids = [repo.commit({"a.py": f"{n}\n"}) for n in range(12)]
    kept = keeper(repo)
    here = kept.build(ids[-1])
    kept.log.read_ids.clear()
    there = kept.maintain(here, ids[-2])
    again = kept.maintain(there, ids[-1])
    assert kept.log.read_ids == []
    assert read_artifact(again).commit_count == 12
    assert list(kept.builder.differences(again, here)) == []


def test_a_full_window_lets_the_oldest_go(git_repo: Make, keeper: Callable[..., Keeper]) -> None:
    repo = git_repo()
    ids = [repo.commit({"a.py": f"{n}\n"}) for n in range(4)]
    kept = keeper(repo, max_commits=3)
    view = read_artifact(kept.maintain(kept.build(ids[2]), ids[3]))
    assert {commit for _, commit in view.aged()} == set(ids[1:])
    assert (view.commit_count, view.tip.reachable) == (3, 4)


def test_what_git_has_forgotten_cannot_be_followed(git_repo: Make, keeper: Callable[..., Keeper]) -> None:
    repo, other = git_repo(), git_repo("other")
    repo.commit({"a.py": "1\n"})
    base = keeper(other).build(other.commit({"b.py": "1\n"}))
    with pytest.raises(CannotMaintain):
        keeper(repo).maintain(base, repo.head())


def test_differences_name_the_commit(git_repo: Make, keeper: Callable[..., Keeper]) -> None:
    repo = git_repo()
    first, second = repo.commit({"a.py": "1\n"}), repo.commit({"a.py": "2\n"})
    kept = keeper(repo)
    lines = list(kept.builder.differences(kept.build(first), kept.build(second)))
    assert len(lines) == 2
    assert lines[1] == f"{second}: only in the second"


def test_many_small_updates_keep_few_segments(git_repo: Make, keeper: Callable[..., Keeper]) -> None:
    repo = git_repo()
    kept = keeper(repo)
    view = kept.build(repo.commit({"a.py": "0\n"}))
    for n in range(12):
        view = kept.maintain(view, repo.commit({"a.py": f"{n + 1}\n"}))
        assert len(read_artifact(view).segments) <= 5


def test_a_shallow_clone_says_what_it_lacks(
    git_repo: Make, keeper: Callable[..., Keeper], tmp_path: Path
) -> None:
    repo = git_repo()
    for n in range(3):
        repo.commit({"a.py": f"{n}\n"})
    clone = repo.clone(tmp_path / "clone", "--depth", "1")
    kept = keeper(clone)
    (tmp_path / "out").mkdir()
    facts = kept.builder.build(SourceSnapshot("x", clone.head(), False, {}), Sources(), tmp_path / "out")
    assert "unshallow" in facts.lacks
    shallow = kept.builder.profile()
    clone.git("fetch", "-q", "--unshallow")
    assert kept.builder.profile() != shallow


def test_without_a_commit_the_history_is_empty_and_the_first_one_is_read(
    git_repo: Make, keeper: Callable[..., Keeper]
) -> None:
    repo = git_repo()
    kept = keeper(repo)
    empty = kept.build(None)
    assert (HistoryView(empty).commit_count, HistoryView(empty).churn("a.py")) == (0, 0)
    with pytest.raises(CannotMaintain):
        kept.maintain(empty, repo.commit({"a.py": "1\n"}))


def test_commits_without_objects_are_counted_and_left_out(
    git_repo: Make, keeper: Callable[..., Keeper], tmp_path: Path
) -> None:
    repo = git_repo()
    for n in range(4):
        repo.commit({"a.py": f"{n}\n"})
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = repo.clone(tmp_path / "clone", "--filter=blob:none")
    kept = keeper(clone)
    (tmp_path / "out").mkdir()
    facts = kept.builder.build(SourceSnapshot("x", clone.head(), False, {}), Sources(), tmp_path / "out")
    assert facts.counts == {"commits": 0, "reachable commits": 4, "commits left out": 4}
    assert "4 commits whose objects git does not have" in facts.lacks
    (tmp_path / "next").mkdir()
    delta = Delta("x", "y", commit=clone.commit({"b.py": "1\n"}))
    facts = kept.builder.maintain(tmp_path / "out", delta, Sources(), tmp_path / "next")
    assert facts.counts == {"commits": 1, "reachable commits": 5, "commits left out": 4}


def test_a_damaged_artifact_is_a_state_error(tmp_path: Path) -> None:
    (tmp_path / "history.json").write_bytes(b'{"format": 9}')
    with pytest.raises(StateError):
        HistoryView(tmp_path)
