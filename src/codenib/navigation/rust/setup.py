"""A Rust checkout in, how rust-analyzer is started on it out: one way for the facts and the live server.

Without trust no program of the repository may run. Build scripts and procedural macros are settings of
rust-analyzer; a repository can also name programs in files that Cargo and rustup read before they build.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program

_ASK_S = 20.0
_DEPTH = 4  # folders searched for a Cargo.toml when the server finds none by itself
#: Variables that make the compiler load or start something else.
_LOADERS = ("LD_", "DYLD_", "RUSTC", "RUSTUP", "RUSTDOC", "CARGO_BUILD", "PATH")


def settings(root: Path, *, trusted: bool) -> dict[str, Any]:
    """rust-analyzer's settings (initialization options, without the prefix `rust-analyzer`)."""
    chosen: dict[str, Any] = {
        "cargo": {"buildScripts": {"enable": trusted}},
        "procMacro": {"enable": trusted},
        "checkOnSave": False,
        "cachePriming": {"enable": False},
    }
    if manifests := _deep_manifests(root):
        chosen["linkedProjects"] = manifests
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
    chosen |= {"RUSTC_WRAPPER": "", "RUSTC_WORKSPACE_WRAPPER": "", "CARGO_NET_GIT_FETCH_WITH_CLI": "false"}
    return chosen


def refuse_unsafe_settings(root: Path) -> None:
    """Raise where a Cargo configuration of the repository can start a program that no variable turns off."""
    for path in sorted((*root.rglob(".cargo/config.toml"), *root.rglob(".cargo/config"))):
        try:
            config = tomllib.loads(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue  # Cargo stops there too, and says so.
        if reasons := sorted(set(_dangers(config))):
            where = path.relative_to(root).as_posix()
            raise ProviderError(
                f"{where} sets {', '.join(reasons)}, which can start programs of the repository",
                hint="codenib index --trust",
            )


def _dangers(config: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in config.items():
        included = key == "include" and not above
        provider = "credential-provider" in key or key == "credential-process"
        loader = above == "env." and key.startswith(_LOADERS)
        if included or provider or loader or (key == "rustflags" and "-Z" in str(value)):
            yield f"{above}{key}"
        elif isinstance(value, Mapping):
            yield from _dangers(value, f"{above}{key}.")


def _deep_manifests(root: Path) -> list[str]:
    """Cargo.toml files where the server, which looks at the root and its direct folders, would find none."""
    if any(path.is_file() for path in (root / "Cargo.toml", root / "rust-project.json")):
        return []
    if any(root.glob("*/Cargo.toml")):
        return []
    for depth in range(2, _DEPTH + 1):
        if found := sorted(root.glob("/".join(["*"] * depth) + "/Cargo.toml")):
            return [path.relative_to(root).as_posix() for path in found]
    return []


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
