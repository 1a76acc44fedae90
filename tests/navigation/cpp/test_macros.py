"""What macros take from where they are used."""

from __future__ import annotations

from pathlib import Path

from codenib.navigation.cpp.macros import free_words, free_words_of


def test_parameters_of_a_macro_are_its_own() -> None:
    text = b"#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#  define NEXT() step( \\\n  state)\nint other;\n"
    assert free_words(text) == {"step", "state"}


def test_a_file_that_is_gone_has_no_words(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_bytes(b"#define X total\n")
    assert free_words_of(tmp_path, ["a.h", "gone.h"]) == {"total"}
