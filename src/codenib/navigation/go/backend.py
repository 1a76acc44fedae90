"""Go files of a checkout in, their facts out: the Go type checker, driven by a program of ours."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import ResidentEngine
from codenib.navigation.tools.locate import ExternalTool, Toolbox

_TOOL = "go-facts"
_INSTALL = "codenib tools install go"
_FETCH = "go mod download"
# Repositories keep a broken example or two; a tenth of the files without facts, or of the imports without a
# package, is a build that did not load.
_SILENT = 0.1
_MISSING = 0.1
_ASK_S = 20.0
_BUILD = frozenset({"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"})
_COMPILED = (".s", ".S", ".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".syso")
# What else of the environment decides which files and packages the build consists of.
_SETTINGS = ("GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOFLAGS")


class GoBackend:
    """Facts that equal gopls's answers. Like it we run `go list`, which runs the C compiler for cgo files."""

    group = "go"
    languages = frozenset({"go"})
    stays = True
    caveat = ""

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools
        #: What was missing in the last run without making it worthless, such as dependencies without network.
        self.notes: tuple[str, ...] = ()

    def identity(self) -> Mapping[str, str]:
        """Our program, and the Go installation whose standard library and build settings it reads."""
        tool = self._tools.require(_TOOL)
        return {"backend": "go/types", "version": tool.version, "options": " ".join(_settings())}

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The facts of each file. Nothing of the repository runs, so `trusted` makes no difference."""
        if not files:
            return
        run = _Run(self._tools.require(_TOOL), root)
        count = 0
        for line in run.lines(files, progress):
            count += 1
            yield line
        report = run.report()
        _check(report, count, len(files))
        self.notes = tuple(_notes(report))

    def engine(self, root: Path, *, trusted: bool) -> GoEngine:
        """The engine, to stay."""
        return GoEngine("Go", [*self._tools.require(_TOOL).command, str(root), "serve"], _INSTALL)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """What is compiled beside Go decides what the build consists of."""
        return f"{path} decides what is built" if path.endswith(_COMPILED) else ""

    def rereads(self, path: str) -> bool:
        """The engine asks the go command again when modules or their versions are others."""
        return path.rpartition("/")[2] in _BUILD


class GoEngine(ResidentEngine):
    """The resident engine. It checks what depends on an edit again, and gives the lines that differ."""

    whole = True

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[dict[str, bytes], frozenset[str]]:
        found: dict[str, bytes] = {}
        same: frozenset[str] = frozenset()
        for line in self._ask({"lines": list(paths), "anew": anew}):
            if line.startswith(b'{"report"'):
                row = json.loads(line)
                same = frozenset(row["same"] or ())
                _check(row["report"], len(found) + len(same), len(paths))
            else:
                found[_path_of(line)] = line
        self.settled = True
        return found, same


def _path_of(line: bytes) -> str:
    """The path that a line begins with."""
    end = line.index(b',"encoding"')
    return str(json.loads(line[len(b'{"path":') : end]))


class _Run:
    """One run of the program over one checkout."""

    def __init__(self, tool: ExternalTool, root: Path) -> None:
        self._command = [*tool.command, str(root)]
        self._root = root
        self._tail: deque[str] = deque(maxlen=5)
        self._report: dict[str, Any] | None = None

    def lines(self, files: Sequence[str], progress: Progress) -> Iterator[bytes]:
        try:
            process = subprocess.Popen(
                self._command, cwd=self._root, env=dict(os.environ),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            raise ProviderError(f"{_TOOL} cannot be started: {error}", hint=_INSTALL) from error
        listener = threading.Thread(target=self._listen, args=(process, progress), daemon=True)
        with process:
            listener.start()
            try:
                assert process.stdin and process.stdout
                with suppress(BrokenPipeError):  # it ended at once; its last words say why
                    process.stdin.write("".join(f"{name}\n" for name in files).encode())
                    process.stdin.close()
                for line in process.stdout:
                    yield line.rstrip(b"\n")
            finally:
                process.kill()
                listener.join()

    def _listen(self, process: subprocess.Popen[bytes], progress: Progress) -> None:
        assert process.stderr
        for raw in process.stderr:
            word, _, rest = raw.decode(errors="replace").strip().partition(" ")
            if word == "progress":
                done, _, total = rest.partition(" ")
                progress("facts of go", int(done), int(total))
            elif word == "report":
                self._report = json.loads(rest)
            else:
                self._tail.append(f"{word} {rest}".removeprefix("error ").strip())

    def report(self) -> Mapping[str, Any]:
        if self._report is None:
            reason = " ".join(self._tail) or "it stopped without a reason, perhaps out of memory"
            raise ProviderError(f"{_TOOL} failed: {reason}", hint="codenib doctor")
        return self._report


def _check(report: Mapping[str, Any], lines: int, wanted: int) -> None:
    """Raise where the result is less than it claims to be."""
    if lines != wanted:
        raise ProviderError(f"{_TOOL} gave {lines} of {wanted} files", hint="codenib doctor")
    errors = report["errors"] or report["failed"] or []
    why = f": {errors[0]}" if errors else ""
    if report["silent"] > _SILENT * wanted:
        raise ProviderError(f"{report['silent']} of {wanted} Go files do not load{why}", hint=_FETCH)
    if report["missing"] > _MISSING * report["imports"]:
        absent = f"such as {(report['absent'] or ['?'])[0]}"
        raise ProviderError(
            f"{report['missing']} of {report['imports']} imports lead to no package, {absent}{why}",
            hint=_FETCH,
        )


def _notes(report: Mapping[str, Any]) -> Iterator[str]:
    if report["silent"]:
        yield f"{report['silent']} files have no facts"
    if report["missing"]:
        yield f"{report['missing']} imports lead to no package, such as {report['absent'][0]}"
    for name in report["failed"] or ():
        yield f"the type checker failed in {name}"


def _settings() -> list[str]:
    command = ["go", "env", *_SETTINGS]
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_ASK_S, check=True, env=environment
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ProviderError(f"the go command does not work: {error}", hint="go version") from error
    return [
        f"{name}={value}" for name, value in zip(_SETTINGS, done.stdout.splitlines(), strict=False) if value
    ]
