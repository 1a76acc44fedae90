"""A checkout in, the build cache that the go command may write for it out.

The user's own cache holds what later builds run, so an engine that reads an untrusted repository may not
write there, nor into one that serves several repositories. It gets one of its own. What it would compile of
the standard library each time (1.4 s of processor time for net and os/user) comes from a copy.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.navigation.engines.origin import origin_of
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program

_FOLDER = "go-cache"
_COMPILED = ("net", "os/user", "plugin", "runtime/cgo")  # of the standard library: those with C
_LIST_S = 300.0
_UNUSED_S = 30 * 86400.0
_MOST = 32  # caches, of 5 MB or more each; one that was asked for within the hour may be in use
_IN_USE_S = 3600.0


def build_cache(root: Path, toolbox: Path) -> Path:
    """The folder for what the go command compiles of the checkout at `root`."""
    (source,) = origin_of(root) or (root,)
    place = toolbox / _FOLDER / hashlib.sha256(str(source).encode()).hexdigest()[:16]
    if place.is_dir():
        place.touch()
        return place
    _drop_unused(place.parent)
    seed = _seed(toolbox)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="new-") as folder:
        new = Path(folder, "cache")
        if seed is None:
            new.mkdir()
        else:
            shutil.copytree(seed, new)
        with suppress(OSError):  # another process was first
            new.rename(place)
    return place


@cache
def _seed(toolbox: Path) -> Path | None:
    """A cache with the standard library, made outside of any repository; None if it cannot be."""
    environment = {"GOTOOLCHAIN": "local", "GOFLAGS": "", "GOWORK": "off"}
    try:
        version = run_program(_go(("env", "GOVERSION"), environment), _LIST_S).output.strip()
        place = toolbox / _FOLDER / f"seed-{version or 'unknown'}"
        if place.is_dir():
            place.touch()
            return place
        with tempfile.TemporaryDirectory(dir=place.parent, prefix="new-") as folder:
            new = Path(folder, "cache")
            asked = ("list", "-e", "-compiled", "-deps", *_COMPILED)
            run_program(_go(asked, {**environment, "GOCACHE": str(new)}), _LIST_S)
            new.rename(place)
    except (ProviderError, OSError):
        return None
    return place


def _go(arguments: tuple[str, ...], environment: dict[str, str]) -> Program:
    return Program("go", ("go", *arguments), "go version", Path("/"), environment)


def _drop_unused(folder: Path) -> None:
    """Remove the caches that nobody asked for in a month, and the oldest of too many."""
    folder.mkdir(parents=True, exist_ok=True)
    ages = []
    for place in folder.iterdir():
        with suppress(OSError):  # another process was first
            ages.append((time.time() - place.stat().st_mtime, place))
    for rank, (age_s, place) in enumerate(sorted(ages)):
        if age_s > (_UNUSED_S if rank < _MOST else _IN_USE_S):
            shutil.rmtree(place, ignore_errors=True)
