"""A compilation database without an index in, the index that the facts are made of beside it out.

Clangd's own order is random, and a header's part of the index is made by whoever includes it first. A server
that starts from the index of the facts says what they say.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import CannotMaintain, ProviderError
from codenib.navigation.cpp.clangd.index import BackgroundIndex
from codenib.navigation.cpp.clangd.limits import FileLimits, IncludedBytes
from codenib.navigation.cpp.clangd.shards import read_head
from codenib.navigation.cpp.clangd.workers import SHARDS, ClangdWorkers
from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.includes import Includes
from codenib.navigation.engines.watchdog import cpu_seconds
from codenib.navigation.tools.locate import ExternalTool


@dataclass(frozen=True, slots=True)
class IndexOrder:
    """What is indexed: the commands of `root` in order, and the files that they may include."""

    root: Path
    commands: Sequence[CompileCommand]
    files: Sequence[str]


#: Beside an index that was made to its end, or for as long as was allowed.
_DONE = "ordered"


class _Closed(Exception):
    """Nobody waits any more."""


class _Spent(Exception):
    """It took as long as it may."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much CPU time of this process and all below it may pass, while it is not closed.

    By the clock a busy machine would leave zstd's index unfinished, which takes 72 s of CPU time.
    """

    cpu_s: float
    is_closed: Callable[[], bool]

    def start(self) -> Callable[[], None]:
        """A step that raises when it is the last."""
        begun = cpu_seconds(os.getpid())

        def step() -> None:
            if self.is_closed():
                raise _Closed
            if cpu_seconds(os.getpid()) - begun >= self.cpu_s:
                raise _Spent

        return step


def index_in_order(
    tool: ExternalTool, order: IndexOrder, work: Path, *, trusted: bool, allowed: Allowance
) -> None:
    """Index everything into the folder of the database, unless that was done there before.

    What takes more than is allowed is left to the server. An index that was interrupted is begun anew: clangd
    would complete it in its own order, and without what several sources make of one part.
    """
    done = work / _DONE
    if done.is_file():
        return
    includes = Includes(order.root)
    includes.read(order.files)
    limits = FileLimits(IncludedBytes(order.root, includes), len(order.files), trusted=trusted)
    workers = ClangdWorkers(tool, order.root, work, allowed.start(), limits=limits, trusted=trusted)
    workers.forget_alone()
    shutil.rmtree(workers.shards, ignore_errors=True)
    try:
        # What there is counts, and the server says what is wrong when it is asked.
        with suppress(_Spent, CannotMaintain, ProviderError):
            BackgroundIndex(workers, order.commands)
    except _Closed:
        return
    finally:
        workers.forget_alone()
    done.touch()


def included(work: Path) -> dict[str, tuple[str, ...]]:
    """What each file includes itself, by the index beside a database."""
    heads = []
    for shard in sorted((work / SHARDS).glob("*.idx")):
        with suppress(ProviderError):  # the server makes a damaged one anew
            heads.append(read_head(shard))
    return {path: includes for path, includes, _ in heads}
