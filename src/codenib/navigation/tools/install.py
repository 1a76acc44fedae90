"""Names of tools in, installed tools out: fetched from their registries, complete or not there at all."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Literal

from codenib.core.errors import InputError, ProviderError
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program, stream_output
from codenib.navigation.tools.locate import MARKER, ExternalTool, Toolbox
from codenib.navigation.tools.recipes import (
    CargoBuild,
    CargoInstall,
    CustomCommand,
    GoBuild,
    GoInstall,
    Npm,
    Pip,
    Recipe,
    numbers,
    sources,
)

Say = Callable[[str], None]
_PARTIAL = ".partial-"
_CRATES = ".crates"
_SAY_EVERY_S = 5.0
_GET_GO = "install Go, for example from your system's packages"
_GET_RUST = "install Rust with rustup, or `rustup update stable`"
_NPM_QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")


@dataclass(frozen=True, slots=True)
class InstallOutcome:
    """What came of one tool; `error` says why it failed and `hint` what helps."""

    name: str
    done: Literal["installed", "there already", "failed"]
    tool: ExternalTool | None = None
    seconds: float = 0.0
    error: str = ""
    hint: str = ""


def chosen(tools: Toolbox, names: Sequence[str]) -> list[Recipe]:
    """The tools that `names` (groups, tools, "all") stand for, in the order of installing."""
    groups = {recipe.group for recipe in tools.table.values()}
    wanted: set[str] = set()
    for name in names:
        if name == "all" or name in groups:
            wanted.update(
                recipe.name
                for recipe in tools.table.values()
                if not recipe.optional and name in ("all", recipe.group)
            )
        elif name in tools.table:
            wanted.add(name)
        else:
            known = ", ".join([*sorted(groups), "all"])
            raise InputError(f"no group or tool is called {name!r}: there are {known}", hint="codenib tools")
    return [recipe for recipe in tools.table.values() if recipe.name in wanted]


def install(tools: Toolbox, names: Sequence[str], say: Say, *, force: bool = False) -> list[InstallOutcome]:
    """Install what `names` stand for; what is there at a version known to work is left, unless `force`.

    A tool that fails leaves nothing behind and does not stop the others.
    """
    wanted = chosen(tools, names)
    runners = {recipe.runner for recipe in wanted if recipe.runner} - {recipe.name for recipe in wanted}
    for name in sorted(runners):
        if tools.find(name) is None:
            wanted.insert(0, tools.recipe(name))
    outcomes = [_attempt(tools, recipe, say, force=force) for recipe in wanted]
    shutil.rmtree(tools.root / _CRATES, ignore_errors=True)
    return outcomes


def _attempt(tools: Toolbox, recipe: Recipe, say: Say, *, force: bool) -> InstallOutcome:
    try:
        return _install_one(tools, recipe, say, force=force)
    except ProviderError as error:
        say(f"{recipe.name} {recipe.version}: failed")
        return InstallOutcome(recipe.name, "failed", error=error.message, hint=error.hint)
    except OSError as error:
        return InstallOutcome(recipe.name, "failed", error=f"{tools.root}: {error}", hint="codenib doctor")


def _install_one(tools: Toolbox, recipe: Recipe, say: Say, *, force: bool) -> InstallOutcome:
    there = None if force else tools.find(recipe.name)
    if there is not None:
        say(f"{there.name} {there.version}: there already ({there.origin})")
        return InstallOutcome(recipe.name, "there already", there)
    start = time.monotonic()
    say(f"{recipe.name} {recipe.version}: installing")
    tools.root.mkdir(parents=True, exist_ok=True)
    with _exclusive(tools.root, say), _partial(tools.root, recipe) as folder:
        _fill(tools, recipe, folder, say)
        if not (folder / recipe.package / recipe.program).is_file():
            raise ProviderError(
                f"{recipe.name} {recipe.version} was installed without {recipe.program}", hint=recipe.install
            )
        mark = {"name": recipe.name, "version": recipe.version}
        (folder / MARKER).write_text(json.dumps(mark))
        _replace(folder, tools.folder(recipe))
    tool = tools.installed(recipe.name)
    if tool is None:
        raise ProviderError(
            f"{recipe.name} cannot be started: {recipe.runner} is missing", hint="codenib tools"
        )
    seconds = time.monotonic() - start
    say(f"{tool.name} {tool.version}: installed in {seconds:.0f} s")
    return InstallOutcome(recipe.name, "installed", tool, seconds)


@contextmanager
def _exclusive(root: Path, say: Say) -> Iterator[None]:
    """One installer at a time; then whatever is partial was left by one that was killed."""
    with (root / ".lock").open("wb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("waiting for another install to end")
            fcntl.flock(stream, fcntl.LOCK_EX)
        for left in root.glob(f"{_PARTIAL}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


@contextmanager
def _partial(root: Path, recipe: Recipe) -> Iterator[Path]:
    folder = root / f"{_PARTIAL}{recipe.name}-{secrets.token_hex(4)}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _replace(folder: Path, target: Path) -> None:
    """Put a complete folder in its place; an older one of the same version goes."""
    if target.exists():
        old = target.with_name(f"{_PARTIAL}old-{secrets.token_hex(4)}")
        target.rename(old)
        folder.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        folder.rename(target)


def _fill(tools: Toolbox, recipe: Recipe, folder: Path, say: Say) -> None:
    run = _Runner(recipe, say)
    match recipe.source:
        case Pip(packages):
            _pip(run, packages, folder)
        case Npm(packages):
            run([*_npm(tools, recipe), "install", "--prefix", str(folder), *_NPM_QUIET, *packages], folder)
        case GoInstall(package):
            go = _manager("go", recipe, _GET_GO)
            run([go, "install", package], folder, {**_GO, "GOBIN": str(folder / "bin")})
        case GoBuild(source):
            go = _manager("go", recipe, _GET_GO)
            _copy(source, folder / "src")
            run([go, "build", "-trimpath", "-o", f"{folder}/{recipe.program}", "."], folder / "src", _GO)
            shutil.rmtree(folder / "src")
        case CargoInstall(crate, rust):
            cargo = _cargo(recipe, rust)
            run([cargo, "install", crate, "--locked", "--root", str(folder)], folder, _target(tools))
        case CargoBuild(source, rust):
            cargo = _cargo(recipe, rust)
            _copy(source, folder / "src")
            run([cargo, "fetch"], folder / "src")
            copy_release_lock(cargo, folder / "src")
            run([cargo, "fetch"], folder / "src")  # fits the lock file to our program
            # Without --locked the newest versions are taken, and nothing is shared with rust-analyzer.
            run(
                [cargo, "install", "--locked", "--path", "src", "--root", str(folder)], folder, _target(tools)
            )
            shutil.rmtree(folder / "src")
        case CustomCommand(arguments):
            run(list(arguments), folder)


# The user's own flags (vendoring, workspaces) are about other modules, and no other Go is fetched.
_GO = {"GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}


def copy_release_lock(cargo: str, folder: Path) -> None:
    """Put the lock file that rust-analyzer was released with into `folder`, a program on top of its crates.

    So our program is built from versions that were tested together, and shares compiled crates with it.
    """
    command = (cargo, "metadata", "--format-version", "1", "--offline")
    result = run_program(Program("cargo metadata", command, _GET_RUST, folder))
    packages = json.loads(result.output)["packages"] if result.code == 0 else []
    for package in packages:
        lock = Path(package["manifest_path"]).with_name("Cargo.lock")
        if package["name"] == "ra_ap_rust-analyzer" and lock.is_file():
            shutil.copyfile(lock, folder / "Cargo.lock")


def _target(tools: Toolbox) -> dict[str, str]:
    """Where cargo compiles: rust-analyzer and our program share most crates, which take minutes."""
    chosen = os.environ.get("CARGO_TARGET_DIR")
    return {"CARGO_TARGET_DIR": chosen or str(tools.root / _CRATES)}


def _copy(source: Path, target: Path) -> None:
    for path in sources(source):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _pip(run: _Runner, packages: Sequence[str], folder: Path) -> None:
    """Unpack wheels into `folder`; where this environment has no pip, a passing environment has one."""
    python, passing = sys.executable, folder / ".pip"
    if util.find_spec("pip") is None:
        run([python, "-m", "venv", str(passing)], folder)
        python = str(passing / "bin" / "python")
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-compile",
        "--no-input",
        "--disable-pip-version-check",
    ]
    run([python, "-m", "pip", "install", *options, "--target", str(folder), *packages], folder)
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


class _Runner:
    """Runs a step of a recipe: says a line now and then, and on failure raises with the last ones."""

    def __init__(self, recipe: Recipe, say: Say) -> None:
        self._recipe = recipe
        self._say = say

    def __call__(self, command: Sequence[str], folder: Path, extra: Mapping[str, str] | None = None) -> None:
        recipe = self._recipe
        name = f"{recipe.name} {recipe.version} was not installed: {Path(command[0]).name}"
        said = time.monotonic()
        for line in stream_output(Program(name, tuple(command), recipe.install, folder, extra or {})):
            if time.monotonic() - said >= _SAY_EVERY_S:
                said = time.monotonic()
                self._say(f"{recipe.name}: {line.strip()[:100]}")
