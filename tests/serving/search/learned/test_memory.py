"""Signals of past fixes: the most similar one, and the words of all."""

from __future__ import annotations

from codenib.serving.search.learned.memory import COLUMNS, Fix, FixMemory

FIXES = (
    Fix("c3", 3, "Rotate the journal when the disk is full", ("a.py", "b.py"), (("a.py", "rotate"),)),
    Fix("c2", 2, "Round amounts of foreign currency", ("money.py",), (("money.py", "amount"),)),
    Fix("c1", 1, "Speed up parsing of dates", ("dates.py",), ()),
)
ISSUE = (
    "The journal is rotated when the disk is full\n\nThe full disk is of foreign origin, disk full again.\n"
)


def _signals(older_than: int = -1) -> dict[str, dict[str, float]]:
    memory = FixMemory(FIXES)
    asked = memory.compare(ISSUE, older_than)
    paths = ["a.py", "money.py", "dates.py", "new.py"]
    rows = memory.of_paths(asked, paths).tolist()
    return {path: dict(zip(COLUMNS, row, strict=True)) for path, row in zip(paths, rows, strict=True)}


def test_what_a_fix_changed_that_says_the_same_comes_first() -> None:
    found = _signals()
    assert found["a.py"] == {"similar": 1.0, "words": 1.0}
    assert 0 < found["money.py"]["similar"] < 1
    assert 0 < found["money.py"]["words"] < 1


def test_what_is_not_older_and_what_no_fix_changed_says_nothing() -> None:
    assert not any(_signals(older_than=1)["money.py"].values())
    assert not any(_signals()["new.py"].values())
