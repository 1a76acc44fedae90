"""Ranked units in, a few lines on which folders and files they are in out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from codenib.core.answers import Evidence

_FOLDERS = 5
_FILES = 4


def folders_of(items: Sequence[Evidence]) -> list[str]:
    """A line for each of the folders with most units: its best files, each with how many units it has."""
    folders: dict[str, Counter[str]] = {}
    for item in items:
        path = PurePosixPath(item.path)
        folders.setdefault(path.parent.as_posix(), Counter())[path.name] += 1
    # Both orders are stable, so of equals the better ranked comes first.
    ordered = sorted(folders.items(), key=lambda pair: -pair[1].total())
    lines = []
    for folder, files in ordered[:_FOLDERS]:
        named = [f"{name} {often}" if often > 1 else name for name, often in files.most_common(_FILES)]
        more = f", {len(files) - _FILES} more" if len(files) > _FILES else ""
        inside = "" if folder == "." else f"{folder}/ "
        lines.append(f"  {inside}{', '.join(named)}{more}")
    return lines
