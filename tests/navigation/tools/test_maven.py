"""A Java program of our own is compiled against the pinned library, and against no other bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from codenib.navigation.tools.install import InstallOutcome, install
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.recipes import JavaBuild, Recipe

LIBRARY = b"a jar"
# Stands in for javac, jar and mvn: they say a version, make the folder of classes, the jar and the library.
PROGRAM = """#!/bin/sh
case "$0 $1" in
  *--version) echo "javac {java}" ;;
  *javac*) mkdir -p "$4" ;;
  */jar*) : > "$3" ;;
  *mvn*) for word in "$@"; do case "$word" in -DoutputDirectory=*) place="${{word#*=}}" ;; esac; done
    printf '{library}' > "$place/saw.jar" ;;
esac
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "engine"
    folder.mkdir()
    (folder / "Saw.java").write_text("class Saw {}\n")
    digest = hashlib.sha256(LIBRARY).hexdigest()
    (folder / "ecj.lock").write_text(f"org.wood:saw:1.0 sha256:{digest}\n")
    return folder


def attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Path, library: str, java: str = "17.0.1"
) -> InstallOutcome:
    programs = tmp_path / "bin"
    programs.mkdir(exist_ok=True)
    for name in ("javac", "jar", "mvn"):
        (programs / name).write_text(PROGRAM.format(library=library, java=java))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    recipe = Recipe("saw-facts", "1.0", "wood", "", JavaBuild(source), "lib/saw-facts.jar")
    (outcome,) = install(Toolbox(tmp_path / "tools", [recipe]), ["wood"], lambda _line: None)
    return outcome


def test_the_library_comes_by_maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Path) -> None:
    outcome = attempt(tmp_path, monkeypatch, source, LIBRARY.decode())
    assert outcome.done == "installed", outcome.error
    assert outcome.tool is not None
    assert sorted(path.name for path in outcome.tool.folder.iterdir()) == ["saw-facts.jar", "saw.jar"]


def test_other_bytes_than_the_pinned_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Path
) -> None:
    outcome = attempt(tmp_path, monkeypatch, source, "another jar")
    assert (outcome.done, "saw-facts 1.0 was refused" in outcome.error) == ("failed", True)
    assert not list((tmp_path / "tools").glob("saw*"))


def test_an_old_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Path) -> None:
    outcome = attempt(tmp_path, monkeypatch, source, LIBRARY.decode(), java="11.0.2")
    assert "needs Java 17 or newer; javac is 11.0.2" in outcome.error
    assert "JDK" in outcome.hint


def test_the_pinned_jar_of_the_local_repository_needs_no_maven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Path
) -> None:
    local = tmp_path / "home/.m2/repository/org/wood/saw/1.0"
    local.mkdir(parents=True)
    (local / "saw-1.0.jar").write_bytes(LIBRARY)
    assert attempt(tmp_path, monkeypatch, source, "another jar").done == "installed"
