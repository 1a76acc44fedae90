"""Each checkout has a build cache of its own; old ones go."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from codenib.navigation.engines.origin import forget_origin, note_origin
from codenib.navigation.go.build_cache import build_cache

pytestmark = pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")


@pytest.fixture
def toolbox(tmp_path: Path) -> Path:
    """A toolbox whose copy of the standard library is there; the go command would need seconds to make it."""
    version = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
    seed = tmp_path / "toolbox" / "go-cache" / f"seed-{version.strip()}"
    seed.mkdir(parents=True)
    (seed / "README").write_text("the standard library")
    return tmp_path / "toolbox"


def old(place: Path, age_s: float) -> Path:
    place.mkdir(parents=True)
    then = time.time() - age_s
    os.utime(place, (then, then))
    return place


def test_a_repository_keeps_its_cache_and_another_does_not_see_it(toolbox: Path, tmp_path: Path) -> None:
    first = build_cache(tmp_path / "a", toolbox)
    (first / "mark").touch()
    assert build_cache(tmp_path / "a", toolbox) == first and (first / "mark").exists()
    note_origin(tmp_path / "checkout", tmp_path / "a")
    assert build_cache(tmp_path / "checkout", toolbox) == first
    forget_origin(tmp_path / "checkout")
    other = build_cache(tmp_path / "b", toolbox)
    assert not (other / "mark").exists() and (other / "README").exists()


def test_caches_that_nobody_asks_for_are_removed(toolbox: Path, tmp_path: Path) -> None:
    folder = toolbox / "go-cache"
    unused = old(folder / "unused", 31 * 86400)
    recent = [old(folder / f"recent-{number}", number) for number in range(32)]
    beyond = old(folder / "beyond", 7200)
    build_cache(tmp_path / "a", toolbox)
    assert not unused.exists() and not beyond.exists() and all(place.exists() for place in recent)
