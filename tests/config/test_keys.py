"""The page on configuration lists every key and every variable that the source reads, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from codenib.config.keys import KEYS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
_VARIABLE = re.compile(r"\bCODENIB_[A-Z][A-Z_]*\b")
#: Set by us for the programs that we start, never read from a person.
INTERNAL = {"CODENIB_CHILD"}


def test_the_page_lists_every_key_and_no_other() -> None:
    listed = {
        name
        for row in re.findall(r"^\| (`[^|]*) \|", PAGE, re.M)
        for name in re.findall(r"`([a-z_.]+)`", row)
    }
    assert listed == {key.name for key in KEYS}


def test_the_page_lists_every_variable_that_the_source_names_and_no_other() -> None:
    sources = [
        path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".js", ".go", ".rs", ".c")
    ]
    named = {name for path in sources for name in _VARIABLE.findall(path.read_text(encoding="utf-8"))}
    assert set(_VARIABLE.findall(PAGE)) == named - INTERNAL


def test_each_variable_of_a_key_stands_in_its_row() -> None:
    rows = [row for row in PAGE.splitlines() if row.startswith("| `")]
    for key in KEYS:
        if key.variable:
            assert any(f"`{key.name}`" in row and f"`{key.variable}`" in row for row in rows), key.name


def test_a_key_of_the_user_alone_is_listed_as_such() -> None:
    ours, theirs = PAGE.split("These stand in your own file alone.")
    for key in KEYS:
        assert f"`{key.name}`" in (theirs if key.users else ours), key.name
