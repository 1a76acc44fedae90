"""A Rust checkout in, how rust-analyzer is started on it out: one way for the facts and the live server.

Without trust no program of the repository may run. Build scripts and procedural macros are settings of
rust-analyzer; a repository can also name programs in files that Cargo and rustup read before they build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program
from codenib.navigation.rust.packages import MANIFEST, find_packages

_ASK_S = 20.0
_USUAL_CFGS = ("debug_assertions", "miri")  # what the server sets when nobody says otherwise
_TRUST = "codenib index --trust"
#: Variables that make the compiler load, start or write something else.
_LOADERS = (
    "LD_", "DYLD_", "RUSTC", "RUSTUP", "RUSTDOC", "RUSTFLAGS", "CARGO", "PATH", "LLVM_", "GIT_", "SSH_",
)  # fmt: skip
# Of a Cargo configuration: what starts nothing while metadata is read and no crate is built. The compiler and
# its wrappers are here because variables overrule them.
_HARMLESS = frozenset(
    (
        "alias", "build", "cargo-new", "env", "future-incompat-report", "http", "net", "patch", "paths",
        "profile", "registries", "registry", "resolver", "source", "target", "term", "unstable",
    )
)  # fmt: skip
#: Compiler options of a configuration, which `rustc --print cfg` gets: others write files or load libraries.
_FLAG = re.compile(
    r"--cfg[= ].+|--check-cfg[= ].+|--cap-lints[= ]\w+|-[AWDF] ?[\w:-]+"
    r"|--(?:allow|warn|deny|forbid)[= ][\w:-]+"
    r"|-C ?(?:target-feature|target-cpu|opt-level|debuginfo|debug-assertions|overflow-checks|panic"
    r"|force-frame-pointers|relocation-model|codegen-units|embed-bitcode|lto|strip|symbol-mangling-version"
    r"|force-unwind-tables|link-args?|link-dead-code|linker|prefer-dynamic|rpath|no-redzone|soft-float"
    r"|control-flow-guard|instrument-coverage|linker-flavor|link-self-contained|default-linker-libraries)(?:=.*)?"
)
_TWO_WORDS = frozenset({"--cfg", "--check-cfg", "--cap-lints", "-A", "-W", "-D", "-F", "-C"})
_PROJECTS = frozenset({"rust-project.json", ".rust-project.json"})
_TOOLCHAINS = frozenset({"rust-toolchain", "rust-toolchain.toml"})
#: Settings of the server itself: they may name any program.
_SERVER_SETTINGS = frozenset({"rust-analyzer.toml", ".rust-analyzer.toml"})


def settings(root: Path, *, trusted: bool) -> dict[str, Any]:
    """rust-analyzer's settings (initialization options, without the prefix `rust-analyzer`)."""
    chosen: dict[str, Any] = {
        "cargo": {"buildScripts": {"enable": trusted}, "cfgs": list(_USUAL_CFGS)},
        "procMacro": {"enable": trusted},
        "checkOnSave": False,
        "cachePriming": {"enable": False},
    }
    packages = find_packages(root)
    # As conditions of the source, not as features for Cargo: it would need dependencies that nobody fetched.
    chosen["cargo"]["cfgs"] += [f"feature={name}" for name in packages.features]
    if packages.roots not in ((), (MANIFEST,)) and not (root / "rust-project.json").is_file():
        chosen["linkedProjects"] = list(packages.roots)
    return chosen


def environment(target: Path, *, trusted: bool) -> dict[str, str]:
    """Variables for rust-analyzer and the Cargo that it starts; `target` is outside the repository."""
    chosen = {"CARGO_TARGET_DIR": str(target), "CARGO_TERM_COLOR": "never", "CARGO_NET_RETRY": "1"}
    if trusted:
        return chosen
    # rust-toolchain files may name a folder of the repository; .cargo/config.toml may name another compiler.
    if toolchain := os.environ.get("RUSTUP_TOOLCHAIN") or _default_toolchain():
        chosen["RUSTUP_TOOLCHAIN"] = toolchain
    if compiler := shutil.which("rustc"):
        chosen["RUSTC"] = compiler
    chosen |= {
        "RUSTC_WRAPPER": "",
        "RUSTC_WORKSPACE_WRAPPER": "",
        "CARGO_NET_GIT_FETCH_WITH_CLI": "false",
        "CARGO_NET_OFFLINE": "true",  # a Cargo.toml may name any host
    }
    return chosen


def refuse_unsafe_settings(root: Path) -> None:
    """Raise where a file of the repository can start a program in a way that no variable turns off.

    Ignored and linked folders count: Cargo and the server read settings wherever they lie.
    """
    for folder, name in _setting_files(root):
        path = folder / name
        if reason := _danger(path):
            where = path.relative_to(root).as_posix()
            raise ProviderError(
                f"{where} {reason}, which can start programs of the repository; it is not trusted",
                hint=_TRUST,
            )


def _setting_files(root: Path) -> Iterator[tuple[Path, str]]:
    """The files by which a repository may choose programs."""
    for above, folders, names in os.walk(root):
        folder = Path(above)
        if ".git" in folders:
            folders.remove(".git")
        for name in sorted(names):
            settings = name in _PROJECTS or name in _TOOLCHAINS or name in _SERVER_SETTINGS
            if settings or (folder.name == ".cargo" and name in ("config", "config.toml")):
                yield folder, name
        for link in (folder / name for name in sorted(folders) if (folder / name).is_symlink()):
            inner = (
                f"{'' if link.name == '.cargo' else '.cargo/'}{name}" for name in ("config", "config.toml")
            )
            yield from ((link, name) for name in (*inner, *sorted(_PROJECTS)) if (link / name).is_file())


def _danger(path: Path) -> str:
    """Why a file may choose a program; empty when it does not."""
    if path.name in _SERVER_SETTINGS:
        return "holds settings of rust-analyzer"
    if path.exists() and not path.is_file():
        return "is no regular file, and whoever reads it would wait"
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""  # Cargo, rustup and the server stop there too.
    if path.name in _TOOLCHAINS:
        # A variable names the toolchain; where we know none to name, the file would decide.
        known = not shutil.which("rustup") or os.environ.get("RUSTUP_TOOLCHAIN") or _default_toolchain()
        return "" if known or "path" not in text else "names a toolchain"
    if path.name in _PROJECTS:
        return _sysroot(text)
    try:
        config = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return ""
    reasons = sorted(set(_dangers(config)))
    return f"sets {', '.join(reasons)}" if reasons else ""


def _sysroot(text: str) -> str:
    """Why a project file may choose the compiler: the server runs those of the sysroot that it names."""
    try:
        project = json.loads(text)
    except ValueError:
        return ""
    keys = project.keys() if isinstance(project, dict) else ()
    names = sorted(key for key in keys if key.startswith("sysroot"))
    return f"sets {', '.join(names)}" if names else ""


def _dangers(config: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in config.items():
        unknown = (not above and key not in _HARMLESS) or (above == "unstable." and "build-std" not in key)
        provider = "credential-provider" in key or key == "credential-process"
        loader = above == "env." and key.upper().startswith(_LOADERS)
        flags = key == "rustflags" and not _are_harmless(value)
        if unknown or provider or loader or flags:
            yield f"{above}{key}"
        elif isinstance(value, Mapping):
            yield from _dangers(value, f"{above}{key}.")


def _are_harmless(flags: object) -> bool:
    """Whether compiler options only say how source is read or compiled."""
    words = flags.split() if isinstance(flags, str) else flags
    if not isinstance(words, list):
        return False
    rest = iter(map(str, words))
    for word in rest:
        option = f"{word} {next(rest, '')}" if word in _TWO_WORDS else word
        if not _FLAG.fullmatch(option):
            return False
    return True


@cache
def _default_toolchain() -> str:
    """The toolchain that rustup uses outside any repository; empty without rustup."""
    if not (rustup := shutil.which("rustup")):
        return ""
    return _output(rustup, "show", "active-toolchain").partition(" ")[0].strip()


@cache
def compiler_version() -> str:
    """What `rustc --version` says; empty without a compiler."""
    compiler = shutil.which("rustc")
    return _output(compiler, "--version").strip() if compiler else ""


def _output(*command: str) -> str:
    """What a program prints when it is asked outside any repository; empty when it fails."""
    try:
        result = run_program(Program(command[0], command, "rustc --version", Path.home()), _ASK_S)
    except ProviderError:
        return ""
    return result.output if result.code == 0 else ""
