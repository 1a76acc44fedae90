"""A Rust checkout in, lines of facts out, by the index that a rust-analyzer of the path writes.

The second choice, until our own program is built or where it cannot be: the server's definitions, but the
references of SCIP, so some answers differ.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import Program
from codenib.navigation.rust.setup import compiler_version, environment, refuse_unsafe_settings, settings
from codenib.navigation.scip.indexers import indexed
from codenib.navigation.tools.locate import ExternalTool, Toolbox
from codenib.navigation.tools.policies import policy_of

_TOOL = "rust-analyzer"
_INSTALL = "codenib tools install rust"


class RustAnalyzerIndex:
    """Rust by `rust-analyzer scip`."""

    group = "rust"
    languages = frozenset({"rust"})

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

    def identity(self) -> Mapping[str, str]:
        """The server and its version; raises `ProviderError` with the command that installs it."""
        version = self._tool().version
        return {
            "backend": "rust-analyzer scip",
            "version": version,
            "options": f"compiler {compiler_version()}",
        }

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The line of each file that the index covers; build scripts and macros run only when `trusted`."""
        if not trusted:
            refuse_unsafe_settings(root)
        with tempfile.TemporaryDirectory(prefix="codenib-scip-") as folder:
            out, config = Path(folder) / "index.scip", Path(folder) / "settings.json"
            config.write_text(json.dumps(self._settings(root, trusted=trusted)))
            arguments = ("scip", str(root), "--output", str(out), "--config-path", str(config))
            command = (*self._tool().command, *arguments)
            added = environment(self._tools.root / "cargo-target", trusted=trusted)
            policy = (
                None if trusted else policy_of(self.group, root, command, write=(Path(folder).resolve(),))
            )
            program = Program("rust-analyzer scip", command, _INSTALL, root, added, policy=policy)
            yield from indexed(program, out, root, files, partial(progress, "facts of rust"))

    def _settings(self, root: Path, *, trusted: bool) -> dict[str, object]:
        chosen = settings(root, trusted=trusted)
        if not trusted:
            # The indexer builds whatever the settings say. With a command that does nothing in the place of
            # Cargo, no build script runs and there is no macro to load.
            nothing = shutil.which("true")
            if nothing is None:
                raise ProviderError(
                    "there is no program `true`, so Cargo would run build scripts", hint=_INSTALL
                )
            chosen["cargo"]["buildScripts"]["overrideCommand"] = [nothing]
        return chosen

    def _tool(self) -> ExternalTool:
        tool = self._tools.require(_TOOL)
        if len(tool.command) > 1:  # ours, whose facts are better than an index
            raise ProviderError("the rust-analyzer of our own writes no index", hint=_INSTALL)
        return tool
