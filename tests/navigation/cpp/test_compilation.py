"""Compilation databases: found, moved to a checkout, read from what make would run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codenib.core.errors import ProviderError
from codenib.navigation.cpp.compilation import (
    adapt,
    database_of,
    dry_run_entries,
    find_compilation_database,
    make_compilation_database,
)


def touch(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")


def write(path: Path, rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows))
    return path


ROW = {"directory": "/x", "file": "a.c", "command": "cc -c a.c"}


def test_an_empty_database_is_passed_over_for_one_in_a_build_folder(tmp_path: Path) -> None:
    write(tmp_path / "compile_commands.json", [])
    assert find_compilation_database(tmp_path) is None
    built = write(tmp_path / "build/debug/compile_commands.json", [ROW])
    assert find_compilation_database(tmp_path) == built
    built = write(tmp_path / "build/compile_commands.json", [ROW])
    assert find_compilation_database(tmp_path) == built


def test_a_database_of_the_worktree_is_moved_to_the_checkout(tmp_path: Path) -> None:
    worktree, checkout = tmp_path / "worktree", tmp_path / "checkout"
    touch(worktree, "src/a.c", "include/a.h", "build/generated/config.h")
    touch(checkout, "src/a.c", "include/a.h")
    row = {
        "directory": str(worktree / "build"),
        "file": "../src/a.c",
        "arguments": ["cc", f"-I{worktree}/include", "-I", "generated", "-isystem", "/usr/include", "-c",
                      "../src/a.c"],
    }  # fmt: skip
    [command] = adapt([row], checkout)
    assert command.file == f"{checkout}/src/a.c"
    assert command.directory == f"{worktree}/build"
    # The checkout's own headers first, then those that only the worktree has.
    assert command.arguments == (
        "cc", f"-I{checkout}/include", f"-I{worktree}/include", "-I", f"{worktree}/build/generated",
        "-isystem", "/usr/include", "-c", f"{checkout}/src/a.c",
    )  # fmt: skip


def test_a_database_of_the_checkout_keeps_its_words(tmp_path: Path) -> None:
    touch(tmp_path, "src/a.c")
    row = {"directory": str(tmp_path), "file": "src/a.c", "command": 'cc -DNAME="a b" -Iinclude -c src/a.c'}
    [command] = adapt([row, {**row, "command": "cc -DSECOND -c src/a.c"}], tmp_path)
    assert command.file == f"{tmp_path}/src/a.c"
    assert command.arguments == ("cc", "-DNAME=a b", "-Iinclude", "-c", "src/a.c")


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


def test_no_build_code_runs_without_trust(tmp_path: Path) -> None:
    touch(tmp_path, "src/a.c")
    (tmp_path / "CMakeLists.txt").write_text(f"file(WRITE {tmp_path}/ran yes)\n")
    with pytest.raises(ProviderError) as caught:
        database_of(tmp_path, tmp_path / "out", trusted=False)
    assert "--trust" in caught.value.hint
    assert not (tmp_path / "ran").exists()


def test_nothing_to_make_a_database_from_is_said(tmp_path: Path) -> None:
    touch(tmp_path, "a.c")
    with pytest.raises(ProviderError, match=r"no CMakeLists.txt or Makefile"):
        make_compilation_database(tmp_path, tmp_path / "out")
