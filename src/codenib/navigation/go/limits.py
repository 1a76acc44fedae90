"""A Go checkout in, how much CPU time its type checker may take without a word out.

The checker has no limit of its own: a struct of two structs of two structs, forty deep, takes it for ever.
Our engine says a word after each 50 packages. Those of the standard library take a second or two together,
the repository's what their size is, and those of modules that it requires what theirs is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath

_LEAST_S, _MEGABYTE_S, _MODULE_S = 6.0, 3.0, 0.5
_MOST_FILES = 20_000
_REQUIRED = re.compile(r"^(?:require[ \t]+)?[ \t]*\S+ v\d", re.MULTILINE)


def silent_cpu_s(root: Path, files: Iterable[str]) -> float:
    """Seconds for these files of the checkout."""
    size = modules = 0
    folders = {PurePosixPath()}
    for path in files:
        folders.add(PurePosixPath(path).parent)
        with suppress(OSError):
            size += (root / path).lstat().st_size
    for folder in folders:
        manifest = root / folder / "go.mod"
        with suppress(OSError):
            if manifest.is_file():
                modules += len(_REQUIRED.findall(manifest.read_text("utf-8", "replace")))
    return _LEAST_S + _MEGABYTE_S * size / 1e6 + _MODULE_S * modules


def server_cpu_s(root: Path) -> float:
    """The same for a server, which reads all of it for an answer."""
    files = islice((str(path.relative_to(root)) for path in root.rglob("*.go")), _MOST_FILES)
    return 2 * silent_cpu_s(root, files) - _LEAST_S
