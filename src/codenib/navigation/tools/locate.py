"""A tool's name in, the program that we can run out: on the path at a known version, or installed by us."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import util
from pathlib import Path
from typing import Literal

from codenib.core.errors import InputError, ProviderError
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program
from codenib.navigation.tools.recipes import Recipe, recipes
from codenib.system.distributions import installed_version

Origin = Literal["path", "python environment", "codenib"]
#: In a tool's folder once it is complete: its name and version.
MARKER = "codenib-tool.json"
_VERSION = re.compile(r"\bv?(\d+(?:\.\d+)+(?:-[\w.]+)?)")
_ASK_S = 20.0
# (program, its size, its time of change) → what it says of its version. A program is asked once a process.
_asked: dict[tuple[str, int, int], str] = {}


@dataclass(frozen=True, slots=True)
class ExternalTool:
    """An outside program: how to start it, and where its files are.

    `folder` is the package for a library (the folder of package.json), else the folder that holds the
    program. `command` starts the server or the program; arguments follow.
    """

    name: str
    version: str
    command: tuple[str, ...]
    folder: Path
    origin: Origin = "codenib"


@dataclass(frozen=True, slots=True)
class ToolReport:
    """What `codenib tools` shows of one tool; `note` says why one that is there is not used."""

    name: str
    group: str
    serves: str
    wanted: str
    version: str
    origin: str
    where: str
    install: str
    optional: bool
    note: str = ""


class Toolbox:
    """The outside programs of one installation; `root` is the folder that `codenib tools install` fills."""

    def __init__(self, root: Path, table: Sequence[Recipe] | None = None) -> None:
        self.root = root
        self.table = {recipe.name: recipe for recipe in (recipes() if table is None else table)}
        self._located: dict[str, ExternalTool] = {}

    def recipe(self, name: str) -> Recipe:
        """The row of a tool."""
        if name not in self.table:
            raise InputError(f"no tool is called {name!r}", hint="codenib tools")
        return self.table[name]

    def find(self, name: str) -> ExternalTool | None:
        """The tool, when it is there at a version that we know to work."""
        if (known := self._located.get(name)) and known.folder.exists():
            return known
        recipe = self.recipe(name)
        found = (
            self._within(recipe) or self._on_path(recipe) or self._in_python(recipe) or self.installed(name)
        )
        if found is not None:
            self._located[name] = found
        return found

    def require(self, name: str) -> ExternalTool:
        """The tool, or the error that names the command which installs it."""
        found = self.find(name)
        if found is None:
            recipe = self.recipe(name)
            lacks = f"{name} {recipe.version} is not installed"
            if recipe.runner and self.find(recipe.runner) is None:
                lacks += f", or {recipe.runner} is missing"
            note = self._note(recipe)
            raise ProviderError(f"{lacks} ({note})" if note else lacks, hint=recipe.install)
        return found

    def installed(self, name: str) -> ExternalTool | None:
        """The tool as `codenib tools install` left it, at the pinned version."""
        recipe = self.recipe(name)
        folder = self.folder(recipe)
        if not is_complete(folder, recipe):
            return None
        return self._tool(recipe, recipe.version, folder / recipe.package, "codenib")

    def folder(self, recipe: Recipe) -> Path:
        """Where `codenib tools install` puts it."""
        return self.root / f"{recipe.name}-{recipe.version}"

    def report(self) -> list[ToolReport]:
        """Every tool: what is there, from where, for what, and how to get it."""
        return [self._report(recipe) for recipe in self.table.values()]

    def _report(self, recipe: Recipe) -> ToolReport:
        found = self.find(recipe.name)
        return ToolReport(
            name=recipe.name,
            group=recipe.group,
            serves=recipe.serves,
            wanted=recipe.version,
            version=found.version if found else "",
            origin=found.origin if found else "",
            where=str(found.folder) if found else "",
            install=recipe.install,
            optional=recipe.optional,
            note=self._note(recipe),
        )

    def _note(self, recipe: Recipe) -> str:
        program = _program_on_path(recipe)
        if not program or self.find(recipe.name) is not None:
            return ""
        version = _path_version(recipe, program)
        return f"{program} is {version}, not known to work" if version else f"{program} does not work"

    def _within(self, recipe: Recipe) -> ExternalTool | None:
        other = self.find(recipe.within) if recipe.within in self.table else None
        if other is None:
            return None
        return replace(
            other, name=recipe.name, version=recipe.version, command=(*other.command, *recipe.arguments)
        )

    def _on_path(self, recipe: Recipe) -> ExternalTool | None:
        program = _program_on_path(recipe)
        if not program or not recipe.accepts(_path_version(recipe, program)):
            return None
        version = _path_version(recipe, program)
        if recipe.runner:
            package = _package_of(program, recipe)
            return self._tool(recipe, version, package, "path") if package else None
        path = Path(program)
        return ExternalTool(recipe.name, version, (str(path),), path.resolve().parent, "path")

    def _in_python(self, recipe: Recipe) -> ExternalTool | None:
        if not recipe.module:
            return None
        try:
            spec = util.find_spec(recipe.module)
        except ValueError:
            return None
        if spec is None or spec.origin is None:
            return None
        version = installed_version(recipe.distribution)
        if version is None or not recipe.accepts(version):
            return None
        return self._tool(recipe, version, Path(spec.origin).parent, "python environment")

    def _tool(self, recipe: Recipe, version: str, package: Path, origin: Origin) -> ExternalTool | None:
        program = package / recipe.program
        if not program.is_file():
            return None
        command: tuple[str, ...] = (str(program),)
        if recipe.runner:
            runner = self.find(recipe.runner)
            if runner is None:
                return None
            command = (*runner.command, str(program))
        folder = package if recipe.package else program.parent
        return ExternalTool(recipe.name, version, command, folder, origin)


def is_complete(folder: Path, recipe: Recipe) -> bool:
    """Whether `folder` is a finished install of `recipe`."""
    try:
        mark = json.loads((folder / MARKER).read_bytes())
    except (OSError, ValueError):
        return False
    return bool(mark == {"name": recipe.name, "version": recipe.version})


def _program_on_path(recipe: Recipe) -> str:
    """The program; not rustup's stand-in, which asks the folder where it is started for the toolchain."""
    program = shutil.which(recipe.on_path) if recipe.on_path else None
    if program is None or Path(program).resolve().stem != "rustup":
        return program or ""
    command = (str(Path(program).resolve()), "which", recipe.on_path)
    try:
        result = run_program(Program("rustup", command, "codenib tools", Path(program).parent), _ASK_S)
    except ProviderError:
        return ""
    return result.output.strip() if result.code == 0 else ""


def _path_version(recipe: Recipe, program: str) -> str:
    """The version of a program on the path; "" when it does not say one."""
    if recipe.runner:
        package = _package_of(program, recipe)
        return _package_json(package).get("version", "") if package else ""
    try:
        info = os.stat(program)  # noqa: PTH116 - follows links, as starting it does
    except OSError:
        return ""
    key = (program, info.st_size, info.st_mtime_ns)
    if key not in _asked:
        _asked[key] = _ask(program, recipe.ask)
    return _asked[key]


def _ask(program: str, arguments: Sequence[str]) -> str:
    try:
        result = run_program(Program(program, (program, *arguments), "codenib tools"), _ASK_S)
    except ProviderError:
        return ""
    match = _VERSION.search(result.output)
    return match[1] if match and result.code == 0 else ""


def _package_of(program: str, recipe: Recipe) -> Path | None:
    """The npm package that a program on the path belongs to: npm links it into its package."""
    name = recipe.package.removeprefix("node_modules/")
    for folder in Path(program).resolve().parents:
        if (folder / "package.json").is_file():
            return folder if _package_json(folder).get("name") == name else None
    return None


def _package_json(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / "package.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
