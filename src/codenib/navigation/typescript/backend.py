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

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codenib.core.protocols import Progress
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.resident import ResidentEngine
from codenib.navigation.engines.run import EngineRun, empty_line, fill_unread, path_of
from codenib.navigation.engines.scripts import script_command, script_version
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.policies import policy_of
from codenib.navigation.typescript.config import configures

_ENGINE = Path(__file__).parent / "engine"
_INSTALL = "codenib tools install typescript"
# Types die young by the million: a larger young generation saves a fifth of the CPU time for 200 MB.
_FLAGS = ("--max-old-space-size=3600", "--max-semi-space-size=64")
# What the engine opens; it parses no other extension of these languages (.es6).
_READ = (".ts", ".mts", ".cts", ".tsx", ".js", ".jsx", ".mjs", ".cjs")


class TypeScriptBackend:
    """Facts that equal the live typescript-language-server's answers, from the engine that it runs."""

    group = "typescript"
    languages = frozenset({"typescript", "tsx", "javascript"})
    stays = True
    caveat = "types that two files share by structure alone, and types that depend on themselves"
    reread_files: frozenset[str] = frozenset()

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
        """The facts of each file. Nothing of the repository runs; the sandbox is for what we do not know."""
        program = self._program("main.js", root, trusted=trusted)
        read = [name for name in files if _is_read(name)]
        lines = EngineRun(program, self.group, progress).lines(read) if read else iter(())
        yield from fill_unread(files, _is_read, lines, program)

    def engine(self, root: Path, *, trusted: bool) -> TypeScriptEngine:
        """The engine, to stay."""
        return TypeScriptEngine(self._program("serve.js", root, trusted=trusted))

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """Projects and packages are JSON files, and so are some modules."""
        return configures(root, path, before, after)

    def _program(self, script: str, root: Path, *, trusted: bool) -> Program:
        tool, node = self._tools.require("typescript"), self._tools.require("node")
        command = script_command(node.command, _FLAGS, _ENGINE / script, tool.folder, root)
        policy = None if trusted else policy_of(self.group, root, command, read=(tool.folder,))
        return Program("the TypeScript engine", command, _INSTALL, policy=policy)


class TypeScriptEngine(ResidentEngine):
    """The resident engine. It asks what an edit reaches again, and gives the lines that differ."""

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        self.silence.allow_files(len(files))
        super().sync([name for name in files if _is_read(name)], [name for name in changed if _is_read(name)])

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[dict[str, bytes], frozenset[str]]:
        read = [name for name in paths if _is_read(name)]
        fresh: dict[str, bytes] = {}
        same: frozenset[str] = frozenset()
        for line in self._ask({"lines": read, "anew": anew}):
            if line.startswith(b'{"report"'):
                same = frozenset(json.loads(line)["same"])
            else:
                fresh[path_of(line)] = line
        if len(fresh) + len(same) != len(read):
            raise self._failed(f"it gave {len(fresh) + len(same)} of {len(read)} files")
        self.settled = True
        return {name: fresh.get(name) or empty_line(name) for name in paths if name not in same}, same


def _is_read(name: str) -> bool:
    return name.endswith(_READ) and "\n" not in name
