"""The installation in, a list of checks out."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from codenib.core.errors import DISTRIBUTION, REINSTALL_HINT, VERSION, CodenibError, InputError
from codenib.manifest.home import home, tools_folder
from codenib.manifest.store import Store
from codenib.navigation.engines.sandbox import VARIABLE, available_sandbox, setting
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.configuration import describe_configuration
from codenib.units.extract import extract
from codenib.units.languages import LANGUAGES
from codenib.views.trigram.zoekt import INSTALL, zoekt_available

_GIT = (2, 31)  # --path-format of `rev-parse`
_LEAST_FREE = 500_000_000
_GROUPS = {
    "python": "Python",
    "typescript": "TypeScript and JavaScript",
    "go": "Go",
    "rust": "Rust",
    "cpp": "C and C++",
    "java": "Java",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `missing` is optional, `broken` is not."""

    name: str
    state: Literal["ok", "missing", "broken"]
    detail: str
    hint: str = ""


def examine(path: str | Path = ".") -> list[Check]:
    """Look at everything that codenib stands on; `path` is in the repository whose configuration counts."""
    checks: tuple[Callable[[], Check], ...] = (
        _python,
        _package,
        _git,
        _grammars,
        _store,
        _watches,
        _sandbox,
        _zoekt,
    )
    return [*(check() for check in checks), _configuration(path), *_navigation()]


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    return Check("python", "ok", f"{version}, SQLite {sqlite3.sqlite_version}")


def _package() -> Check:
    """Whether the other product whose import name is also ours was installed over us, or under us."""
    for other in metadata.distributions(name="codenib"):
        if any(str(file) == "codenib/__init__.py" for file in other.files or ()):
            what = f"another product, codenib {other.version}, is in the same folder as {DISTRIBUTION}"
            return Check("package", "broken", what, f"pip uninstall codenib, then {REINSTALL_HINT}")
    return Check("package", "ok", f"{DISTRIBUTION} {VERSION}")


def _git() -> Check:
    program = shutil.which("git")
    if program is None:
        return Check("git", "broken", "not found", "install git from your system's packages")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = tuple(int(part) for part in said.split()[-1].split(".")[:2] if part.isdigit()) if said else ()
    if numbers and numbers < _GIT:
        return Check("git", "broken", f"{said} is too old", f"install git {_GIT[0]}.{_GIT[1]} or newer")
    return Check("git", "ok", said)


def _grammars() -> Check:
    """Every grammar loads and parses."""
    failed = []
    for language in LANGUAGES:
        try:
            extract(b"x\n", language.name)
        except (ImportError, OSError, ValueError, TypeError) as error:
            failed.append(f"{language.name}: {error}")
    if failed:
        return Check("grammars", "broken", "; ".join(failed), REINSTALL_HINT)
    return Check("grammars", "ok", ", ".join(language.name for language in LANGUAGES))


def _store() -> Check:
    root = home()
    try:
        root.mkdir(parents=True, exist_ok=True)
        probe = root / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
        with closing(Store("", root=root).open_cache()) as cache:
            healthy = cache.healthy()
    except (OSError, CodenibError) as error:
        return Check("store", "broken", f"{root}: {error}", "export CODENIB_HOME=/a/writable/folder")
    if not healthy:
        return Check("store", "broken", f"{root}/records.sqlite is damaged", f"rm {root}/records.sqlite*")
    free = shutil.disk_usage(root).free
    if free < _LEAST_FREE:
        return Check("store", "broken", f"{root}: only {free // 1_000_000} MB free", "codenib gc")
    return Check("store", "ok", f"{root}, {free // 1_000_000_000} GB free")


def _configuration(path: str | Path) -> Check:
    """Whether the files and variables that configure commands here can be read."""
    try:
        keys = describe_configuration(path)
    except InputError as error:
        return Check("config", "broken", error.message, error.hint)
    said = sorted({each.origin for each in keys} - {"default"})
    return Check("config", "ok", f"set by {', '.join(said)}" if said else "nothing is set")


def _watches() -> Check:
    limit = Path("/proc/sys/fs/inotify/max_user_watches")
    if not limit.exists():
        return Check("watch", "ok", "file events of this system")
    count = int(limit.read_text())
    if count < 65_536:
        return Check(
            "watch", "missing", f"{count:,} inotify watches: `codenib watch` may have to poll",
            "sysctl fs.inotify.max_user_watches=524288",
        )  # fmt: skip
    return Check("watch", "ok", f"{count:,} inotify watches")


def _sandbox() -> Check:
    """What confines engines and servers on repositories that nobody trusted."""
    try:
        chosen, found = setting(), available_sandbox()
    except InputError as error:
        return Check("sandbox", "broken", error.message, error.hint)
    if chosen == "off":
        what = f"{VARIABLE}=off: engines of untrusted repositories run as you"
        return Check("sandbox", "missing", what, f"unset {VARIABLE}")
    if found.mechanism:
        return Check("sandbox", "ok", f"{found.detail}: engines of untrusted repositories are confined")
    what = f"engines of untrusted repositories run as you: {found.detail}"
    hint = "install bubblewrap from your system's packages" if sys.platform == "linux" else ""
    return Check("sandbox", "broken" if chosen == "required" else "missing", what, hint)


def _zoekt() -> Check:
    if zoekt_available() is None:
        return Check("zoekt", "missing", "optional: `codenib regex --backend zoekt`", INSTALL)
    return Check("zoekt", "ok", "`codenib regex --backend zoekt` works")


def _navigation() -> list[Check]:
    """A check for each group of languages: whether the tools of its facts and its live server are there."""
    reports = [report for report in Toolbox(tools_folder()).report() if not report.optional]
    checks = []
    for group, title in _GROUPS.items():
        rows = [report for report in reports if report.group == group]
        missing = [
            report.name + (f" ({report.note})" if report.note else "")
            for report in rows
            if not report.version
        ]
        there = ", ".join(f"{report.name} {report.version}" for report in rows if report.version)
        if missing:
            detail = f"optional: {title} navigation lacks {', '.join(missing)}"
            checks.append(Check(f"nav {group}", "missing", detail, f"codenib tools install {group}"))
        elif rows:
            checks.append(Check(f"nav {group}", "ok", f"{title} navigation: {there}"))
    return checks
