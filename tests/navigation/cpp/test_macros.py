"""What macros take from where they are used."""

from __future__ import annotations

from pathlib import Path

from codenib.navigation.cpp.macros import MacroWords

TEXT = (
    b"#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#  define NEXT() step( \\\n  state)\n"
    b"#define GO NEXT()\nint other;\n"
)


def test_a_macro_takes_the_words_of_its_body_that_are_no_parameters(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_bytes(TEXT)
    words = MacroWords(tmp_path, ["a.h", "gone.h"])
    assert words.used_in("int x = MAX(state, 2);") == set()
    assert words.used_in("NEXT();") == {"step", "state"}


def test_a_macro_that_expands_another_takes_its_words_too(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_bytes(TEXT)
    assert MacroWords(tmp_path, ["a.h"]).used_in("{ GO; }") == {"NEXT", "step", "state"}
