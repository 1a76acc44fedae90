"""A checkout in, its Cargo packages out: which manifests begin a workspace, and which features there are.

rust-analyzer by itself loads the manifest of the root, with the features that Cargo turns on by default. Code
behind other features, and packages beside the workspace (fuzz targets, examples), are source as well.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

MANIFEST = "Cargo.toml"
#: Cargo is asked once for each workspace, which takes it a tenth of a second.
_MOST_ROOTS = 40
_MOST_MANIFESTS = 2_000
_MOST_BYTES = 1 << 20
_LONGEST_PATH = 500
# The engine gets its settings as one argument, which systems limit to 128 kB.
_FEATURE_BYTES, _FEATURE_FRAME = 80_000, 12
_SKIPPED = frozenset({"target", "node_modules", "vendor"})
_KINDS = frozenset({"package", "workspace"})
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Packages:
    """The manifests that begin a workspace or stand alone, shallow ones first, and the features of all."""

    roots: tuple[str, ...]
    features: tuple[str, ...]


def find_packages(root: Path) -> Packages:
    """The Cargo packages of a checkout; what cannot be read is left to Cargo's own message."""
    manifests = dict(_read_manifests(root))
    members = _members(manifests)
    alone = (each for each, its in manifests.items() if each not in members and _KINDS & its.keys())
    roots = [each / MANIFEST for each in alone if next((root / each).rglob("*.rs"), None) is not None]
    names = {name for manifest in manifests.values() for name in features_of(manifest)}
    short = [str(each) for each in roots if len(str(each)) <= _LONGEST_PATH]
    return Packages(tuple(short[:_MOST_ROOTS]), tuple(_bounded(sorted(names))))


def _bounded(names: Iterable[str]) -> Iterator[str]:
    """The first names, as many as an argument of a program holds: code behind others is known by name."""
    left = _FEATURE_BYTES
    for name in names:
        left -= len(json.dumps(name)) + _FEATURE_FRAME
        if left < 0:
            return
        yield name


def features_of(manifest: Table) -> Iterator[str]:
    """The features of a package: those that it names, and its optional dependencies.

    >>> list(features_of({"features": {"net": ["dep:mio"]}, "dependencies": {"mio": {"optional": True}}}))
    ['net', 'mio']
    """
    yield from _table(manifest, "features")
    for name, wanted in _dependencies(manifest):
        if isinstance(wanted, Mapping) and wanted.get("optional") is True:
            yield name


def _read_manifests(root: Path) -> Iterator[tuple[PurePosixPath, Table]]:
    """Every manifest by its folder, shallow ones first."""
    level = [root]
    count = 0
    while level:
        below: list[Path] = []
        for folder in level:
            names = {entry.name: entry for entry in _entries(folder)}
            if MANIFEST in names and names[MANIFEST].is_file() and count < _MOST_MANIFESTS:
                count += 1
                if (manifest := _read(folder / MANIFEST)) is not None:
                    yield PurePosixPath(folder.relative_to(root).as_posix()), manifest
            below += (
                folder / name
                for name, entry in names.items()
                if entry.is_dir(follow_symlinks=False) and name not in _SKIPPED and not name.startswith(".")
            )
        level = below


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _read(path: Path) -> Table | None:
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError:
        return None
    return _parse(text) if len(text) <= _MOST_BYTES else None


def _parse(text: bytes) -> Table | None:
    """A manifest's tables; None for what is no TOML."""
    try:
        return tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return None


def _members(manifests: Mapping[PurePosixPath, Table]) -> set[PurePosixPath]:
    """The folders whose packages Cargo reads with a workspace above them, or refuses because of it."""
    found: set[PurePosixPath] = set()
    for folder, manifest in manifests.items():
        above = next((each for each in folder.parents if "workspace" in manifests.get(each, {})), None)
        if "workspace" in manifest or above is None:
            continue
        workspace = _table(manifests[above], "workspace")
        inside = folder.relative_to(above)
        if not any(inside.is_relative_to(each) for each in _strings(workspace, "exclude")):
            found.add(folder)
    return found | _packages_below(manifests)


def _packages_below(manifests: Mapping[PurePosixPath, Table]) -> set[PurePosixPath]:
    """The folders of packages that another package names by path: Cargo reads them with it."""
    found: set[PurePosixPath] = set()
    for folder, manifest in manifests.items():
        for path in _local_paths(manifest):
            parts: list[str] = []
            for part in (*folder.parts, *PurePosixPath(path).parts):
                if part == "..":
                    parts = parts[:-1]
                elif part != ".":
                    parts.append(part)
            named = PurePosixPath(*parts)
            if named != folder and named in manifests and "workspace" not in manifests[named]:
                found.add(named)
    return found


def _local_paths(manifest: Table) -> Iterator[str]:
    """The paths of the dependencies that lie in folders."""
    shared = _table(_table(manifest, "workspace"), "dependencies")
    for wanted in (*(each for _, each in _dependencies(manifest)), *shared.values()):
        if isinstance(wanted, Mapping) and isinstance(path := wanted.get("path"), str):
            yield path


def _dependencies(manifest: Table) -> Iterator[tuple[str, object]]:
    targets = _table(manifest, "target")
    for table in (manifest, *(_table(targets, name) for name in targets)):
        for kind in _DEPENDENCIES:
            yield from _table(table, kind).items()


def _table(above: Table, key: str) -> Table:
    below = above.get(key)
    return below if isinstance(below, Mapping) else {}


def _strings(table: Table, key: str) -> list[str]:
    values = table.get(key)
    return [each for each in values if isinstance(each, str)] if isinstance(values, list) else []
