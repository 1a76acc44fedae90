"""Compile commands: found in the repository, and moved to a checkout."""

from __future__ import annotations

import json
from pathlib import Path

from codenib.navigation.cpp.compile_commands import commands_in, find_compilation_database


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
    [command] = commands_in([row], checkout)
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
    [command] = commands_in([row, {**row, "command": "cc -DSECOND -c src/a.c"}], tmp_path)
    assert command.file == f"{tmp_path}/src/a.c"
    assert command.arguments == ("cc", "-DNAME=a b", "-Iinclude", "-c", f"{tmp_path}/src/a.c")
