"""An engine's program in, the running engine out: requests and answers are lines of JSON.

The engine runs until it is closed. It has a checkout, is told which files changed, and answers for single
files: their facts, and what other files can see of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from codenib.core.errors import ProviderError
from codenib.core.facts import WireNode
from codenib.navigation.engines.process import ChildProcess, Program

Ranges = Mapping[str, Sequence[tuple[int, int]]]


class ResidentEngine:
    """One process of an engine; any failure ends it and raises `ProviderError`."""

    whole = False

    def __init__(self, program: Program) -> None:
        self.program = program
        self._child = ChildProcess(program)
        self._sums: dict[str, bytes] = {}
        self.requests = 0
        self.settled = False

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        """Tell which files there are now, and which of them changed, came or went."""
        self.settled = False
        for _ in self._ask({"sync": list(files), "changed": list(changed)}):
            pass

    def lines(self, paths: Sequence[str], within: Ranges | None = None) -> Iterator[bytes]:
        """The line of facts of each; of a file in `within` only with the names on these lines."""
        yield from self._ask({"lines": list(paths), "within": dict(within or {})})

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[dict[str, bytes], frozenset[str]]:
        """The lines that differ from those given last, or all; and the files whose lines do not."""
        found = dict(zip(paths, self.lines(paths), strict=True))
        sums = {path: hashlib.sha256(line).digest() for path, line in found.items()}
        same = (
            frozenset() if anew else frozenset(path for path in paths if sums[path] == self._sums.get(path))
        )
        self._sums, self.settled = sums, True
        return {path: line for path, line in found.items() if path not in same}, same

    def nodes(self, paths: Sequence[str]) -> dict[str, list[WireNode]]:
        """The declarations of each file, as its line has them."""
        rows = (json.loads(line) for line in self._ask({"nodes": list(paths)}))
        return {row["file"]: msgspec.convert(row["nodes"], list[WireNode]) for row in rows}

    def surfaces(
        self,
        paths: Sequence[str],
        touched: Sequence[str] = (),
        entries: Mapping[str, Sequence[str]] | None = None,
        held: Sequence[str] = (),
    ) -> dict[str, Mapping[str, str]]:
        """What others see of each file, by name; a name in `touched` means something else than before."""
        found: dict[str, Mapping[str, str]] = {}
        request: dict[str, Any] = {"surfaces": list(paths), "touched": list(touched)}
        request |= {"entries": dict(entries or {}), "held": list(held)}
        for line in self._ask(request):
            row = json.loads(line)
            found[row["file"]] = row["surface"]
        return found

    def imports(self, paths: Sequence[str]) -> dict[str, list[str]]:
        """What each imports, where the project's configuration leaves files out; else nothing."""
        rows = (json.loads(line) for line in self._ask({"imports": list(paths)}))
        return {row["file"]: row["imports"] for row in rows}

    def apart(self) -> frozenset[str]:
        """Of the files that the project's configuration leaves out, those that it imports all the same."""
        return frozenset(path for line in self._ask({"apart": True}) for path in json.loads(line)["apart"])

    @property
    def alive(self) -> bool:
        return self._child.alive

    @property
    def resident_bytes(self) -> int:
        """How much memory the process uses; 0 where the system does not say."""
        return self._child.resident_bytes

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def _ask(self, request: dict[str, Any]) -> Iterator[bytes]:
        """The lines that answer a request; a failure ends the engine."""
        self.requests += 1
        try:
            self._child.stdin.write(json.dumps(request).encode() + b"\n")
            self._child.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._failed("; ".join(self._child.last_lines()) or str(error)) from error
        for line in self._child.stdout:
            if line.startswith(b'{"end"'):
                return
            if line.startswith(b'{"error"'):
                raise self._failed(str(json.loads(line)["error"]))
            yield line.rstrip(b"\n")
        raise self._failed()

    def _failed(self, reason: str = "") -> ProviderError:
        return self._child.failure(reason)
