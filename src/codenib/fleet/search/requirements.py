"""A snapshot and a package in, which versions of the package its manifests and lock files ask for out."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from codenib.core.errors import CodenibError
from codenib.fleet.search.answers import RequiredVersion
from codenib.fleet.search.members import FleetMember, place_of
from codenib.fleet.search.packages import ExportedPackage, coordinates, is_aside, parse_pom
from codenib.fleet.search.versions import fits, is_same, newest_fitting
from codenib.serving.snapshots.pinned import PinnedSnapshot
from codenib.snapshot import git

_TAGS = 3  # that fit and are named
_MOST = 300  # manifests of one repository that are read
_GO_REQUIRE = re.compile(r"^\s*(?:require\s+)?([\w.~-]+(?:/[\w.~/-]+)+)\s+(v\S+)", re.M)
_GRADLE = re.compile(r"""['"]([\w.-]+:[\w.-]+):([^'":@]+)(?:[:@][^'"]*)?['"]""")
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.txt\Z")
_UNREADABLE = (
    ValueError, KeyError, TypeError, AttributeError, configparser.Error, ElementTree.ParseError,
)  # fmt: skip

#: A package and what is asked for of it; "" where any version is.
Asked = tuple[str, str]


@dataclass(frozen=True, slots=True)
class VersionDemand:
    """What one file of a repository asks for of a package; `locked`: exactly that version is used."""

    manifest: str
    wanted: str
    locked: bool


def demands_on(package: ExportedPackage, pinned: PinnedSnapshot) -> tuple[VersionDemand, ...]:
    """What the manifests and lock files of a snapshot ask for of a package, each once, lock files last.

    A file that cannot be parsed, or that lies among tests, examples and vendored code, asks for nothing.
    """
    reading = [
        (path, *reader)
        for path in sorted(pinned.files)
        if (reader := _reader_of(path)) is not None and reader[0] == package.ecosystem and not is_aside(path)
    ][:_MOST]
    named = _normal(package.ecosystem, package.name)
    found: dict[tuple[str, bool], VersionDemand] = {}
    for path, ecosystem, locks, read in reading:
        try:
            asked = list(read(pinned.text(path)))
        except _UNREADABLE:
            continue
        for name, wanted in asked:
            if _normal(ecosystem, name) == named:
                found.setdefault((wanted, locks), VersionDemand(path, wanted, locks))
    return tuple(sorted(found.values(), key=lambda each: (each.locked, each.manifest, each.wanted)))


def tags_of(member: FleetMember) -> list[str] | None:
    """The tags of a member's clone; None where git does not tell."""
    folder = place_of(member.path).git_folder
    if folder is None:
        return None
    try:
        out = git.run(["--git-dir", str(folder), "for-each-ref", "--format=%(refname:strip=2)", "refs/tags"])
    except CodenibError:
        return None
    return out.decode("utf-8", "replace").splitlines()


def judged(
    demand: VersionDemand, package: ExportedPackage, tags: list[str] | None, *, asker: str, exporter: str
) -> RequiredVersion:
    """What is asked for of a package against the version that its manifest states, and the tags that fit."""

    def accepts(version: str) -> bool | None:
        judge = is_same if demand.locked else fits
        return judge(package.ecosystem, demand.wanted, version)

    folder = package.folder if package.ecosystem == "go" else ""
    fitting = None if tags is None else newest_fitting(tags, package.name, folder, accepts)
    return RequiredVersion(
        repository=asker,
        manifest=demand.manifest,
        package=package.name,
        wanted=demand.wanted,
        locked=demand.locked,
        exporter=exporter,
        stated=package.version,
        fits=accepts(package.version),
        tags=tuple(fitting[:_TAGS]) if fitting else (),
        fitting=None if fitting is None else len(fitting),
    )


def _normal(ecosystem: str, name: str) -> str:
    return canonicalize_name(name) if ecosystem == "python" else name


def _requirement(line: str) -> Iterator[Asked]:
    try:
        parsed = Requirement(line)
    except InvalidRequirement:
        return
    yield parsed.name, str(parsed.specifier)


def _pyproject(text: str) -> Iterator[Asked]:
    data = tomllib.loads(text)
    project = data.get("project") or {}
    groups = [project.get("dependencies") or [], *(project.get("optional-dependencies") or {}).values()]
    groups += (data.get("dependency-groups") or {}).values()
    for line in (each for group in groups for each in group if isinstance(each, str)):
        yield from _requirement(line)
    poetry = data.get("tool", {}).get("poetry") or {}
    tables = [poetry.get("dependencies") or {}]
    tables += [each.get("dependencies") or {} for each in (poetry.get("group") or {}).values()]
    yield from (each for table in tables for each in _table(table))


def _table(table: Mapping[str, Any]) -> Iterator[Asked]:
    """Names with a version, or with a table that has one; a path or an address says no version."""
    for name, asked in table.items():
        version = asked.get("version", "") if isinstance(asked, dict) else asked
        if isinstance(version, str):
            package = asked.get("package", name) if isinstance(asked, dict) else name
            yield package, version


def _setup_cfg(text: str) -> Iterator[Asked]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        lines += [line for _, each in parser.items("options.extras_require") for line in each.splitlines()]
    for line in lines:
        yield from _requirement(line.strip())


def _requirements(text: str) -> Iterator[Asked]:
    for line in text.splitlines():
        yield from _requirement(line.partition(" #")[0].partition(" --")[0].strip().rstrip("\\"))


def _toml_lock(text: str) -> Iterator[Asked]:
    for each in tomllib.loads(text).get("package") or []:
        if isinstance(each.get("version"), str):
            yield each["name"], each["version"]


def _package_json(text: str) -> Iterator[Asked]:
    data = msgspec.json.decode(text)
    for kind in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        yield from _table(data.get(kind) or {})


def _package_lock(text: str) -> Iterator[Asked]:
    for place, each in (msgspec.json.decode(text).get("packages") or {}).items():
        _, found, name = place.rpartition("node_modules/")
        if found and isinstance(each.get("version"), str):
            yield name, each["version"]


def _go_mod(text: str) -> Iterator[Asked]:
    yield from _GO_REQUIRE.findall(text)


def _cargo(text: str) -> Iterator[Asked]:
    data = tomllib.loads(text)
    tables = [data, data.get("workspace") or {}, *(data.get("target") or {}).values()]
    for table in tables:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield from _table(table.get(kind) or {})


def _pom(text: str) -> Iterator[Asked]:
    pom = parse_pom(text)
    for each in pom.findall(".//dependency"):
        group, artifact, version = coordinates(pom, each)
        yield f"{group}:{artifact}", version


def _gradle(text: str) -> Iterator[Asked]:
    yield from _GRADLE.findall(text)


_Reader = tuple[str, bool, Callable[[str], Iterator[Asked]]]
_READERS: Mapping[str, _Reader] = {
    "pyproject.toml": ("python", False, _pyproject),
    "setup.cfg": ("python", False, _setup_cfg),
    "uv.lock": ("python", True, _toml_lock),
    "poetry.lock": ("python", True, _toml_lock),
    "package.json": ("javascript", False, _package_json),
    "package-lock.json": ("javascript", True, _package_lock),
    "go.mod": ("go", False, _go_mod),
    "Cargo.toml": ("rust", False, _cargo),
    "Cargo.lock": ("rust", True, _toml_lock),
    "pom.xml": ("java", False, _pom),
    "build.gradle": ("java", False, _gradle),
    "build.gradle.kts": ("java", False, _gradle),
}


def _reader_of(path: str) -> _Reader | None:
    name = path.rpartition("/")[2]
    return ("python", False, _requirements) if _REQUIREMENTS.match(name) else _READERS.get(name)
