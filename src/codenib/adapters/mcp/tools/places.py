"""A name, a path and a line as a model gives them in, what a workspace takes as a position out.

Models are bad at columns and not much better at lines: the name counts, the line says which of its places.
"""

from __future__ import annotations

import re

from codenib.core.errors import InputError
from codenib.serving.workspace import Workspace

_WORD = re.compile(r"[^\W\d][\w$]*")
_SEPARATORS = re.compile(r"::|[.#]")


def place_of(workspace: Workspace, name: str | None, path: str | None, line: int | None) -> tuple[str, str]:
    """Where to ask, and the name that stands there."""
    if not path:
        if not name:
            raise InputError(
                "no name and no path is given", hint="name=parse, or path=src/app.py line=12 name=parse"
            )
        return name, ""
    if path and not line and not name:
        raise InputError(f"{path}: which name?", hint=f"path={path} name=…")
    text = workspace.read(path).text
    last = _SEPARATORS.split(name)[-1] if name else ""
    if not last:
        return f"{path}:{line}", ""
    lines = text.split("\n")
    at = nearest(lines, line or _declared(workspace, path, last), last)
    if at is None:
        raise InputError(f"{path} has no {last!r}", hint=f"definition name={name}")
    return f"{path}:{at}", last


def nearest(lines: list[str], line: int, name: str) -> int | None:
    """The line closest to `line` that has the name as a word, the earlier of two; None without one."""
    found = [at for at, text in enumerate(lines, 1) if name in text and name in _WORD.findall(text)]
    return min(found, key=lambda at: (abs(at - line), at), default=None)


def _declared(workspace: Workspace, path: str, name: str) -> int:
    """Where a file declares a name; its first line when it does not."""
    units = [unit for unit in workspace.units(path) if _SEPARATORS.split(unit.symbol)[-1] == name]
    return min((unit.span.start_line for unit in units), default=1)
