"""A catalogue in, the views of its repositories published out, and a report of what was done and what failed.

The driver keeps nothing that matters: what workers published is found again by the next run, and what it
writes beside the catalogue (which commit is compiled, what that cost) only makes the next run cheaper.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from codenib.core.errors import InputError
from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.fleet.compile.executor import Executor, FinishedBatch, InProcess
from codenib.fleet.compile.local import LocalProcesses
from codenib.fleet.compile.plan import in_order, make_batches
from codenib.fleet.compile.records import (
    BuildRecord,
    CompiledHead,
    MeasuredCost,
    read_record,
    record_file,
    write_record,
)
from codenib.fleet.compile.survey import PendingTask, Survey, configuration_digest, survey
from codenib.fleet.compile.task import TEXT, CompileResult, CompileTask, TaskBatch
from codenib.fleet.search.fleet import catalogue_members
from codenib.fleet.search.summaries import SummaryCache
from codenib.fleet.search.workspaces import DEFAULT_BYTES, OpenWorkspaces
from codenib.fleet.store.objects import ObjectStore
from codenib.system.usage import cpu_seconds

#: Work that is done in the driver's own process: reaching a cluster or starting workers costs more.
HERE_S = 2.0
_LOOKS = 4  # repositories that are looked at at once: git works, we wait
_ATTEMPTS = 2  # at a batch whose worker was lost, past what the executor itself repeats


class ReportProgress(Protocol):
    """Gets what is done of how much; `left_s` is an estimate, None while nobody can say."""

    def __call__(self, stage: str, done: int, total: int, left_s: float | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class FleetFailure:
    """Something of one repository that failed, with what helps and the command that tries it again."""

    name: str
    error: str
    hint: str
    repeat: str


@dataclass(slots=True)
class FleetReport:
    """What a compilation did. `cpu_s` is of the workers, `driver_cpu_s` of this process besides."""

    on: str = ""
    repositories: int = 0
    current: int = 0
    results: list[CompileResult] = field(default_factory=list)
    failures: list[FleetFailure] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_s: float = 0.0
    driver_cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What to compile, and where: `on` is `local`, `ray` or the address of a cluster.

    `store` is the URL of the fleet's store, if it has one. Work of at most `here_s` is done in this process,
    wherever the rest would be.
    """

    repos: tuple[str, ...] = ()
    views: tuple[ViewKind, ...] = ()
    on: str = "local"
    jobs: int = 0
    store: str = ""
    here_s: float = HERE_S

    def repeat(self, name: str) -> str:
        """The command that does one repository again."""
        views = f" --views {','.join(self.views)}" if self.views else ""
        on = f" --on {self.on}" if self.on != "local" else ""
        store = f" --store {self.store}" if self.store else ""
        return f"codenib fleet index --repos {name}{views}{on}{store}"


def compile_fleet(catalogue: Catalogue, request: CompileRequest, progress: ReportProgress) -> FleetReport:
    """Compile what is out of date of the chosen repositories."""
    started, used = time.perf_counter(), cpu_seconds()
    check_address(request.on)
    # Opened once: a bucket's client takes 9 ms to make, a head 0.6 ms to read.
    store = ObjectStore.open(request.store) if request.store else None
    entries = catalogue.matching(request.repos)
    report = FleetReport(repositories=len(entries))
    surveys = _look(catalogue, entries, request, progress, store)
    for each in surveys:
        report.current += each.current
        if each.error:
            report.failures.append(
                FleetFailure(each.entry.name, each.error, each.hint, request.repeat(each.entry.name))
            )
    pending = [task for each in surveys for task in each.pending]
    if pending:
        run = _Run(catalogue, request, report, progress, surveys)
        run.finish(pending)
        _summarize(catalogue, {each.name for each in report.results if not each.failures})
    report.seconds = time.perf_counter() - started
    here = report.on == InProcess.where
    report.driver_cpu_s = cpu_seconds() - used - (report.cpu_s if here else 0.0)
    return report


def _summarize(catalogue: Catalogue, names: Collection[str]) -> None:
    """Make the summaries that questions are routed by, so that the next question does not wait for them.

    What was compiled in another machine's home has no views here, and gets none here.
    """
    workspaces = OpenWorkspaces(DEFAULT_BYTES)
    try:
        compiled = (each for each in catalogue_members(catalogue) if each.name in names)
        SummaryCache(workspaces.pin).current(compiled)
    finally:
        workspaces.close()


def _look(
    catalogue: Catalogue,
    entries: Sequence[RepositoryEntry],
    request: CompileRequest,
    progress: ReportProgress,
    store: ObjectStore | None,
) -> list[Survey]:
    configuration = configuration_digest()
    surveys: list[Survey] = []
    progress("looking", 0, len(entries))
    with ThreadPoolExecutor(_LOOKS, thread_name_prefix="survey") as pool:
        looks = pool.map(lambda entry: survey(catalogue, entry, request.views, configuration, store), entries)
        for each in looks:
            surveys.append(each)
            progress("looking", len(surveys), len(entries))
    return surveys


def check_address(on: str) -> None:
    """Raise where `on` names neither this machine nor a cluster."""
    named = on in ("local", "ray", "auto") or on.startswith("ray://")
    if not named and not re.fullmatch(r"[\w.-]+:\d+|\[[0-9a-fA-F:]+\]:\d+", on):
        raise InputError(f"{on!r} is no cluster", hint="--on local, ray, auto, HOST:PORT or ray://HOST:PORT")


def open_executor(request: CompileRequest) -> Executor:
    """What `--on` names."""
    if request.on == "local":
        return LocalProcesses(request.jobs)
    from codenib.fleet.compile.ray_cluster import RayTasks

    return RayTasks(request.on)


class _Run:
    """One compilation: batches handed out, results written down as they come."""

    def __init__(
        self,
        catalogue: Catalogue,
        request: CompileRequest,
        report: FleetReport,
        progress: ReportProgress,
        surveys: Sequence[Survey],
    ) -> None:
        self._catalogue = catalogue
        self._request = request
        self._report = report
        self._progress = progress
        self._records: dict[str, BuildRecord] = {each.entry.name: each.record for each in surveys}
        self._attempts: dict[str, int] = {}
        self._configuration = configuration_digest()
        self._later: dict[str, list[PendingTask]] = {}
        self._configured: dict[tuple[str, str], tuple[ViewKind, ...]] = {}
        self._total_s = self._done_s = 0.0
        self._began = 0.0

    def finish(self, pending: Sequence[PendingTask]) -> None:
        """Do all of it, and write down what came of each."""
        self._configured = {(each.task.entry.name, each.task.branch): each.configured for each in pending}
        first, self._later = in_order(pending)
        self._total_s = sum(batch.estimate_s for batch in make_batches(pending, self._records, 1))
        executor = InProcess() if self._total_s <= self._request.here_s else open_executor(self._request)
        self._report.on = executor.where
        self._began = time.perf_counter()
        count = {each.task.entry.name for each in pending}
        left = {name: sum(each.task.entry.name == name for each in pending) for name in count}
        try:
            unfinished = self._submit(executor, make_batches(first, self._records, executor.workers))
            while unfinished:
                done = executor.next_finished()
                unfinished -= 1
                if done.lost:
                    unfinished += self._submit(executor, self._again(done))
                    continue
                self._done_s += done.batch.estimate_s
                for result in done.results:
                    self._write_down(result)
                    left[result.name] -= 1
                follow = [task for result in done.results for task in self._later.pop(result.name, [])]
                if follow:
                    unfinished += self._submit(
                        executor, make_batches(follow, self._records, executor.workers)
                    )
                self._show(sum(not value for value in left.values()), len(count))
        finally:
            executor.close()

    def _submit(self, executor: Executor, batches: Sequence[TaskBatch]) -> int:
        for batch in batches:
            executor.submit(batch)
        return len(batches)

    def _again(self, done: FinishedBatch) -> list[TaskBatch]:
        """A lost batch once more, task by task: one that kills its worker must not take others with it."""
        self._report.lost.append(
            f"{', '.join(task.entry.name for task in done.batch.tasks)}: its worker was lost ({done.lost})"
        )
        again: list[TaskBatch] = []
        for batch in done.batch.one_by_one():
            task = batch.tasks[0]
            key = "\0".join(_key(task))
            self._attempts[key] = self._attempts.get(key, 0) + 1
            if self._attempts[key] < _ATTEMPTS:
                again.append(batch)
                continue
            lost = CompileResult(
                name=task.entry.name,
                branch=task.branch,
                commit=task.commit,
                group=task.group,
                error=f"its worker was lost {_ATTEMPTS} times: {done.lost}",
            )
            self._write_down(lost)
            again += make_batches(self._later.pop(task.entry.name, []), self._records, 1)
        return again

    def _write_down(self, result: CompileResult) -> None:
        """Add a result to the report, and to what is remembered of its repository."""
        self._report.results.append(result)
        self._report.cpu_s += result.cpu_s
        for what in result.failures:
            self._report.failures.append(
                FleetFailure(result.name, what, result.hint, self._request.repeat(result.name))
            )
        if result.error:
            return
        entry = self._catalogue.entry(result.name)
        file = record_file(self._catalogue, entry)
        record = with_result(read_record(file), result, self._configuration)
        configured = self._configured[result.name, result.branch]
        if configured:
            head = msgspec.structs.replace(record.heads[result.branch], configured=configured)
            record = msgspec.structs.replace(record, heads={**record.heads, result.branch: head})
        self._records[result.name] = record
        write_record(file, record)

    def _show(self, done: int, total: int) -> None:
        elapsed = time.perf_counter() - self._began
        left = (self._total_s - self._done_s) * elapsed / self._done_s if self._done_s else None
        self._progress("compiling", done, total, max(0.0, left) if left is not None else None)


def with_result(record: BuildRecord, result: CompileResult, configuration: str) -> BuildRecord:
    """What is remembered of a repository after a task."""
    before = record.heads.get(result.branch)
    same = before is not None and (before.commit, before.snapshot) == (result.commit, result.snapshot)
    known = before.views if same and before is not None else ()
    views = tuple(kind for kind in ViewKind if kind in known or kind in result.views)
    configured = before.configured if same and before is not None else ()
    head = CompiledHead(result.commit, result.snapshot, views, configuration, configured)
    costs = dict(record.costs)
    if _tells_cost(result):
        costs[result.group] = MeasuredCost(round(result.cpu_s, 3), result.peak_bytes)
    return msgspec.structs.replace(record, heads={**record.heads, result.branch: head}, costs=costs)


def _tells_cost(result: CompileResult) -> bool:
    """Whether all was built from nothing, with records that nobody had: then it cost what it always will."""
    whole = all(done.how == "built" for done in result.views.values())
    return whole and (result.group != TEXT or (result.derived > 0 and ViewKind.LEXICAL in result.views))


def _key(task: CompileTask) -> tuple[str, str, str]:
    return task.entry.name, task.branch, task.group


def silent_progress(stage: str, done: int, total: int, left_s: float | None = None) -> None:
    """Progress for nobody."""
