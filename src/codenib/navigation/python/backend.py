"""Python files of a checkout in, their facts out: basedpyright's own engine, driven by a script of ours."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from codenib.core.errors import ProviderError
from codenib.core.facts import WireNode
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.resident import ResidentEngine
from codenib.navigation.engines.run import EngineRun, fill_unread
from codenib.navigation.engines.scripts import script_command, script_version
from codenib.navigation.python.surface import PythonSurfaceRules
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.policies import policy_of, python_interpreter
from codenib.units.languages import NOTEBOOK_SUFFIX
from codenib.units.notebook_code import engine_name

_ENGINE = Path(__file__).parent / "engine"
_INSTALL = "codenib tools install python"
# MB of heap. Given more than it needs the engine takes more: Django needs between 1,300 and 2,000, and with
# 3,400 its process had 2.5 GB where 2.0 are enough for the same facts in the same time. What does not fit is
# tried again with more.
_HEAP, _LARGE_HEAP = 2200, 3400
# The larger young generation is for the collector, which had a tenth of the time in a profile; its gain was
# not measured alone.
_YOUNG = "--max-semi-space-size=48"
# What the engine's runtime leaves as its last words where the heap was too small.
_HEAP_FULL = "v8::internal"
_READ = (".py", ".pyi")
_SUFFIXES = (*_READ, NOTEBOOK_SUFFIX)
Ranges = Mapping[str, Sequence[tuple[int, int]]]
_CONFIGURATION = frozenset({"pyrightconfig.json", "py.typed", "__builtins__.pyi", "baseline.json"})


class PythonBackend:
    """Facts that equal the live basedpyright's answers, from the engine inside its package."""

    group = "python"
    languages = frozenset({"python", "notebook"})
    stays = False
    caveat = ""
    reread_files: frozenset[str] = frozenset()

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

    def identity(self) -> Mapping[str, str]:
        """The engine and our script; the interpreter on the path decides which libraries the engine sees."""
        tool = self._tools.require("basedpyright")
        return {
            "backend": "basedpyright engine",
            "version": tool.version,
            "options": f"script {script_version(_ENGINE)}",
        }

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The facts of each file. Files that the engine does not read, such as .pyx, have none."""
        reads = partial(_is_read, root)
        read = [engine_name(path) for path in filter(reads, files)]
        program = self._program("facts.js", root, trusted=trusted, heap=_HEAP)
        larger = self._program("facts.js", root, trusted=trusted)
        lines = _named_for_us(self._lines(program, larger, read, progress)) if read else iter(())
        yield from fill_unread(files, reads, lines, program)

    def _lines(
        self, program: Program, larger: Program, files: Sequence[str], progress: Progress
    ) -> Iterator[bytes]:
        """The lines of the program; where its heap was full, those of the larger one, which are equal."""
        given = 0
        try:
            for line in EngineRun(program, self.group, progress).lines(files):
                yield line
                given += 1
        except ProviderError as error:
            if _HEAP_FULL not in error.message:
                raise
            yield from islice(EngineRun(larger, self.group, progress).lines(files), given, None)

    def engine(self, root: Path, *, trusted: bool) -> PythonEngine:
        """The engine, to stay."""
        return PythonEngine(self._program("serve.js", root, trusted=trusted), root)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """What the engine reads beside sources: its configuration, and marks of typed packages."""
        name = path.rpartition("/")[2]
        if name == "pyproject.toml":
            return "" if _tables(before) == _tables(after) else f"{path} configures the engine"
        if name in _CONFIGURATION or path.startswith("typings/"):
            return f"{path} configures the engine"
        return ""

    def _program(self, script: str, root: Path, *, trusted: bool, heap: int = _LARGE_HEAP) -> Program:
        tool, node = self._tools.require("basedpyright"), self._tools.require("node")
        command = script_command(
            node.command, (f"--max-old-space-size={heap}", _YOUNG), _ENGINE / script, tool.folder, root
        )
        if trusted:
            return Program("the Python engine", command, _INSTALL)
        policy = policy_of(self.group, root, command, read=(tool.folder,))
        # Else the engine starts the interpreter of a virtual environment that may be committed.
        return Program("the Python engine", (*command, python_interpreter()), _INSTALL, policy=policy)


class PythonEngine(ResidentEngine):
    """The resident engine; files that it does not read, such as .pyx, have no facts."""

    rules = PythonSurfaceRules()

    def __init__(self, program: Program, root: Path) -> None:
        super().__init__(program)
        self._reads = partial(_is_read, root)

    def _ask(self, request: dict[str, Any]) -> Iterator[bytes]:
        return _named_for_us(super()._ask(json.loads(_named_for_engine(json.dumps(request)))))

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        self.silence.allow_files(len(files))
        super().sync(list(filter(self._reads, files)), [path for path in changed if path.endswith(_SUFFIXES)])

    def lines(self, paths: Sequence[str], within: Ranges | None = None) -> Iterator[bytes]:
        """The line of facts of each; of a file in `within` only with the names on these lines."""
        read = list(filter(self._reads, paths))
        lines = self._ask({"lines": read, "within": dict(within or {})})
        yield from fill_unread(paths, self._reads, lines, self.program)

    def nodes(self, paths: Sequence[str]) -> dict[str, list[WireNode]]:
        """The declarations of each file, as its line has them."""
        rows = (json.loads(line) for line in self._ask({"nodes": list(paths)}))
        return {row["file"]: msgspec.convert(row["nodes"], list[WireNode]) for row in rows}

    def surfaces(
        self,
        paths: Sequence[str],
        touched: Sequence[str] = (),
        entries: Mapping[str, Sequence[str]] | None = None,
        implicit: Sequence[str] = (),
    ) -> dict[str, Mapping[str, str]]:
        """What others see of each file, by name; a name in `touched` means something else than before."""
        request: dict[str, object] = {"surfaces": list(filter(self._reads, paths))}
        request |= {"touched": list(touched), "entries": dict(entries or {}), "held": list(implicit)}
        rows = (json.loads(line) for line in self._ask(request))
        return {row["file"]: row["surface"] for row in rows}


def _is_read(root: Path, path: str) -> bool:
    """Whether the engine reads a file; of a notebook that cannot be laid out as Python there is no code."""
    if path.endswith(NOTEBOOK_SUFFIX):
        return (root / engine_name(path)).is_file()
    return path.endswith(_READ)


def _named_for_engine(request: str) -> str:
    """A request in JSON, with notebooks by the names of their code."""
    return request.replace(f'{NOTEBOOK_SUFFIX}"', f'{engine_name(NOTEBOOK_SUFFIX)}"')


def _named_for_us(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Lines of JSON with notebooks by their own names."""
    code, own = f'{engine_name(NOTEBOOK_SUFFIX)}"'.encode(), f'{NOTEBOOK_SUFFIX}"'.encode()
    return (line.replace(code, own) for line in lines)


def _tables(data: bytes | None) -> object:
    """What the engine reads of a pyproject.toml; the text itself where it cannot be parsed."""
    try:
        tool = tomllib.loads((data or b"").decode()).get("tool", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError):
        return data
    return {name: tool.get(name) for name in ("pyright", "basedpyright")} if isinstance(tool, dict) else data
