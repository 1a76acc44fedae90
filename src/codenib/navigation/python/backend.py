"""Python files of a checkout in, their facts out: basedpyright's own engine, driven by a script of ours."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import Ranges, ResidentEngine
from codenib.navigation.engines.scripts import script_version
from codenib.navigation.tools.locate import Toolbox

_ENGINE = Path(__file__).parent / "engine"
_INSTALL = "codenib tools install python"
# The engine empties its caches long before 3.4 GB (Django: 2.7 GB at most). The larger young generation
# is for the collector, which had a tenth of the time in a profile; its gain was not measured alone.
_FLAGS = ("--max-old-space-size=3400", "--max-semi-space-size=48")
_READ = (".py", ".pyi")
_CONFIGURATION = frozenset({"pyrightconfig.json", "py.typed", "__builtins__.pyi", "baseline.json"})


class PythonBackend:
    """Facts that equal the live basedpyright's answers, from the engine inside its package."""

    group = "python"
    languages = frozenset({"python"})
    stays = False
    caveat = ""

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
        read = [name for name in files if name.endswith(_READ)]
        made = self._run(root, read, progress, trusted=trusted) if read else iter(())
        for name in files:
            if not name.endswith(_READ):
                yield _nothing(name)
                continue
            line = next(made, None)
            if line is None:
                raise ProviderError(f"the Python engine gave no facts of {name}", hint=_INSTALL)
            yield line
        for _ in made:
            raise ProviderError("the Python engine gave more than one line for a file", hint=_INSTALL)

    def engine(self, root: Path, *, trusted: bool) -> PythonEngine:
        """The engine, to stay."""
        return PythonEngine("Python", self._command("serve.js", root, trusted=trusted), _INSTALL)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """What the engine reads beside sources: its configuration, and marks of typed packages."""
        name = path.rpartition("/")[2]
        if name == "pyproject.toml":
            return "" if _tables(before) == _tables(after) else f"{path} configures the engine"
        if name in _CONFIGURATION or path.startswith("typings/"):
            return f"{path} configures the engine"
        return ""

    def _command(self, script: str, root: Path, *, trusted: bool) -> list[str]:
        tool, node = self._tools.require("basedpyright"), self._tools.require("node")
        command = [
            *node.command, *_FLAGS, str(_ENGINE / script), str(tool.folder), str(root.resolve()),
        ]  # fmt: skip
        if not trusted:
            # Else the engine starts the interpreter of a virtual environment that may be committed.
            command.append(shutil.which("python3") or sys.executable)
        return command

    def _run(self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool) -> Iterator[bytes]:
        command = self._command("facts.js", root, trusted=trusted)
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise ProviderError(f"the Python engine cannot be started: {error}", hint=_INSTALL) from error
        with process:
            ear = _Listener(process, progress, len(files))
            try:
                assert process.stdin and process.stdout
                with suppress(BrokenPipeError):  # it ended early; the listener knows why
                    process.stdin.write("".join(f"{name}\n" for name in files).encode())
                    process.stdin.close()
                for line in process.stdout:
                    yield line.rstrip(b"\n")
                ear.finish(process.wait())
            finally:
                process.kill()
                ear.join()


class PythonEngine(ResidentEngine):
    """The resident engine; files that it does not read, such as .pyx, have no facts."""

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        super().sync([path for path in files if _is_read(path)], [path for path in changed if _is_read(path)])

    def lines(self, paths: Sequence[str], within: Ranges | None = None) -> Iterator[bytes]:
        made = super().lines([path for path in paths if _is_read(path)], within)
        for path in paths:
            yield next(made) if _is_read(path) else _nothing(path)
        for _ in made:
            raise ProviderError("the Python engine gave more than one line for a file", hint=_INSTALL)

    def surfaces(
        self,
        paths: Sequence[str],
        touched: Sequence[str] = (),
        entries: Mapping[str, Sequence[str]] | None = None,
        held: Sequence[str] = (),
    ) -> dict[str, Mapping[str, str]]:
        return super().surfaces([path for path in paths if _is_read(path)], touched, entries, held)


class _Listener(threading.Thread):
    """Reads what the engine says beside its facts: progress, and the reason when it fails."""

    def __init__(self, process: subprocess.Popen[bytes], progress: Progress, total: int) -> None:
        super().__init__(daemon=True)
        assert process.stderr
        self._from, self._progress, self._total = process.stderr, progress, total
        self._tail: deque[str] = deque(maxlen=12)
        self.start()

    def run(self) -> None:
        for raw in self._from:
            text = raw.decode(errors="replace").rstrip()
            word, _, rest = text.partition(" ")
            if word == "progress" and rest.isdigit():
                self._progress("facts of python", int(rest), self._total)
            elif text:
                self._tail.append(rest if word == "error" else text)

    def finish(self, code: int) -> None:
        """Raise what went wrong, if the engine ended with an error."""
        self.join()
        if code:
            reason = "; ".join(self._tail) or "it stopped without a reason, perhaps out of memory"
            raise ProviderError(f"the Python engine failed ({code}): {reason}", hint=_INSTALL)


def _is_read(path: str) -> bool:
    return path.endswith(_READ)


def _tables(data: bytes | None) -> object:
    """What the engine reads of a pyproject.toml; the text itself where it cannot be parsed."""
    try:
        tool = tomllib.loads((data or b"").decode()).get("tool", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError):
        return data
    return {name: tool.get(name) for name in ("pyright", "basedpyright")} if isinstance(tool, dict) else data


def _nothing(name: str) -> bytes:
    empty: dict[str, object] = {"path": name, "encoding": "utf-16", "nodes": [], "targets": [], "lists": []}
    empty |= {"occurrences": [], "relations": []}
    return json.dumps(empty, ensure_ascii=False, separators=(",", ":")).encode()
