"""Where state lives: `$CODENIB_HOME`, or the platform's folder for user data. Never inside a checkout."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from codenib.config.resolve import user_choice
from codenib.system.files import keep_private

#: Bumped when what is on disk cannot be read by this code; older state is left alone beside it.
LAYOUT = "v1"


def home() -> Path:
    """The folder that holds all state of this layout; only its user may enter it."""
    place = _base() / LAYOUT
    _keep_private(place)
    return place


@cache
def _keep_private(place: Path) -> None:
    """Make the folder, or take it back from others: contents of repositories and locks are below it."""
    with suppress(OSError):  # whoever needs the folder says why there is none
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        keep_private(place)


def tools_folder() -> Path:
    """Where `codenib tools install` puts language engines and servers: `$CODENIB_TOOLBOX`, or in the home."""
    chosen = user_choice("toolbox")
    return Path(chosen).expanduser().absolute() if chosen else home() / "tools"


def _base() -> Path:
    chosen = os.environ.get("CODENIB_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "codenib"
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "codenib"
