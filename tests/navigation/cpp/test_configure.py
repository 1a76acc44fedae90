"""New compilation databases: read from what make would run, or the reason why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.core.errors import ProviderError
from codenib.navigation.cpp.configure import configure, dry_run_entries


def test_compile_commands_are_read_from_a_dry_run(tmp_path: Path) -> None:
    output = (
        "make: Entering directory '/t'\n"
        "echo '  CC a.o'; gcc -DX=1 -c -o a.o a.c\n"
        "make[1]: Entering directory '/t/lib'\n"
        "if x86_64-linux-gnu-g++-12 -c \\\n b.cc; then true; fi\n"
        "make[1]: Leaving directory '/t/lib'\n"
        "gcc -o all a.o\n"
    )
    rows = list(dry_run_entries(output, tmp_path))
    assert [(row["directory"], row["file"]) for row in rows] == [("/t", "a.c"), ("/t/lib", "b.cc")]
    assert rows[0]["arguments"] == ["gcc", "-DX=1", "-c", "-o", "a.o", "a.c"]


def test_nothing_to_make_a_database_from_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.c").touch()
    with pytest.raises(ProviderError, match=r"no CMakeLists.txt or Makefile"):
        configure(tmp_path, tmp_path / "out")
