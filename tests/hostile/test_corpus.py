"""A few cases of the hostile corpus, each of another family; `make hostile` asks all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.hostile.corpus.__main__ import sample
from tests.hostile.corpus.case import Case
from tests.hostile.corpus.catalogue import CASES
from tests.hostile.corpus.run import run_case

_IN_CI = 14


def test_the_corpus_is_as_large_as_it_is_said_to_be() -> None:
    assert sum(case.is_engine for case in CASES) >= 100
    assert sum(not case.is_engine for case in CASES) >= 150
    assert max(Counter(case.name for case in CASES).values()) == 1


#: Each found something that no other test holds.
_ALWAYS = [case for case in CASES if case.name == "engine go: toolchain"]


@pytest.mark.parametrize("case", _ALWAYS + sample(_IN_CI, seed=1), ids=lambda case: case.name)
def test_a_hostile_repository_runs_writes_and_shows_nothing(tmp_path: Path, case: Case) -> None:
    assert run_case(case, tmp_path).problems == ()
