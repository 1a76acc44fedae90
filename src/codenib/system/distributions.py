"""The name of a Python distribution in, the version that is installed out.

As `importlib.metadata` says it, which a fresh process needs 20 ms to import and to parse a page of text a
name: here the names of folders tell (`NAME-VERSION.dist-info`), and only what they do not is looked up there.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

_SUFFIX = ".dist-info"


def installed_version(name: str) -> str | None:
    """The version that an import would find; None where it is not installed.

    >>> installed_version("no-such-distribution") is None
    True
    """
    return _by_folders(tuple(sys.path)).get(_normal(name)) or _by_metadata(name)


@cache
def _by_folders(folders: tuple[str, ...]) -> dict[str, str]:
    versions: dict[str, str] = {}
    for folder in folders:
        try:
            entries = sorted(each.name for each in Path(folder).iterdir())
        except OSError:  # an archive, or none
            continue
        for entry in entries:
            name, _, version = entry.removesuffix(_SUFFIX).partition("-")
            if entry.endswith(_SUFFIX) and version:
                versions.setdefault(_normal(name), version)
    return versions


def _by_metadata(name: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
