"""Where state lives: `$CODENIB_HOME`, or the platform's folder for user data. Never inside a checkout."""

from __future__ import annotations

import os
import sys
from pathlib import Path

#: Bumped when what is on disk cannot be read by this code; older state is left alone beside it.
LAYOUT = "v1"


def home() -> Path:
    """The folder that holds all state of this layout."""
    return _base() / LAYOUT


def tools_folder() -> Path:
    """Where `codenib tools install` puts language engines and servers: `$CODENIB_TOOLBOX`, or in the home."""
    chosen = os.environ.get("CODENIB_TOOLBOX")
    return Path(chosen).expanduser().absolute() if chosen else home() / "tools"


def _base() -> Path:
    chosen = os.environ.get("CODENIB_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "codenib"
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "codenib"
