"""A compilation database without an index in, the index that the facts are made of beside it out.

Clangd's own order is random, and a header's part of the index is made by whoever includes it first. A server
that starts from the index of the facts says what they say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import CannotMaintain, ProviderError
from codenib.navigation.cpp.clangd.index import BackgroundIndex
from codenib.navigation.cpp.clangd.limits import FileLimits, IncludedBytes
from codenib.navigation.cpp.clangd.workers import ClangdWorkers
from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.includes import Includes
from codenib.navigation.tools.locate import ExternalTool


@dataclass(frozen=True, slots=True)
class IndexOrder:
    """What is indexed: the commands of `root` in order, and the files that they may include."""

    root: Path
    commands: Sequence[CompileCommand]
    files: Sequence[str]


class _Stopped(Exception):
    """Time is up, or nobody waits any more."""


def index_in_order(
    tool: ExternalTool, order: IndexOrder, work: Path, *, trusted: bool, goes_on: Callable[[], bool]
) -> None:
    """Index everything into the folder of the database, unless something was indexed there before.

    Once `goes_on` says no, the rest is left to the server.
    """

    def step() -> None:
        if not goes_on():
            raise _Stopped

    includes = Includes(order.root)
    includes.read(order.files)
    limits = FileLimits(IncludedBytes(order.root, includes), len(order.files), trusted=trusted)
    workers = ClangdWorkers(tool, order.root, work, step, limits=limits, trusted=trusted)
    if workers.shards.is_dir():
        return
    try:
        BackgroundIndex(workers, order.commands)
    except (_Stopped, CannotMaintain, ProviderError):
        return  # what there is counts, and the server says what is wrong when it is asked


def until(seconds: float, is_closed: Callable[[], bool]) -> Callable[[], bool]:
    """Says whether to go on: for so long, while somebody waits."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end and not is_closed()
