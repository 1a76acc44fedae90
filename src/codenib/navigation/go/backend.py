"""Go files of a checkout in, their facts out: the Go type checker, driven by a program of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.resident import ResidentEngine
from codenib.navigation.engines.run import THEN_REBUILD, EngineRun, path_of
from codenib.navigation.go.build_cache import build_cache
from codenib.navigation.go.limits import silent_cpu_s
from codenib.navigation.go.settings import build_settings
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.policies import policy_of

_TOOL = "go-facts"
_INSTALL = "codenib tools install go"
_FETCH = f"go mod download{THEN_REBUILD}"
# Repositories keep a broken example or two; a tenth of the files without facts is a build that did not load.
# Imports without a package are no reason to refuse, however many: on urfave/cli and spf13/viper without their
# dependencies no reference of 799 functions was lost, as what depends on them is listed by name.
_SILENT = 0.1
_COMPILED = (".s", ".S", ".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".syso")


class GoBackend:
    """Facts that equal gopls's answers. Like it we run `go list`, which runs the C compiler for cgo files."""

    group = "go"
    languages = frozenset({"go"})
    stays = True
    caveat = ""
    #: The engine asks the go command again when modules or their versions are others.
    reread_files = frozenset({"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"})

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools
        #: What was missing in the last run without making it worthless, such as dependencies without network.
        self.lacks: tuple[str, ...] = ()

    def identity(self) -> Mapping[str, str]:
        """Our program, and the Go installation whose standard library and build settings it reads."""
        tool = self._tools.require(_TOOL)
        return {"backend": "go/types", "version": tool.version, "options": " ".join(build_settings())}

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The facts of each file. Nothing of the repository runs; without trust, go is confined."""
        if not files:
            return
        program = self._program(root, trusted=trusted)
        limit_s = inf if trusted else silent_cpu_s(root, files)
        run = EngineRun(program, self.group, progress, silent_cpu_s=limit_s)
        count = 0
        for line in run.lines(files):
            count += 1
            yield line
        report = run.report()
        _check(report, count, len(files))
        self.lacks = tuple(_lacks(report))

    def engine(self, root: Path, *, trusted: bool) -> GoEngine:
        """The engine, to stay."""
        return GoEngine(self._program(root, "serve", trusted=trusted), root, trusted=trusted)

    def _program(self, root: Path, *more: str, trusted: bool) -> Program:
        command = (*self._tools.require(_TOOL).command, str(root), *more)
        if trusted:
            return Program("the Go engine", command, _INSTALL, root)
        cache = build_cache(root, self._tools.root)
        policy = policy_of(self.group, root, command, write=(cache,))
        return Program("the Go engine", command, _INSTALL, root, {"GOCACHE": str(cache)}, policy=policy)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """What is compiled beside Go decides what the build consists of."""
        return f"{path} decides what is built" if path.endswith(_COMPILED) else ""


class GoEngine(ResidentEngine):
    """The resident engine. It checks what depends on an edit again, and gives the lines that differ."""

    lacks: tuple[str, ...] = ()

    def __init__(self, program: Program, root: Path, *, trusted: bool) -> None:
        super().__init__(program)
        self._root = root
        self._trusted = trusted

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        if not self._trusted:
            self.silence.cpu_s = silent_cpu_s(self._root, files)
        super().sync(files, changed)

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[dict[str, bytes], frozenset[str]]:
        fresh: dict[str, bytes] = {}
        same: frozenset[str] = frozenset()
        for line in self._ask({"lines": list(paths), "anew": anew}):
            if line.startswith(b'{"report"'):
                row = json.loads(line)
                same = frozenset(row["same"] or ())
                _check(row["report"], len(fresh) + len(same), len(paths))
                self.lacks = tuple(_lacks(row["report"]))
            else:
                fresh[path_of(line)] = line
        self.settled = True
        return fresh, same


def _check(report: Mapping[str, Any], lines: int, wanted: int) -> None:
    """Raise where the result is less than it claims to be."""
    if lines != wanted:
        raise ProviderError(f"the Go engine gave {lines} of {wanted} files", hint="codenib doctor")
    errors = report["errors"] or report["failed"] or []
    why = f": {_without_downloads(errors[0])}" if errors else ""
    if report["silent"] > _SILENT * wanted:
        raise ProviderError(f"{report['silent']} of {wanted} Go files do not load{why}", hint=_FETCH)


def _without_downloads(error: str) -> str:
    """What the go command says beside the modules that it tried to fetch.

    >>> _without_downloads("stderr: go: downloading a v1\\ngo: a@v1: lookup disabled\\n")
    'go: a@v1: lookup disabled'
    """
    lines = [line for line in error.splitlines() if "go: downloading " not in line]
    return "; ".join(filter(None, lines)) or error


def _lacks(report: Mapping[str, Any]) -> Iterator[str]:
    if report["silent"]:
        yield f"{report['silent']} files have no facts"
    if report["missing"]:
        absent = report["absent"][0]
        yield f"{report['missing']} imports lead to no package, such as {absent}; try: {_FETCH}"
    for name in report["failed"] or ():
        yield f"the type checker failed in {name}"
