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
import hashlib
import json
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.tools import Toolbox

_ENGINE = Path(__file__).parent.parent / "engines" / "typescript"
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

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

    def identity(self) -> Mapping[str, str]:
        """The engine and our script: both decide the answers."""
        tool = self._tools.require("typescript")
        script = hashlib.sha256()
        for path in sorted(_ENGINE.glob("*.js")):
            script.update(path.read_bytes())
        return {
            "backend": "typescript engine",
            "version": tool.version,
            "options": f"script {script.hexdigest()[:12]}",
        }

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The facts of each file. Nothing of the repository runs, so trust changes nothing."""
        read = [name for name in files if name.endswith(_READ) and "\n" not in name]
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

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """Projects and packages are JSON files, and so are some modules."""
        return f"{path} may configure a project" if path.endswith((".json", ".jsonc")) else ""

    def _run(self, root: Path, files: Sequence[str], progress: Progress) -> Iterator[bytes]:
        tool, node = self._tools.require("typescript"), self._tools.require("node")
        command = [
            *node.command, f"--max-old-space-size={_HEAP_MB}", f"--max-semi-space-size={_NURSERY_MB}",
            str(_ENGINE / "main.js"), str(tool.folder), str(root.resolve()),
        ]  # fmt: skip
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
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


def _nothing(name: str) -> bytes:
    empty: dict[str, object] = {"path": name, "encoding": "utf-16", "nodes": [], "targets": [], "lists": []}
    empty |= {"occurrences": [], "relations": []}
    return json.dumps(empty, ensure_ascii=False, separators=(",", ":")).encode()
