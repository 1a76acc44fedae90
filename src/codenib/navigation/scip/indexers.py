"""A checkout in, lines of facts out, by the SCIP indexers of Python and of TypeScript and JavaScript.

They are the second choice of their groups: other programs than the live servers, so some answers differ.
"""

from __future__ import annotations

import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from codenib.core.errors import InputError, ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.policies import policy_of

# Seconds that it may take: it says nothing on the way, and the types of a stranger can explode.
_LEAST_S, _FILE_S = 60.0, 1.0
_HEAP_MB = 8192  # scip-python needs 4.2 GB for Django; Node's own limit is lower
_SCRIPT_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")


class _Indexer(ABC):
    """Runs an indexer over a checkout and lowers what it wrote."""

    group: str
    languages: frozenset[str]
    tool: str

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

    def identity(self) -> Mapping[str, str]:
        """Backend and version; raises `ProviderError` with the command that installs it."""
        return {"backend": self.tool, "version": self._tools.require(self.tool).version, "options": ""}

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The line of each file that the indexer covered. It reads the code and runs none of it."""
        tool = self._tools.require(self.tool)
        node, *rest = tool.command
        with tempfile.TemporaryDirectory(prefix="codenib-scip-") as folder:
            out = Path(folder) / "index.scip"
            arguments = self.arguments(root, files, Path(folder), out)
            command = (node, f"--max-old-space-size={_HEAP_MB}", *rest, *arguments)
            policy = None
            if not trusted:  # it writes into this folder alone
                write = (Path(folder).resolve(),)
                policy = policy_of(self.group, root, command, read=(tool.folder,), write=write)
            install = f"codenib tools install {self.tool}"
            program = Program(self.tool, command, install, root, policy=policy)
            yield from indexed(program, out, root, files, partial(progress, f"facts of {self.group}"))

    @abstractmethod
    def arguments(self, root: Path, files: Sequence[str], folder: Path, out: Path) -> list[str]:
        """What follows the program's name; `folder` is for passing files."""


def indexed(
    program: Program, out: Path, root: Path, files: Sequence[str], progress: Callable[[int, int], None]
) -> Iterator[bytes]:
    """Run an indexer on the checkout at `root`; the line of each file in the index that it wrote to `out`."""
    from codenib.navigation.scip.facts import lower  # a second choice, which few repositories come to
    from codenib.navigation.scip.wire import read_index

    progress(0, len(files))
    result = run_program(program, _LEAST_S + _FILE_S * len(files))
    if result.code:
        raise ProviderError(f"{program.name} ended with {result.code}{result.tail}", hint=program.hint)
    if not out.is_file():
        raise ProviderError(f"{program.name} wrote no index of {len(files)} files", hint=program.hint)
    try:
        index = read_index(out.read_bytes(), f"the index of {program.name}")
        for done, line in enumerate(lower(index, lambda path: _read(root, path), files), 1):
            yield line
            progress(done, len(files))
    except InputError as error:  # the indexer's fault, not the caller's
        raise ProviderError(f"{program.name}: {error.message}") from error


def _read(root: Path, path: str) -> bytes | None:
    try:
        return (root / path).read_bytes()
    except OSError:
        return None


class ScipPython(_Indexer):
    """Python by scip-python."""

    group = "python"
    languages = frozenset({"python"})
    tool = "scip-python"

    def arguments(self, root: Path, files: Sequence[str], folder: Path, out: Path) -> list[str]:
        # An empty list of installed packages: else it asks the pip of whatever environment it finds.
        environment = folder / "environment.json"
        environment.write_text("[]")
        return [
            "index", "--project-name", "repository", "--project-version", "0", "--cwd", str(root),
            "--output", str(out), "--environment", str(environment), "--quiet",
        ]  # fmt: skip


class ScipTypeScript(_Indexer):
    """TypeScript and JavaScript by scip-typescript, with one project over the files that were asked for."""

    group = "typescript"
    languages = frozenset({"typescript", "tsx", "javascript"})
    tool = "scip-typescript"

    def arguments(self, root: Path, files: Sequence[str], folder: Path, out: Path) -> list[str]:
        # A configuration of our own, outside of the checkout; that of the repository gives its options alone,
        # because its list of files may leave out the tests.
        config: dict[str, object] = {
            "compilerOptions": {"allowJs": True, "skipLibCheck": True, "noEmit": True},
            "files": [str(root / path) for path in files if path.endswith(_SCRIPT_SUFFIXES)],
        }
        if (root / "tsconfig.json").is_file():
            config["extends"] = str(root / "tsconfig.json")
        project = folder / "tsconfig.json"
        project.write_text(json.dumps(config))
        return [
            "index", "--cwd", str(root), "--output", str(out), "--no-progress-bar",
            "--max-file-byte-size", "10mb", str(project),
        ]  # fmt: skip
