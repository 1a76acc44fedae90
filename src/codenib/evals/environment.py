"""What a measurement depends on besides the rows: versions, machine, tools. Goes into every header."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

from codenib import __version__
from codenib.system.processes import processor_seconds

_LIBRARIES = ("numpy", "faiss-cpu", "msgspec", "tree-sitter", "regex", "matplotlib", "onnxruntime")


@cache
def environment() -> dict[str, object]:
    """Versions and machine, without names of hosts, users or folders."""
    return {
        "codenib": __version__,
        "source": _source_commit(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "git": _line(["git", "--version"]).removeprefix("git version "),
        "libraries": {name: version for name in _LIBRARIES if (version := _version(name))},
    }


def cpu_s() -> float:
    """Processor seconds that this process and its finished children have used."""
    return processor_seconds()


def load() -> str:
    """How busy the machine is, for a reader of times."""
    said = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return f"{said} on {os.cpu_count()} cores"


def _source_commit() -> str:
    """The commit of an editable install, marked when files differ from it."""
    folder = Path(__file__).resolve().parent
    commit = _line(["git", "-C", str(folder), "rev-parse", "--short=12", "HEAD"])
    if not commit:
        return ""
    changed = _line(["git", "-C", str(folder), "status", "--porcelain", "--untracked-files=no", "."])
    return f"{commit}{' with edits' if changed else ''}"


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _memory_gb() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
