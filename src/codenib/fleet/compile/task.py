"""The values that travel between the driver of a compilation and its workers, as MessagePack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from codenib.core.views import ViewKind
from codenib.fleet.catalogue.entry import RepositoryEntry

#: Views that share the records of blobs are one task: apart, each would parse every file again.
TEXT = "text"


class CompileTask(msgspec.Struct, frozen=True, kw_only=True):
    """Views of one commit of one repository, built where the task runs, and pushed to `store` if any."""

    entry: RepositoryEntry
    branch: str
    commit: str
    default: bool
    views: tuple[ViewKind, ...]
    store: str = ""

    @property
    def group(self) -> str:
        """What its cost is remembered by: the view, or `text` for those that are built together."""
        return str(self.views[0]) if len(self.views) == 1 and self.views[0] in OWN_TASK else TEXT


#: Views with a task of their own.
OWN_TASK = (ViewKind.DENSE, ViewKind.HISTORY, ViewKind.GRAPH)


class ViewResult(msgspec.Struct, frozen=True):
    """What became of a view: `built`, `maintained`, `reused`, `current` or `failed`, with the reason."""

    how: str
    error: str = ""


class CompileResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one task; an `error` is of the task itself, and then it has no views.

    `cpu_s` is of the process that did it and of all that it started; `peak_bytes` of the largest of them.
    """

    name: str
    branch: str
    commit: str
    group: str
    snapshot: str = ""
    views: Mapping[ViewKind, ViewResult] = {}
    derived: int = 0
    cpu_s: float = 0.0
    peak_bytes: int = 0
    seconds: float = 0.0
    sent_bytes: int = 0
    error: str = ""
    hint: str = ""

    @property
    def failures(self) -> list[str]:
        """Everything that went wrong, a line each."""
        views = [f"{kind}: {done.error}" for kind, done in self.views.items() if done.how == "failed"]
        return [*([self.error] if self.error else []), *views]


class TaskBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks that one worker does one after another, with what they need while they run.

    `estimate_s` is CPU time. `engines` names the custom resources that a node should have.
    """

    tasks: tuple[CompileTask, ...]
    estimate_s: float
    cpus: int = 1
    memory_bytes: int = 0
    engines: tuple[str, ...] = ()

    def one_by_one(self) -> list[TaskBatch]:
        """A batch for each task."""
        share = self.estimate_s / len(self.tasks)
        return [msgspec.structs.replace(self, tasks=(task,), estimate_s=share) for task in self.tasks]


class WorkOrder(msgspec.Struct, frozen=True):
    """What a worker is sent: tasks, variables of the driver that matter, and how many processes it may use.

    No `jobs` leaves that as it is.
    """

    tasks: tuple[CompileTask, ...]
    variables: Mapping[str, str]
    jobs: int


def encode_order(order: WorkOrder) -> bytes:
    return msgspec.msgpack.encode(order)


def decode_order(data: bytes) -> WorkOrder:
    return msgspec.msgpack.decode(data, type=WorkOrder)


def encode_results(results: Sequence[CompileResult]) -> bytes:
    return msgspec.msgpack.encode(list(results))


def decode_results(data: bytes) -> list[CompileResult]:
    return msgspec.msgpack.decode(data, type=list[CompileResult])
