"""New compilation databases: read from what make would run, or the reason why there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codenib.navigation.cpp.compile_commands import read_entries
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


def test_a_makefile_is_run_with_compilers_that_record(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.c").touch()
    (root / "Makefile").write_text("all: a.o\n\ttouch ran\n%.o: %.c\n\t$(CC) -DX=1 -c -o $@ $<\n")
    database, source, reasons = configure(root, tmp_path / "out")
    assert database is not None and (source, reasons) == ("make", ())
    [row] = read_entries(database)
    assert (row["file"], row["arguments"]) == ("a.c", ["cc", "-DX=1", "-c", "-o", "a.o", "a.c"])
    assert not (root / "ran").exists()  # it runs in a copy


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not on the path")
def test_cmake_does_without_a_library_that_an_option_asks_for(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a;\n")
    (tmp_path / "CMakeLists.txt").write_text(
        'cmake_minimum_required(VERSION 3.10)\nproject(a C)\noption(USE_NOSUCHLIB "" ON)\n'
        "if(USE_NOSUCHLIB)\n  find_package(NoSuchLib REQUIRED)\nendif()\nadd_library(a a.c)\n"
    )
    database, source, reasons = configure(tmp_path, tmp_path / "out")
    assert database is not None and (source, reasons) == ("CMake", ("CMake: without USE_NOSUCHLIB",))
    assert [Path(row["file"]).name for row in read_entries(database)] == ["a.c"]


def test_each_builder_that_fails_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\ttrue\n")
    (tmp_path / "configure").write_text("echo error: no such library >&2; exit 1\n")
    assert configure(tmp_path, tmp_path / "out") == (None, "", ("make: error: no such library",))


def test_nothing_to_make_a_database_from_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.c").touch()
    assert configure(tmp_path, tmp_path / "out") == (
        None, "", ("there is no CMakeLists.txt, meson.build or Makefile",)
    )  # fmt: skip
