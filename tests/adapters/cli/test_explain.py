from __future__ import annotations

import pytest

from codenib.adapters.cli.explain import print_update
from codenib.core.updates import (
    BY_REBUILDING,
    FOLLOWED,
    REBUILT,
    UNCHANGED,
    GraphUpdate,
    GroupUpdate,
    Rederived,
    SymbolChange,
)


def test_an_update_says_what_it_derived_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    followed = GroupUpdate(
        "python", FOLLOWED, files=9, rederived=[Rederived("a.py", "edited")], names=["load"], requests=7,
        resolved=3, moved=40, seconds=0.25,
    )  # fmt: skip
    rebuilt = GroupUpdate("go", REBUILT, "go.mod decides what is built", 4, confidence=BY_REBUILDING)
    symbols = [
        SymbolChange("a.py", "load", "function", "affected", 3),
        SymbolChange("a.py", "save", "function", "shifted", 9, 2),
        SymbolChange("a.py", "same", "function", "unchanged", 1),
    ]
    groups = [followed, rebuilt, GroupUpdate("rust", UNCHANGED, files=2)]
    print_update(GraphUpdate("x", "y", groups, symbols, ["b.py"]))
    assert capsys.readouterr().out.splitlines() == [
        "  python: derived 1 of 9 files in 0.25 s, engine was up; exact by construction",
        "    7 requests, 3 occurrences resolved, 40 taken over",
        "    mean something else to other files: load",
        "    a.py: edited",
        "  go: rebuilt, 4 files: go.mod decides what is built",
        "  rust: kept, 2 files; nothing that its engine reads has changed",
        "  a.py: 1 affected, 1 shifted, 1 unchanged",
        "    affected  function load  line 3",
        "    shifted   function save  line 9 by +2",
        "  b.py does not parse: its facts are what the engine reads of it",
    ]


def test_a_graph_built_from_nothing_has_nothing_to_explain(capsys: pytest.CaptureFixture[str]) -> None:
    print_update(None)
    assert "built from nothing" in capsys.readouterr().out
