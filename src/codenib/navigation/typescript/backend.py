"""TypeScript and JavaScript files of a checkout in, their facts out: TypeScript's engine, driven by a script.

The script runs tsserver's project service in process, so a file has the project that the live server gives
it: that of the tsconfig.json or jsconfig.json above it, of one that this refers to, or an inferred one.

What a live server finds depends on what was opened before. The facts answer as a server does when the asked
file is open alone and other files of its folders were open earlier: the projects of these stay loaded.
No configuration is added for files that no project includes, because the user's worktree has none either:
such a file sees itself and what it imports, so its references are asked by file (see `asks` in the facts).
Packages are not installed in a checkout: names from them lead nowhere, as in a worktree without node_modules.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import ResidentEngine
from codenib.navigation.engines.scripts import script_version
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.typescript.config import configures

_ENGINE = Path(__file__).parent / "engine"
_INSTALL = "codenib tools install typescript"
_HEAP_MB = 3600
# Types die young by the million: a larger nursery saves a fifth of the CPU time for 200 MB.
_NURSERY_MB = 64
# What the engine opens; it parses no other extension of these languages (.es6).
_READ = (".ts", ".mts", ".cts", ".tsx", ".js", ".jsx", ".mjs", ".cjs")


class TypeScriptBackend:
    """Facts that equal the live typescript-language-server's answers, from the engine that it runs."""

    group = "typescript"
    languages = frozenset({"typescript", "tsx", "javascript"})
    stays = True
    caveat = "types that two files share by structure alone"

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

    def identity(self) -> Mapping[str, str]:
        """The engine and our script: both decide the answers."""
        tool = self._tools.require("typescript")
        return {
            "backend": "typescript engine",
            "version": tool.version,
            "options": f"script {script_version(_ENGINE)}",
        }

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The facts of each file. Nothing of the repository runs, so trust changes nothing."""
        read = [name for name in files if _is_read(name)]
        known = frozenset(read)
        made = self._run(root, read, progress) if read else iter(())
        for name in files:
            if name not in known:
                yield _nothing(name)
                continue
            line = next(made, None)
            if line is None:
                raise ProviderError(f"the TypeScript engine gave no facts of {name}", hint=_INSTALL)
            yield line
        for _ in made:
            raise ProviderError("the TypeScript engine gave more than one line for a file", hint=_INSTALL)

    def engine(self, root: Path, *, trusted: bool) -> TypeScriptEngine:
        """The engine, to stay."""
        return TypeScriptEngine("TypeScript", self._command("serve.js", root), _INSTALL)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """Projects and packages are JSON files, and so are some modules."""
        return configures(root, path, before, after)

    def _command(self, script: str, root: Path) -> list[str]:
        tool, node = self._tools.require("typescript"), self._tools.require("node")
        return [
            *node.command, f"--max-old-space-size={_HEAP_MB}", f"--max-semi-space-size={_NURSERY_MB}",
            str(_ENGINE / script), str(tool.folder), str(root.resolve()),
        ]  # fmt: skip

    def _run(self, root: Path, files: Sequence[str], progress: Progress) -> Iterator[bytes]:
        try:
            process = subprocess.Popen(
                self._command("main.js", root),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise ProviderError(f"the TypeScript engine cannot be started: {error}", hint=_INSTALL) from error
        with process:
            ear = _Listener(process, progress, len(files))
            try:
                assert process.stdin and process.stdout
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write("".join(f"{name}\n" for name in files).encode())
                    process.stdin.close()
                for line in process.stdout:
                    yield line.rstrip(b"\n")
                ear.finish(process.wait())
            finally:
                process.kill()
                ear.join()


class TypeScriptEngine(ResidentEngine):
    """The resident engine. It asks what an edit reaches again, and gives the lines that differ."""

    whole = True

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        super().sync([name for name in files if _is_read(name)], [name for name in changed if _is_read(name)])

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[dict[str, bytes], frozenset[str]]:
        read = [name for name in paths if _is_read(name)]
        made: dict[str, bytes] = {}
        same: frozenset[str] = frozenset()
        for line in self._ask({"lines": read, "anew": anew}):
            if line.startswith(b'{"report"'):
                same = frozenset(json.loads(line)["same"])
            else:
                made[_path_of(line)] = line
        found = {name: made.get(name) or _nothing(name) for name in paths if name not in same}
        if len(made) + len(same) != len(read):
            raise self._failed(f"it gave {len(made) + len(same)} of {len(read)} files")
        self.settled = True
        return found, same


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
                self._progress("facts of typescript", int(rest), self._total)
            elif text:
                self._tail.append(rest if word == "error" else text)

    def finish(self, code: int) -> None:
        """Raise what went wrong, if the engine ended with an error."""
        self.join()
        if code:
            reason = "; ".join(self._tail) or "it stopped without a reason, perhaps out of memory"
            raise ProviderError(f"the TypeScript engine failed ({code}): {reason}", hint=_INSTALL)


def _is_read(name: str) -> bool:
    return name.endswith(_READ) and "\n" not in name


def _path_of(line: bytes) -> str:
    """The path that a line begins with."""
    return str(json.loads(line[len(b'{"path":') : line.index(b',"encoding"')]))


def _nothing(name: str) -> bytes:
    empty: dict[str, object] = {"path": name, "encoding": "utf-16", "nodes": [], "targets": [], "lists": []}
    empty |= {"occurrences": [], "relations": []}
    return json.dumps(empty, ensure_ascii=False, separators=(",", ":")).encode()
