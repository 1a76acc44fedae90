"""A changed JSON file in, the reason why TypeScript's projects must be loaded anew out.

The engine reads configurations of projects, a few fields of packages, and JSON that a source imports. The
rest of a repository's JSON (lock files, settings of other tools, data) is nothing to it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

#: What the engine reads of a package beside its name: where modules are, and which kind they are of.
_PACKAGE = ("name", "type", "main", "types", "typings", "typesVersions", "exports", "imports", "tsconfig")
_SOURCES = (".ts", ".mts", ".cts", ".tsx", ".js", ".jsx", ".mjs", ".cjs")
_CONFIG = re.compile(r"(^|[./-])[jt]sconfig([./-]|$)")
_SKIPPED = frozenset({".git", "node_modules"})


def configures(root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
    """The reason, empty where the file is nothing to the engine or says the same to it as before."""
    if not path.endswith((".json", ".jsonc")):
        return ""
    name = path.rpartition("/")[2]
    if _CONFIG.search(path) or name.endswith(".jsonc"):
        return f"{path} may configure a project"
    if name == "package.json" and _package(before) != _package(after):
        return f"{path} says otherwise where the package's modules are"
    is_same = _types_in(before) == _types_in(after)
    for user in _mentions(root, name):
        if not is_same or user.endswith(".json"):
            return f"{path} may be read by {user}"
    return ""


def _types_in(data: bytes | None) -> Any:
    """What a JSON file is to a source that imports it: values count by their types, which are no literals'.

    A release that changes a version, or one of a dependency, says the same as before.

    >>> _types_in(b'{"version": "1", "files": ["a"]}') == _types_in(b'{"version": "2", "files": ["b", "c"]}')
    True
    """
    if data is None:
        return None
    try:
        return _type(json.loads(data))
    except (ValueError, RecursionError):
        return data


def _type(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _type(each) for key, each in value.items()}
    if isinstance(value, list):
        types: list[Any] = []
        for each in map(_type, value):
            if each not in types:
                types.append(each)
        return types
    return type(value).__name__


def _package(data: bytes | None) -> Any:
    """The fields of a package that matter; the text where it cannot be read."""
    if data is None:
        return None
    try:
        found = json.loads(data)
        return {key: found.get(key) for key in _PACKAGE}
    except (ValueError, AttributeError):
        return data


def _mentions(root: Path, name: str) -> Iterator[str]:
    """The files that import JSON by this name, and the configurations that write it."""
    imported = re.compile(rb"(from|import|require)\s*\(?\s*[\"'`][^\"'`\n]*%s" % re.escape(name.encode()))
    for place, text in _sources(root):
        is_config = place.name.endswith(".json")
        if name.encode() in text if is_config else imported.search(text):
            yield place.relative_to(root).as_posix()


def _sources(root: Path) -> Iterator[tuple[Path, bytes]]:
    """The sources and the configurations of the checkout, with their texts."""
    for folder, folders, files in os.walk(root):
        folders[:] = [each for each in folders if each not in _SKIPPED]
        for file in files:
            if file.endswith(_SOURCES) or (file.endswith(".json") and _CONFIG.search(file)):
                place = Path(folder, file)
                with suppress(OSError):
                    yield place, place.read_bytes()
