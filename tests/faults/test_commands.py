"""Faults at some write steps of commands, by a seeded choice; `make faults` tries all of them."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.injector import KINDS, Injector
from tests.faults.scenarios import SCENARIOS, Place, plainly
from tests.gitrepo import GitRepo

import codenib
from codenib.core.errors import StateError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: seccomp hands the calls over")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)  # a place sets it, and it is given back
    return Place(tmp_path, monkeypatch.setenv)


def test_an_update_with_a_fault_loses_nothing_and_the_next_one_is_clean(place: Place, tmp_path: Path) -> None:
    scenario = SCENARIOS["update"]
    scenario.prepare(place)
    place.save()
    injector = Injector(place.root, tmp_path)
    steps = scenario.run(place, injector).steps
    assert len(steps) > 300
    choice = random.Random(15)
    for kind in KINDS:
        step = choice.choice([step for step in steps if step.can_be(kind)])
        ended = scenario.run(place, injector, (kind, step.number))
        assert not list(scenario.problems(place, ended, kind)), (kind, step)


def test_a_full_disk_still_answers_from_what_is_published_and_says_so(place: Place, tmp_path: Path) -> None:
    scenario = SCENARIOS["search"]
    scenario.prepare(place)
    place.save()
    ended = scenario.run(place, Injector(place.root, tmp_path), ("ENOSPC+", 1))
    assert "the store cannot be written, so files may have changed since" in ended.out
    assert '"state":"unchecked"' in ended.out
    assert not list(scenario.problems(place, ended, "ENOSPC+"))


def test_a_read_only_home_answers_for_files_that_did_not_change(place: Place, tmp_path: Path) -> None:
    scenario = SCENARIOS["search"]
    scenario.prepare(place)
    assert plainly(place, "update")[0] == 0
    place.save()
    ended = scenario.run(place, Injector(place.root, tmp_path), ("EROFS+", 1))
    assert '"state":"fresh"' in ended.out
    assert not list(scenario.problems(place, ended, "EROFS+"))


def test_a_server_whose_indexer_fails_answers_from_what_is_published(place: Place, tmp_path: Path) -> None:
    scenario = SCENARIOS["mcp"]
    scenario.prepare(place)
    place.save()
    injector = Injector(place.root, tmp_path)
    steps = scenario.run(place, injector).steps
    first = next(step for step in steps if "/artifacts/" in step.path)
    ended = scenario.run(place, injector, ("ENOSPC+", first.number))
    assert "the store cannot be written, so files may have changed since" in ended.out
    assert not list(scenario.problems(place, ended, "ENOSPC+"))


def test_a_home_that_is_a_file_is_an_error_that_names_the_variable(
    git_repo: Callable[..., GitRepo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git_repo()
    repo.commit({"pier.rb": "def mooring\nend\n"})
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "file"))
    with pytest.raises(StateError) as caught:
        codenib.open(repo.path).regex("mooring")
    assert "CODENIB_HOME" in caught.value.hint
    assert (tmp_path / "file").read_bytes() == b""
