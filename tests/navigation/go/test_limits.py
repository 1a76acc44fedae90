"""The type checker's time: by the size of the sources and the modules that they require."""

from __future__ import annotations

from pathlib import Path

from codenib.navigation.go.limits import server_cpu_s, silent_cpu_s


def test_sources_and_required_modules_add_to_the_time(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("package a\n")
    least = silent_cpu_s(tmp_path, ["a.go"])
    (tmp_path / "b.go").write_text("package a\n" + "// x\n" * 200_000)
    with_sources = silent_cpu_s(tmp_path, ["a.go", "b.go"])
    (tmp_path / "go.mod").write_text(
        "module m\n\ngo 1.21\n\nrequire (\n\tx.org/a v1.0.0\n\tx.org/b v1.0.0\n)\n"
    )
    with_modules = silent_cpu_s(tmp_path, ["a.go", "b.go"])
    assert 5 < least < 7 and least + 2.5 < with_sources < with_modules < server_cpu_s(tmp_path)


def test_a_file_that_is_gone_or_no_file_counts_nothing(tmp_path: Path) -> None:
    (tmp_path / "go.mod").mkdir()
    assert silent_cpu_s(tmp_path, ["gone.go"]) == silent_cpu_s(tmp_path, [])
