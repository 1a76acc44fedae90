"""Signals of past fixes: of the whole question, of its title, and votes."""

from __future__ import annotations

from codenib.serving.search.learned.memory import COLUMNS, Fix, FixMemory

FIXES = (
    Fix("c3", 3, "Rotate the journal when the disk is full", ("a.py", "b.py"), (("a.py", "rotate"),)),
    Fix("c2", 2, "Round amounts of foreign currency", ("money.py",), (("money.py", "amount"),)),
    Fix("c1", 1, "Speed up parsing of dates", ("dates.py",), ()),
)
ISSUE = (
    "Wrong currency amounts\n\nThe journal shows a full disk and the journal is rotated, disk full again.\n"
)


def _signals(older_than: int = -1) -> dict[str, dict[str, float]]:
    memory = FixMemory(FIXES)
    asked = memory.compare(ISSUE, older_than)
    paths = ["a.py", "money.py", "dates.py", "new.py"]
    rows = memory.of_paths(asked, paths).tolist()
    return {path: dict(zip(COLUMNS, row, strict=True)) for path, row in zip(paths, rows, strict=True)}


def test_the_title_is_compared_on_its_own() -> None:
    found = _signals()
    assert found["money.py"]["title"] == found["money.py"]["title_words"] == 1.0
    assert found["a.py"]["title"] == found["a.py"]["title_words"] == 0.0
    assert found["a.py"]["similar"] > 0


def test_a_fix_of_many_places_gives_each_of_them_less() -> None:
    memory = FixMemory((FIXES[0], Fix("c0", 0, FIXES[0].text, ("c.py",), ())))
    rows = memory.of_paths(memory.compare(FIXES[0].text), ["a.py", "c.py"])
    assert rows[:, COLUMNS.index("similar")].tolist() == [1.0, 1.0]
    assert rows[0, COLUMNS.index("votes")] < rows[1, COLUMNS.index("votes")] == 1.0


def test_what_is_not_older_and_what_no_fix_changed_says_nothing() -> None:
    assert not any(_signals(older_than=1)["money.py"].values())
    assert not any(_signals()["new.py"].values())
