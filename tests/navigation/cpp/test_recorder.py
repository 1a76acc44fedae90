"""Compilers that only record: a build runs to its end, and nothing is compiled."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from codenib.navigation.cpp.recorder import CompilerRecorder


def test_what_a_build_compiles_is_recorded_and_its_outputs_are_there(tmp_path: Path) -> None:
    recorder = CompilerRecorder(tmp_path / "recorder")
    build = "cc -DA='x y' -c a.c && gcc -c sub/b.c -o sub/b.o && g++ -o all a.o sub/b.o && ./all"
    (tmp_path / "sub").mkdir()
    environment = {**os.environ, **recorder.environment}
    assert subprocess.run(["sh", "-c", build], cwd=tmp_path, env=environment, check=False).returncode == 0
    assert {path.name for path in tmp_path.rglob("*.o")} == {"a.o", "b.o"}
    assert [(row["directory"], row["file"], row["arguments"]) for row in recorder.entries()] == [
        (str(tmp_path), "a.c", ["cc", "-DA=x y", "-c", "a.c"]),
        (str(tmp_path), "sub/b.c", ["gcc", "-c", "sub/b.c", "-o", "sub/b.o"]),
    ]


def test_a_build_that_starts_no_compiler_has_no_entries(tmp_path: Path) -> None:
    assert CompilerRecorder(tmp_path).entries() == []
