"""An engine and the files of a checkout in, the line of facts of each file out: one run from start to end."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any

from codenib.core.errors import ProviderError
from codenib.core.facts import FileScope
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import ChildProcess, Program, read_progress
from codenib.navigation.engines.watchdog import Silence, cpu_seconds, is_asleep

#: Seconds without a word after which an engine is ended. That of Rust loads what lies below a small
#: repository in silence; the others speak file by file. Each file of a large repository adds to it.
_SILENT_S = {"rust": 180.0}
_SILENT_ELSE_S = 60.0
_SILENT_FILE_S = 0.1
#: After a command that fetches what an engine lacked: views do not know that it is there now.
THEN_REBUILD = ", then codenib index --views graph --rebuild"


class EngineRun:
    """One run of an engine. It reads names of files from standard input and writes the line of each.

    On standard error it writes `progress [[STAGE] DONE] TOTAL`, `note TEXT` and at its end `report JSON` or
    `summary JSON`. Any other line is the reason why it fails.
    """

    def __init__(
        self,
        program: Program,
        group: str,
        progress: Progress,
        *,
        silent_s: float | None = None,
        silent_cpu_s: float = inf,
    ) -> None:
        self._program = program
        self._silence = Silence(silent_cpu_s)
        self._stage = f"facts of {group}"
        self._progress = progress
        self._count = 0
        #: What was missing without making the result worthless, such as dependencies without network.
        self.notes: list[str] = []
        self._report: Mapping[str, Any] | None = None
        self._silent_s = _SILENT_S.get(group, _SILENT_ELSE_S) if silent_s is None else silent_s
        self._heard: float | None = None  # since when we wait for it to say something

    def lines(self, files: Sequence[str]) -> Iterator[bytes]:
        """The line of each file, as the engine writes them; the engine ends with this iterator.

        One that says nothing for long is ended: types, macros and imports of a stranger can explode.
        """
        self._count = len(files)
        limit_s = self._silent_s + _SILENT_FILE_S * len(files)
        child = ChildProcess(self._program, self._understands)
        over, silent = threading.Event(), threading.Event()
        watch = threading.Thread(target=self._watch, args=(child, limit_s, over, silent), daemon=True)
        watch.start()
        try:
            with suppress(BrokenPipeError):  # it ended early; its last lines say why
                child.stdin.write("".join(f"{name}\n" for name in files).encode())
                child.stdin.close()
            self._heard = monotonic()
            with self._silence.limit(child.pid, child.end):
                for line in child.stdout:
                    self._heard = None  # whoever takes the line may take its time
                    self._silence.hear()
                    yield line.rstrip(b"\n")
                    self._heard = monotonic()
            if self._silence.reason:
                raise child.failure(self._silence.reason)
            if silent.is_set():
                raise child.failure(f"it said nothing for {limit_s:.0f} s, and was ended")
            if child.wait():
                raise child.failure()
        finally:
            over.set()
            watch.join()
            child.close()

    def _watch(
        self, child: ChildProcess, limit_s: float, over: threading.Event, silent: threading.Event
    ) -> None:
        """End a silent engine; when it sleeps or works counts, not when a busy machine lets it wait."""
        look_s = min(1.0, limit_s)
        heard, spent_s, last = self._heard, 0.0, cpu_seconds(child.pid)
        while not over.wait(look_s):
            now = cpu_seconds(child.pid)
            if self._heard is None or self._heard != heard:
                heard, spent_s = self._heard, 0.0
            else:
                spent_s += look_s if is_asleep(child.pid) else min(now - last, look_s)
            last = now
            if spent_s > limit_s:
                silent.set()
                child.end()
                return

    def report(self) -> Mapping[str, Any]:
        """What the engine says of its result as a whole."""
        if self._report is None:
            raise ProviderError(f"{self._program.name} ended without its report", hint=self._program.hint)
        return self._report

    def _understands(self, line: str) -> bool:
        self._silence.hear()
        if self._heard is not None:
            self._heard = monotonic()
        word, _, rest = line.partition(" ")
        if word == "progress":
            stage, done, total = read_progress(rest)
            self._progress(": ".join(filter(None, (self._stage, stage))), done, total or self._count)
        elif word == "note":
            self.notes.append(rest)
        elif word in ("report", "summary"):
            self._report = json.loads(rest)
        return word in ("progress", "note", "report", "summary")


def fill_unread(
    files: Sequence[str], reads: Callable[[str], bool], lines: Iterator[bytes], program: Program
) -> Iterator[bytes]:
    """The line of each file: one of `lines` where the engine reads such files, else an empty one."""
    for name in files:
        line = next(lines, None) if reads(name) else empty_line(name)
        if line is None:
            raise ProviderError(f"{program.name} gave no facts of {name}", hint=program.hint)
        yield line
    for _ in lines:
        raise ProviderError(f"{program.name} gave more than one line for a file", hint=program.hint)


def empty_line(path: str) -> bytes:
    """The line of a file of which the engine gives no facts."""
    empty: dict[str, object] = {"path": path, "encoding": "utf-16", "nodes": [], "targets": [], "lists": []}
    empty |= {"occurrences": [], "relations": [], "scope": FileScope.UNRESOLVED}
    return json.dumps(empty, ensure_ascii=False, separators=(",", ":")).encode()


def path_of(line: bytes) -> str:
    """The path that a line begins with; the rest is not decoded."""
    return str(json.loads(line[len(b'{"path":') : line.index(b',"encoding"')]))
