"""The manifests of a snapshot in, the packages that it exports out; a name in, which of them it begins with.

Python (`pyproject.toml`, `setup.cfg`), JavaScript (`package.json`), Go (`go.mod`), Rust (`Cargo.toml`) and
Java (`pom.xml`, `build.gradle`) name their packages in a file. What code imports is the name of a module: for
Python the folders with an `__init__.py`, for Java the outermost folders with sources below `src/main`, for
the others the package's own name.
"""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import msgspec

from codenib.serving.snapshots.pinned import PinnedSnapshot

_MOST = 200  # packages of one repository
_NEVER = frozenset(
    {"tests", "test", "docs", "doc", "examples", "example", "node_modules", "vendor", "testdata"}
)
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.M)
_SEPARATOR = re.compile(r"::|[.#/:]")
_GRADLE_SETTING = r"""^\s*{name}\s*=?\s*['"]([^'"$]+)['"]"""
_JAVA_SOURCE = re.compile(r"(src/main/(?:java|kotlin))/(.+)/[^/]+\.(?:java|kt)\Z")


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


def is_aside(path: str) -> bool:
    """Whether a manifest is of tests, examples, documents or vendored code."""
    return not _NEVER.isdisjoint(path.split("/")[:-1])


def packages_of(pinned: PinnedSnapshot) -> tuple[ExportedPackage, ...]:
    """What the manifests of a snapshot name; one that cannot be parsed names nothing."""
    paths = sorted(pinned.files)
    found: list[ExportedPackage] = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        reader = _READERS.get(name)
        if reader is None or is_aside(path):
            continue
        try:
            named = reader(pinned.text(path))
        except (
            ValueError, KeyError, TypeError, AttributeError, configparser.Error, ElementTree.ParseError,
        ):  # fmt: skip
            continue
        if named is not None:
            ecosystem, package, version = named
            modules = _modules(ecosystem, package, folder, paths)
            if ecosystem == "java":
                if not modules:
                    continue  # it only names others
                package = (
                    package if ":" in package else f"{package}:{_gradle_name(pinned, folder)}".lstrip(":")
                )
                folder = f"{folder}/src/main".lstrip("/")
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


def parse_pom(text: str) -> ElementTree.Element:
    """The project of a `pom.xml`, its tags without namespace; a ValueError where it declares entities."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a pom.xml has no entities")
    project = ElementTree.fromstring(text)
    for element in project.iter():
        element.tag = str(element.tag).rpartition("}")[2]
    return project


def coordinates(project: ElementTree.Element, element: ElementTree.Element) -> tuple[str, str, str]:
    """Group, artifact and version of a project or dependency, with the properties that the file sets."""
    known = {each.tag: (each.text or "").strip() for each in project.findall("properties/*")}
    for tag in ("groupId", "version"):
        known[f"project.{tag}"] = (project.findtext(tag) or project.findtext(f"parent/{tag}") or "").strip()

    def field(tag: str) -> str:
        text = (element.findtext(tag) or "").strip()
        return re.sub(r"\$\{([^}]+)\}", lambda found: known.get(found[1]) or found[0], text)

    return field("groupId"), field("artifactId"), field("version")


def _pom(text: str) -> tuple[str, str, str] | None:
    project = parse_pom(text)
    group, artifact, version = coordinates(project, project)
    group = group or project.findtext("parent/groupId", "").strip()
    version = version or project.findtext("parent/version", "").strip()
    return _named("java", {"name": f"{group}:{artifact}" if group and artifact else "", "version": version})


def _gradle(text: str) -> tuple[str, str, str] | None:
    """The group, to which the artifact is added; what a build file computes is not known."""
    group, version = (
        re.search(_GRADLE_SETTING.format(name=name), text, re.M) for name in ("group", "version")
    )
    stated = version[1] if version and version[1][:1].isdigit() else ""
    return "java", group[1] if group else "", stated


def _gradle_name(pinned: PinnedSnapshot, folder: str) -> str:
    """The artifact of a Gradle project: its folder, or for the outermost what the settings say."""
    for name in ("settings.gradle", "settings.gradle.kts"):
        path = f"{folder}/{name}".lstrip("/")
        if path in pinned.files:
            found = re.search(_GRADLE_SETTING.format(name=r"rootProject\.name"), pinned.text(path), re.M)
            if found:
                return found[1]
    return folder.rpartition("/")[2]


_READERS: Mapping[str, Callable[[str], tuple[str, str, str] | None]] = {
    "pyproject.toml": _python,
    "setup.cfg": _setup_cfg,
    "package.json": _javascript,
    "go.mod": _go,
    "Cargo.toml": _rust,
    "pom.xml": _pom,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
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
    if ecosystem == "java":
        return tuple(_java_modules(folder, paths))
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


def _java_modules(folder: str, paths: Iterable[str]) -> Iterator[str]:
    """The packages with sources in `src/main` beside the manifest, those in another of them left out."""
    below = f"{folder}/" if folder else ""
    sources = (_JAVA_SOURCE.match(path.removeprefix(below)) for path in paths if path.startswith(below))
    outer = ""
    for package in sorted({found[2].replace("/", ".") for found in sources if found}):
        if not outer or not package.startswith(f"{outer}."):
            outer = package
            yield package
