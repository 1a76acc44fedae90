"""A tool's recipe in, its files in an empty folder out: by the package manager that it comes from.

Each manager compares what it got with a digest of ours (`pins`, go.sum) before it unpacks or compiles it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from importlib import util
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program, stream_output
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.maven import build_jar
from codenib.navigation.tools.recipes import (
    CargoBuild,
    CustomCommand,
    GoBuild,
    GoInstall,
    JavaBuild,
    Npm,
    Pip,
    Recipe,
    RustupComponent,
    numbers,
    sources,
)
from codenib.navigation.tools.unpacked import first_broken

Say = Callable[[str], None]
#: Where cargo compiles. It stays until the programs are built, so that an interrupted build goes on.
CRATES = ".crates"
#: Beside Cargo.toml: Cargo's lock file without its `source` lines.
LOCK = "crates.lock"
#: A crate of rust-analyzer reads this variable while it is compiled: with another value, most of them are
#: compiled again.
WITHOUT_CI = ("env", "-u", "CI")
# How Cargo's lock files call crates.io, whatever mirror is asked.
_CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
_SAY_EVERY_S = 5.0
_GET_GO = "install Go, for example from your system's packages"
_GET_RUST = "install Rust with rustup, or `rustup update stable`"
_NPM_QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
# The user's own flags (vendoring, workspaces) are about other modules, and no other Go is fetched.
_GO = {"GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false -mod=readonly", "GOWORK": "off"}
#: What pip, npm, go and cargo say of a download whose digest is another than the pinned one.
_OTHER_DIGEST = re.compile(
    r"DO NOT MATCH THE HASHES|EINTEGRITY|checksum mismatch|checksum for `|failed to verify the checksum"
)
# Cargo writes its bar and the next line without a line end between them.
_BAR = re.compile(r"Building \[[^]]*\] (\d+)/(\d+)")


def fetch(tools: Toolbox, recipe: Recipe, folder: Path, say: Say) -> None:
    """Fill `folder`; `ProviderError` where a program is missing, fails, or got other bytes than pinned."""
    run = _Runner(recipe, say)
    match recipe.source:
        case Pip(requirements):
            _pip(run, requirements, folder)
        case Npm(lock):
            for name in ("package.json", "package-lock.json"):
                shutil.copyfile(lock / name, folder / name)
            npm = _npm(tools, recipe)
            run((*npm, "ci", "--prefix", str(folder), *_NPM_QUIET), folder)
            asked = run_program(Program("npm", (*npm, "config", "get", "cache"), recipe.install, folder))
            if broken := first_broken(folder, Path(asked.output.strip())):
                raise ProviderError(
                    f"{recipe.name} {recipe.version} was not installed: npm did not write {broken} whole",
                    hint=recipe.install,
                )
        case GoInstall(package, module):
            _go(run, module, (package,), folder)
        case GoBuild(source):
            _go(run, source, ("-trimpath", "."), folder)
        case CargoBuild(source, rust):
            cargo = _cargo(recipe, rust)
            copy_with_lock(source, folder / "src")
            command = (
                *WITHOUT_CI,
                cargo,
                "install",
                "--locked",
                "--path",
                "src",
                "--root",
                str(folder),
                "--no-track",
            )
            run(command, folder, _cargo_settings(tools))
            shutil.rmtree(folder / "src")
        case JavaBuild(source):
            build_jar(recipe, source, folder, run, _said)
        case RustupComponent(component):
            rustup = _manager("rustup", recipe, _GET_RUST)
            run((rustup, "component", "add", component), folder)
        case CustomCommand(arguments):
            run(arguments, folder)


def add_library_sources(recipe: Recipe, say: Say) -> None:
    """Rust's standard library as text, which a plain toolchain lacks: without it its names lead nowhere.

    Where it cannot be had our program works without; the graph then names what it lacks.
    """
    if not (rustc := shutil.which("rustc")) or not (rustup := shutil.which("rustup")):
        return
    home = Path.home()
    try:
        asked = run_program(Program("rustc", (rustc, "--print", "sysroot"), recipe.install, home))
        if (Path(asked.output.strip()) / "lib" / "rustlib" / "src" / "rust" / "library").is_dir():
            return
        say("rust-src: adding the standard library's sources to the toolchain")
        for _ in stream_output(Program("rustup", (rustup, "component", "add", "rust-src"), "", home)):
            pass
    except ProviderError as error:
        reason = error.message.splitlines()[-1]
        say(f"rust-src: not added, so names of the standard library lead nowhere: {_readable(reason)}")


class _Runner:
    """Runs a step of a recipe: says a line now and then, and on failure raises with the last ones."""

    def __init__(self, recipe: Recipe, say: Say) -> None:
        self.recipe = recipe
        self._say = say

    def __call__(
        self, command: tuple[str, ...], folder: Path, extra: Mapping[str, str] | None = None
    ) -> None:
        recipe = self.recipe
        manager = next(Path(word).name for word in command if os.sep in word)
        name = f"{recipe.name} {recipe.version} was not installed: {manager}"
        said = time.monotonic()
        try:
            for line in stream_output(Program(name, command, recipe.install, folder, extra or {})):
                if time.monotonic() - said >= _SAY_EVERY_S:
                    said = time.monotonic()
                    self._say(f"{recipe.name}: {_readable(line)}")
        except ProviderError as error:
            if _OTHER_DIGEST.search(error.message):
                raise ProviderError(
                    f"{recipe.name} {recipe.version} was refused: {manager} got other bytes than those whose "
                    f"digest codenib pinned, from a registry, mirror or cache\n{error.message}",
                    hint=recipe.install,
                ) from error
            raise


def _readable(line: str) -> str:
    """
    >>> _readable("Building [==> ] 12/345: salsa\\r   Compiling rowan v0.15.18")
    '12 of 345, Compiling rowan v0.15.18'
    """
    text = line.rpartition("\r")[2].strip()[:100]
    bars = _BAR.findall(line)
    return f"{bars[-1][0]} of {bars[-1][1]}, {text}" if bars else text


def _pip(run: _Runner, requirements: Path, folder: Path) -> None:
    """Unpack wheels into `folder`; where this environment has no pip, a passing environment has one."""
    python, passing = sys.executable, folder / ".pip"
    if util.find_spec("pip") is None:
        run((python, "-m", "venv", str(passing)), folder)
        python = str(passing / "bin" / "python")
    options = (
        "--no-deps", "--only-binary=:all:", "--no-compile", "--no-input", "--disable-pip-version-check",
        "--require-hashes", "--requirement", str(requirements), "--target", str(folder),
    )  # fmt: skip
    run((python, "-m", "pip", "install", *options), folder)
    shutil.rmtree(passing, ignore_errors=True)


def _npm(tools: Toolbox, recipe: Recipe) -> list[str]:
    """npm of the path, else the one that comes with the Node that we installed."""
    if npm := shutil.which("npm"):
        return [npm]
    node = tools.find("node") if "node" in tools.table else None
    cli = node.folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js" if node else None
    if node is None or cli is None or not cli.is_file():
        raise ProviderError(
            f"npm is not on the path: {recipe.name} comes from npm", hint="codenib tools install node --force"
        )
    return [*node.command, str(cli)]


def _go(run: _Runner, module: Path, arguments: tuple[str, ...], folder: Path) -> None:
    """Build a package with the versions and digests of the go.mod and go.sum in `module`."""
    go = _manager("go", run.recipe, _GET_GO)
    _copy(module, folder / "src")
    target = str(folder / run.recipe.program)
    run((go, "build", "-o", target, *arguments), folder / "src", _GO)
    shutil.rmtree(folder / "src")


def copy_with_lock(source: Path, target: Path) -> None:
    """Copy a Rust program of our own, with Cargo's lock file: every crate's version and digest.

    A file that is the same is left, so that Cargo does not compile it again.
    """
    _copy(source, target)
    lock = re.sub("^checksum = ", f'source = "{_CRATES_IO}"\n\\g<0>', (source / LOCK).read_text(), flags=re.M)
    _write(target / "Cargo.lock", lock.encode())


def _cargo_settings(tools: Toolbox) -> dict[str, str]:
    """Where Cargo compiles, and a bar that we count though nobody sees it."""
    return {
        "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR") or str(tools.root / CRATES),
        "CARGO_TERM_PROGRESS_WHEN": "always",
        "CARGO_TERM_PROGRESS_WIDTH": "80",
    }


def _said(program: str) -> str:
    """What a program says of its version."""
    return run_program(Program(program, (program, "--version"), "codenib tools")).output


def _copy(source: Path, target: Path) -> None:
    for path in sources(source):
        _write(target / path.relative_to(source), path.read_bytes())


def _write(path: Path, contents: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_bytes() != contents:
        path.write_bytes(contents)


def _manager(program: str, recipe: Recipe, advice: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise ProviderError(f"{program} is not on the path: {recipe.name} is built with it", hint=advice)
    return found


def _cargo(recipe: Recipe, rust: str) -> str:
    compiler = _manager("rustc", recipe, _GET_RUST)
    words = run_program(Program("rustc", (compiler, "--version"), _GET_RUST)).output.split()
    version = words[1] if len(words) > 1 else "0"
    if numbers(version) < numbers(rust):
        raise ProviderError(f"{recipe.name} needs Rust {rust} or newer; rustc is {version}", hint=_GET_RUST)
    return _manager("cargo", recipe, _GET_RUST)
