"""Names of tools in, installed tools out: fetched from their registries, complete or not there at all."""

from __future__ import annotations

import json
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codenib.core.errors import InputError, ProviderError
from codenib.navigation.tools.fetch import CRATES, Say, add_library_sources, fetch
from codenib.navigation.tools.locate import MARKER, ExternalTool, Toolbox
from codenib.navigation.tools.recipes import CargoBuild, Recipe, RustupComponent
from codenib.system.locks import LOCKS

_PARTIAL = ".partial-"


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

    A tool that fails leaves nothing behind and does not stop the others. After an interruption the tools that
    were installed stay, and the next call goes on: package managers keep what they downloaded, Cargo what it
    compiled.
    """
    wanted = chosen(tools, names)
    runners = {recipe.runner for recipe in wanted if recipe.runner} - {recipe.name for recipe in wanted}
    for name in sorted(runners):
        if tools.find(name) is None:
            wanted.insert(0, tools.recipe(name))
    outcomes: list[InstallOutcome] = []
    try:
        for number, recipe in enumerate(wanted, 1):
            counted = _counted(say, number, len(wanted))
            outcomes.append(_attempt(tools, recipe, counted, force=force))
    except KeyboardInterrupt:
        say(f"interrupted; the same command goes on with {wanted[len(outcomes)].name}")
        raise
    if all(outcome.done != "failed" for outcome in outcomes):
        shutil.rmtree(tools.root / CRATES, ignore_errors=True)
    return outcomes


def _counted(say: Say, number: int, total: int) -> Say:
    """Says which of the tools a line is about."""
    return say if total == 1 else lambda line: say(f"[{number}/{total}] {line}")


def _attempt(tools: Toolbox, recipe: Recipe, say: Say, *, force: bool) -> InstallOutcome:
    try:
        if isinstance(recipe.source, CargoBuild):
            add_library_sources(recipe, say)
        return _install_one(tools, recipe, say, force=force)
    except ProviderError as error:
        say(f"{recipe.name} {recipe.version}: failed")
        return InstallOutcome(recipe.name, "failed", error=error.message, hint=error.hint)
    except OSError as error:
        return InstallOutcome(recipe.name, "failed", error=f"{tools.root}: {error}", hint="codenib doctor")


def _install_one(tools: Toolbox, recipe: Recipe, say: Say, *, force: bool) -> InstallOutcome:
    theirs = isinstance(recipe.source, RustupComponent)
    there = tools.find(recipe.name) if theirs or not force else None
    if there is not None:
        say(f"{there.name} {there.version}: there already ({there.origin})")
        return InstallOutcome(recipe.name, "there already", there)
    start = time.monotonic()
    say(f"{recipe.name} {recipe.version}: installing")
    tools.root.mkdir(parents=True, exist_ok=True)
    with _exclusive(tools.root, say), _partial(tools.root, recipe) as folder:
        fetch(tools, recipe, folder, say)
        if theirs:
            return _added(tools, recipe, say, start)
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


def _added(tools: Toolbox, recipe: Recipe, say: Say, start: float) -> InstallOutcome:
    """A component of the toolchain has the toolchain's version, which we may not know to work."""
    tool = tools.require(recipe.name)
    seconds = time.monotonic() - start
    say(f"{tool.name} {tool.version}: added to the toolchain in {seconds:.0f} s")
    return InstallOutcome(recipe.name, "installed", tool, seconds)


@contextmanager
def _exclusive(root: Path, say: Say) -> Iterator[None]:
    """One installer at a time; then whatever is partial was left by one that was killed."""
    with (root / ".lock").open("wb") as stream:
        if not LOCKS.acquire(stream.fileno(), shared=False, wait=False):
            say("waiting for another install to end")
            LOCKS.acquire(stream.fileno(), shared=False, wait=True)
        for left in root.glob(f"{_PARTIAL}*"):
            shutil.rmtree(left, ignore_errors=True)
        try:
            yield
        finally:
            LOCKS.release(stream.fileno())


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
