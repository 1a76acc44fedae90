"""A policy in, the command that starts a program so that it can do no more out: by what this system offers.

A program that reads an untrusted repository sees the paths of its policy and nothing else of the user's
files, has a home and a temporary folder of its own, no network, and only variables that say where its tools
are. On Linux this is Landlock with seccomp (`confine.py`), or else bubblewrap; on macOS `sandbox-exec`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from codenib.config.resolve import user_choice
from codenib.core.errors import ProviderError

Setting = Literal["off", "auto", "required"]
Mechanism = Literal["", "landlock", "bubblewrap", "sandbox-exec"]
VARIABLE = "CODENIB_SANDBOX"
_GROUPS = frozenset({"python", "typescript", "go", "rust", "cpp", "java"})
_CONFINE = Path(__file__).with_name("confine.py")
_PROBE_S = 20.0
_HINT = f"codenib doctor, or {VARIABLE}=auto"

# What programs, compilers and interpreters of a system are made of, and what they ask the kernel.
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/gnu/store")
_FACTS_OF_THE_SYSTEM = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf",
    "/etc/passwd", "/etc/group", "/etc/ssl/openssl.cnf", "/etc/os-release", "/etc/alternatives", "/proc/self",
    "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/version", "/proc/filesystems", "/proc/sys",
    "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm",
)  # fmt: skip
# Others never end, and a source may include them: what is random comes from the kernel without a file.
_DEVICES = ("/dev/null",)
# Of our own variables: where tools are and how they speak. Others may be keys and tokens.
_PASSED = frozenset(
    (
        "PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "LD_LIBRARY_PATH", "SDKROOT", "DEVELOPER_DIR",
        "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME",
        "CC", "CXX", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "PKG_CONFIG_PATH",
        "GOFLAGS", "GOOS", "GOARCH", "GOROOT", "GOWORK", "GOEXPERIMENT", "GO111MODULE", "GOTOOLCHAIN",
        "CGO_ENABLED", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS",
        "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "CODENIB_CHECK",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PathPolicy:
    """What a program may do: read, write (and read), execute (and read) what is at or below these paths.

    `environment` leads it to those that it would look for in the user's home, as it gets another.
    """

    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    execute: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def joined(self, other: PathPolicy) -> PathPolicy:
        """What either allows."""
        return PathPolicy(
            (*self.read, *other.read),
            (*self.write, *other.write),
            (*self.execute, *other.execute),
            {**self.environment, **other.environment},
        )


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What confines programs here; without a mechanism, `detail` says why there is none."""

    mechanism: Mechanism
    detail: str

    def command(self, policy: PathPolicy, command: Sequence[str], private: Path) -> tuple[str, ...]:
        """The command that starts `command` under `policy`; `private` is its home and temporary folder."""
        program = shutil.which(command[0]) or command[0]
        rules = _rules(policy, private)
        if self.mechanism == "landlock":
            return (*_PYTHON, str(_CONFINE), json.dumps(rules), program, *command[1:])
        if self.mechanism == "bubblewrap":
            return (*bubblewrap_arguments(rules), "--", program, *command[1:])
        if self.mechanism == "sandbox-exec":
            return ("sandbox-exec", "-p", sandbox_profile(rules), program, *command[1:])
        return tuple(command)


def confinement(group: str, *, trusted: bool) -> str:
    """How the engine or server of a language group runs, in words; empty for a group without a program."""
    if group not in _GROUPS:
        return ""
    return "in a sandbox" if not trusted and sandbox().mechanism else "without a sandbox"


def setting() -> Setting:
    """What `CODENIB_SANDBOX`, or the user's file, says."""
    return user_choice("sandbox") or "auto"  # type: ignore[return-value]


def sandbox() -> Sandbox:
    """What confines the programs of untrusted repositories now; ProviderError where one is required."""
    chosen = setting()
    return Sandbox("", f"{VARIABLE}=off") if chosen == "off" else insist(chosen, available_sandbox())


def insist(chosen: Setting, available: Sandbox) -> Sandbox:
    """What is available; ProviderError where a sandbox is required and there is none."""
    if chosen == "required" and not available.mechanism:
        raise ProviderError(f"a sandbox is required, and there is none: {available.detail}", hint=_HINT)
    return available


@cache
def available_sandbox() -> Sandbox:
    """What this system offers, found by trying: a child that should be confined says what it can do."""
    if sys.platform == "darwin":
        return _tried("sandbox-exec", "sandbox-exec")
    if sys.platform != "linux":
        return Sandbox("", f"none is known for {sys.platform}")
    landlock = _tried_landlock()
    if landlock.mechanism:
        return landlock
    bubblewrap = _tried("bubblewrap", "bwrap")
    if bubblewrap.mechanism:
        return bubblewrap
    return Sandbox("", f"{landlock.detail}; {bubblewrap.detail}")


def environment_of(policy: PathPolicy, added: Mapping[str, str], private: Path) -> dict[str, str]:
    """The variables of a confined program."""
    passed = {name: text for name, text in os.environ.items() if name in _PASSED or name.startswith("LC_")}
    own = dict.fromkeys(("HOME", "TMPDIR", "TMP", "TEMP"), str(private))
    return {**passed, **own, **policy.environment, **added}


_PYTHON = (sys.executable or "python3", "-I", "-S")
Rules = Mapping[str, Sequence[str]]


def _rules(policy: PathPolicy, private: Path) -> Rules:
    """The policy with what every program needs. Whoever may see a home folder may see everything."""
    homes = {Path("/"), *_with_parents(Path.home()), *_with_parents(Path.home().resolve())}

    def narrow(paths: Sequence[Path]) -> list[str]:
        return list(dict.fromkeys(str(path) for path in paths if path not in homes))

    return {
        "read": [*_FACTS_OF_THE_SYSTEM, *narrow(policy.read)],
        "write": [str(private), *narrow(policy.write)],
        "execute": [*_SYSTEM, *narrow(policy.execute)],
        "devices": list(_DEVICES),
    }


def _with_parents(path: Path) -> tuple[Path, ...]:
    return (path, *path.parents)


def bubblewrap_arguments(rules: Rules) -> tuple[str, ...]:
    """How bubblewrap is started. Links such as /bin are made again by binding what they lead to."""
    bound = [(kind, path) for kind in ("execute", "read", "write") for path in rules[kind]]
    chosen = ["bwrap", "--die-with-parent", "--unshare-all", "--dev", "/dev", "--proc", "/proc"]
    for kind, path in bound:
        if not path.startswith(("/proc", "/dev")):
            chosen += ["--bind-try" if kind == "write" else "--ro-bind-try", path, path]
    return tuple(chosen)


def sandbox_profile(rules: Rules) -> str:
    """The profile for macOS: everything is denied but what is listed; times and modes count as writes."""

    def below(paths: Sequence[str]) -> str:
        return " ".join(f"(subpath {_quoted(str(Path(path).resolve()))})" for path in paths)

    programs = (*rules["execute"], "/System", "/Library", "/Applications/Xcode.app")
    system = ("/private/etc", "/private/var/db/timezone", "/dev")
    every = (*programs, *rules["read"], *rules["write"], *system)
    return "\n".join(
        (
            "(version 1)",
            "(deny default)",
            "(allow process-fork)",
            "(allow sysctl-read)",
            "(allow signal (target same-sandbox))",
            "(allow file-read-metadata)",
            f'(allow file-read* (literal "/") {below(every)})',
            f"(allow process-exec {below(programs)})",
            f"(allow file-write* {below((*rules['write'], *rules['devices']))})",
            "(deny network*)",
        )
    )


def _quoted(path: str) -> str:
    """
    >>> _quoted('/a "b"')
    '"/a \\\\"b\\\\""'
    """
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _tried_landlock() -> Sandbox:
    with tempfile.NamedTemporaryFile(prefix="codenib-probe-") as outside:
        rules = json.dumps({"probe": outside.name})
        code, said = _run((*_PYTHON, str(_CONFINE), rules))
    if code or not said.startswith("{"):
        return Sandbox("", f"landlock: {said or 'does not work'}")
    tried = json.loads(said)
    if tried["leaks"]:
        return Sandbox("", f"landlock: leaves {' and '.join(tried['leaks'])} open")
    return Sandbox("landlock", f"landlock {tried['abi']}, seccomp")


def _tried(mechanism: Mechanism, program: str) -> Sandbox:
    """Whether a file outside can be read by a child that should be confined."""
    if shutil.which(program) is None:
        return Sandbox("", f"{program} is not on the path")
    with tempfile.TemporaryDirectory(prefix="codenib-probe-") as folder:
        private, outside = Path(folder, "private"), Path(folder, "outside")
        private.mkdir()
        outside.write_text("read")
        asked = Sandbox(mechanism, "")
        script = 'cat "$1" 2>/dev/null || echo confined'
        code, said = _run(asked.command(PathPolicy(), ("/bin/sh", "-c", script, "sh", str(outside)), private))
    if code or said != "confined":
        return Sandbox("", f"{program}: {said or 'does not work'}")
    return Sandbox(mechanism, mechanism)


def _run(command: Sequence[str]) -> tuple[int, str]:
    """The exit code, and what was printed or else the last line of errors."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_S, check=False, cwd="/")
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return done.returncode, lines[-1].removeprefix("error ") if lines else ""
