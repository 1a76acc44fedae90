"""The manifests of a snapshot in, the packages that it exports out; a name in, which of them it begins with.

Python (`pyproject.toml`, `setup.cfg`), JavaScript (`package.json`), Go (`go.mod`) and Rust (`Cargo.toml`)
name their packages in a file. What code imports is the name of a module: for Python the folders with an
`__init__.py`, for the others the package's own name. Java is left out: its artifacts do not say which
packages they export.
"""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from codenib.serving.snapshots.pinned import PinnedSnapshot

_MOST = 200  # packages of one repository
_NEVER = frozenset(
    {"tests", "test", "docs", "doc", "examples", "example", "node_modules", "vendor", "testdata"}
)
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.M)
_SEPARATOR = re.compile(r"::|[.#/:]")


class ExportedPackage(msgspec.Struct, frozen=True):
    """A package of a repository: where it is from, its folder, and by which names code imports it."""

    ecosystem: str
    name: str
    version: str
    folder: str
    modules: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()

    def rest_of(self, name: str) -> str | None:
        """What follows the package in a name; None where the name does not begin with it.

        >>> ExportedPackage("go", "a.org/chi", "", "", ("a.org/chi",)).rest_of("a.org/chi.NewMux")
        'NewMux'
        """
        for module in sorted(self.modules, key=len, reverse=True):
            after = name[len(module) :]
            if name.startswith(module) and (found := _SEPARATOR.match(after)) and after[found.end() :]:
                return after[found.end() :]
        return None

    def has(self, path: str) -> bool:
        """Whether a file is in the package's folder."""
        return not self.folder or path.startswith(f"{self.folder}/")


def packages_of(pinned: PinnedSnapshot) -> tuple[ExportedPackage, ...]:
    """What the manifests of a snapshot name; one that cannot be parsed names nothing."""
    paths = sorted(pinned.files)
    found: list[ExportedPackage] = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        reader = _READERS.get(name)
        if reader is None or _NEVER & set(folder.split("/")):
            continue
        try:
            named = reader(pinned.text(path))
        except (ValueError, KeyError, TypeError, AttributeError, configparser.Error):
            continue
        if named is not None:
            ecosystem, package, version = named
            modules = _modules(ecosystem, package, folder, paths)
            found.append(ExportedPackage(ecosystem, package, version, folder, modules))
        if len(found) == _MOST:
            break
    return tuple(dict.fromkeys(found))


def _python(text: str) -> tuple[str, str, str] | None:
    data = tomllib.loads(text)
    project = data.get("project") or data.get("tool", {}).get("poetry") or {}
    return _named("python", project)


def _setup_cfg(text: str) -> tuple[str, str, str] | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    return _named("python", parser["metadata"]) if parser.has_section("metadata") else None


def _javascript(text: str) -> tuple[str, str, str] | None:
    return _named("javascript", msgspec.json.decode(text))


def _go(text: str) -> tuple[str, str, str] | None:
    found = _GO_MODULE.search(text)
    return ("go", found[1].strip('"'), "") if found else None


def _rust(text: str) -> tuple[str, str, str] | None:
    return _named("rust", tomllib.loads(text).get("package") or {})


_READERS: Mapping[str, Callable[[str], tuple[str, str, str] | None]] = {
    "pyproject.toml": _python,
    "setup.cfg": _setup_cfg,
    "package.json": _javascript,
    "go.mod": _go,
    "Cargo.toml": _rust,
}


def _named(ecosystem: str, fields: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Name and version; a version that is computed or stands elsewhere is not known."""
    name, version = fields.get("name"), fields.get("version")
    if not isinstance(name, str) or not name:
        return None
    return ecosystem, name, version if isinstance(version, str) and version[:1].isdigit() else ""


def _modules(ecosystem: str, package: str, folder: str, paths: Sequence[str]) -> tuple[str, ...]:
    if ecosystem == "rust":
        return (package.replace("-", "_"),)
    if ecosystem != "python":
        return (package,)
    return tuple(sorted(set(_python_modules(folder, paths)))) or (package.replace("-", "_").lower(),)


def _python_modules(folder: str, paths: Iterable[str]) -> Iterator[str]:
    """The folders with an `__init__.py` beside the manifest or in `src` and `lib` there."""
    below = f"{folder}/" if folder else ""
    for path in paths:
        if not path.startswith(below) or not path.endswith("/__init__.py"):
            continue
        first, *rest = path.removeprefix(below).split("/")
        module = rest[0] if first in ("src", "lib") and len(rest) == 2 else first if len(rest) == 1 else ""
        if module and module not in _NEVER:
            yield module
