"""A summary says what its snapshot has, and is never taken for that of another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.fleet.search.conftest import TEXT
from tests.gitrepo import GitRepo

import codenib
from codenib.core.errors import StateError
from codenib.core.requests import PUBLISHED
from codenib.core.views import ViewKind
from codenib.fleet.search.members import FleetMember, head_commit, place_of
from codenib.fleet.search.summaries import SummaryCache
from codenib.fleet.search.summary import RepoSummary, short_hashes
from codenib.fleet.search.workspaces import OpenWorkspaces
from codenib.snapshot.repository import locate
from codenib.views.trigram.pattern import compile_pattern

FILES = {
    "a.py": "def parse_header(line):\n    return line.split(':')\n\n\n"
    "def other():\n    return parse_header('x')\n",
    "b.py": "LIMIT = 3\n",
}


def _summary(repository: GitRepo) -> RepoSummary:
    with codenib.open(repository.path) as workspace:
        workspace.index(TEXT)
        return RepoSummary.of(workspace.snapshots.pin(ViewKind.LEXICAL, PUBLISHED)[0])


def test_a_summary_counts_units_files_and_names_of_each_term(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(FILES)

    summary = _summary(repository)

    units, files, named = summary.counts(short_hashes(["header", "limit", "absent"]))
    assert units.tolist() == [2, 1, 0]
    assert files.tolist() == [1, 1, 0]
    assert named.tolist() == [1, 0, 0]
    assert summary.languages == {"python": 2}


def test_a_maintained_view_has_the_summary_of_a_rebuilt_one(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit({**FILES, "gone.py": "def vanished_name():\n    return 1\n"})
    _summary(repository)
    (repository.path / "gone.py").unlink()
    repository.commit({"b.py": "LIMIT = 4\nfloor = 2\n"})

    maintained = _summary(repository)
    with codenib.open(repository.path) as workspace:
        workspace.index(TEXT, rebuild=True)
    rebuilt = _summary(repository)

    assert np.array_equal(maintained.terms, rebuilt.terms)
    assert maintained.unit_counts.tolist() == rebuilt.unit_counts.tolist()
    assert not maintained.counts(short_hashes(["vanished"]))[0].any()


def test_the_trigram_filter_never_excludes_what_is_there(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(FILES)

    summary = _summary(repository)

    assert summary.may_match(compile_pattern("parse_header").need)
    assert summary.may_match(compile_pattern("LIM|nowhere_at_all").need)
    assert summary.may_match(compile_pattern(".").need)
    assert not summary.may_match(compile_pattern("nowhere_at_all").need)


def test_a_summary_comes_back_as_it_was_and_damage_is_refused(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(FILES)
    summary = _summary(repository)

    data = summary.encode()

    assert RepoSummary.decode(data).encode() == data
    with pytest.raises(StateError, match="digest"):
        RepoSummary.decode(data[:-1] + bytes([data[-1] ^ 1]))


def test_a_damaged_or_older_summary_is_made_again(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(FILES)
    first = _summary(repository)
    member = FleetMember("a", repository.path)
    folder = place_of(member.path).store.folder / "summaries"

    assert SummaryCache(OpenWorkspaces().pin).summary_of(member).encode() == first.encode()
    file = next(folder.glob("*.msgpack"))
    file.write_bytes(b"damaged")
    assert SummaryCache(OpenWorkspaces().pin).summary_of(member).encode() == first.encode()

    repository.commit({"c.py": "def later(): ...\n"})
    second = _summary(repository)
    file.rename(folder / f"{second.snapshot}.msgpack")  # the summary of another snapshot, under this name
    current = SummaryCache(OpenWorkspaces().pin).summary_of(member)
    assert current.snapshot == second.snapshot
    assert current.counts(short_hashes(["later"]))[0].tolist() == [1]


@pytest.mark.parametrize("bare", [False, True])
def test_a_member_is_where_its_repository_is_without_asking_git(
    git_repo: Callable[..., GitRepo], bare: bool
) -> None:
    repository = git_repo()
    repository.commit(FILES)
    path = repository.path
    if bare:
        path = path.parent / "mirror.git"
        repository.git("clone", "-q", "--mirror", str(repository.path), str(path))
    located = locate(path)

    place = place_of(path)

    assert (place.store.folder.name, place.worktree) == (located.key, located.worktree_key)
    assert place.git_folder is not None
    assert head_commit(place.git_folder) == repository.head()
    repository.git("pack-refs", "--all")
    assert head_commit(place.git_folder) == repository.head()
