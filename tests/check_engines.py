"""Languages in, their engines checked: formatter, linter (warnings are errors), tests. Exit 1 when one fails.

`make tools` installs what this needs. A language whose tools are missing is skipped, saying so; with
CODENIB_TOOLS=required, as in CI, it fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from codenib.navigation.tools.fetch import WITHOUT_CI, copy_with_lock
from codenib.navigation.tools.maven import LEAST_JAVA
from codenib.navigation.tools.recipes import sources

ROOT = Path(__file__).resolve().parent.parent
NAVIGATION = ROOT / "src" / "codenib" / "navigation"
TOOLS = ROOT / ".tools"


class MissingError(Exception):
    """A program that a check needs is not installed."""


def main(languages: Sequence[str]) -> int:
    failed = []
    for language in languages or CHECKS:
        start = time.monotonic()
        try:
            CHECKS[language]()
        except MissingError as missing:
            print(f"{language}: skipped, {missing}: make tools", flush=True)
            if os.environ.get("CODENIB_TOOLS") == "required":
                failed.append(language)
        except subprocess.CalledProcessError as error:
            print(f"{language}: {' '.join(error.cmd)} ended with {error.returncode}", flush=True)
            failed.append(language)
        else:
            print(f"{language}: passed in {time.monotonic() - start:.0f} s", flush=True)
    return 1 if failed else 0


def check_javascript() -> None:
    folder = ROOT / "tools" / "js"
    _need("npm", folder / "node_modules")
    _run(["npm", "run", "--silent", "check"], folder)


def check_go() -> None:
    folder = NAVIGATION / "go" / "engine"
    staticcheck = TOOLS / "bin" / "staticcheck"
    _need("go", staticcheck)
    unformatted = subprocess.run(["gofmt", "-l", folder], capture_output=True, text=True, check=True).stdout
    if unformatted:
        print(unformatted, end="")
        raise subprocess.CalledProcessError(1, ["gofmt", "-l"])
    settings = {"GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
    for command in (["go", "vet"], [str(staticcheck)], ["go", "test"]):
        _run([*command, "./..."], folder, settings)


def check_rust() -> None:
    """Lint and test on the crates that `make tools` compiled, as that takes minutes: in release mode, where
    clippy's compiler stands in for the usual one, for our crate alone."""
    crates = TOOLS / "crates"
    _need("cargo", crates / "release")
    engine = NAVIGATION / "rust" / "engine"
    _run(["cargo", "fmt", "--check"], engine)
    copy = (TOOLS / "rust-engine").resolve()
    _mirror(engine, copy)
    settings = {
        "CARGO_TARGET_DIR": str(crates.resolve()),
        "RUSTC_WORKSPACE_WRAPPER": str(_clippy(copy)),
    }
    for command in ("build", "test"):
        _run([*WITHOUT_CI, "cargo", command, "--release", "--quiet", "--locked"], copy, settings)


def check_java() -> None:
    """Every warning of the compiler is an error. Nobody formats it: no formatter comes with a JDK."""
    folder = NAVIGATION / "java" / "engine"
    libraries = sorted((TOOLS / "box").glob("java-facts-*/lib/ecj.jar"))
    _need("javac", libraries[-1] if libraries else TOOLS / "box" / "java-facts")
    with tempfile.TemporaryDirectory() as classes:
        options = ["-Xlint:all", "-Werror", "--release", LEAST_JAVA, "-d", classes, "-cp", str(libraries[-1])]
        _run(["javac", *options, *(path.name for path in sorted(folder.glob("*.java")))], folder)


def _mirror(engine: Path, copy: Path) -> None:
    """Copy the engine with its tests, so that cargo leaves nothing beside the sources. What did not change is
    not written: cargo compiles what is newer than its results."""
    tests = {path.relative_to(engine): path.read_bytes() for path in engine.rglob("tests.rs")}
    names = {path.relative_to(engine) for path in sources(engine)} | tests.keys()
    for path in copy.rglob("*.rs"):
        if path.relative_to(copy) not in names:
            path.unlink()
    copy_with_lock(engine, copy)
    for name, contents in tests.items():
        if not (copy / name).is_file() or (copy / name).read_bytes() != contents:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)  # a room's modules may all be for tests
            (copy / name).write_bytes(contents)


def _clippy(folder: Path) -> Path:
    wrapper = folder / "clippy.sh"
    if not wrapper.exists():
        wrapper.write_text('#!/bin/sh\nexec clippy-driver "$@" -D warnings\n')
        wrapper.chmod(0o755)
    return wrapper


def _need(program: str, path: Path) -> None:
    if shutil.which(program) is None:
        raise MissingError(f"{program} is not on the path")
    if not path.exists():
        raise MissingError(f"{path.relative_to(ROOT)} is not there")


def _run(command: Sequence[str], folder: Path, settings: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **(settings or {})}, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    if done.returncode:
        print(done.stdout)
        raise subprocess.CalledProcessError(done.returncode, list(command))


CHECKS: dict[str, Callable[[], None]] = {
    "javascript": check_javascript,
    "go": check_go,
    "rust": check_rust,
    "java": check_java,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
