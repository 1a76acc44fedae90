"""Rendering: values in, text for a terminal or JSON for a script out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click
import msgspec
from click.core import ParameterSource

from codenib.adapters.cli.terminal import choices, draws_on_errors, is_paged, shows_color
from codenib.core.text.printable import escape_controls
from codenib.serving.place import check_place
from codenib.serving.workspace import Workspace

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PLAIN_EVERY_S = 2.0


def print_json(value: Any) -> None:
    """One JSON document, indented on a terminal."""
    data = msgspec.json.encode(value)
    if sys.stdout.isatty():
        data = msgspec.json.format(data, indent=2)
    click.echo(data.decode("utf-8", "replace"))


def say(line: str) -> None:
    """A remark for people: on standard error, so that output stays clean, or in its place of paged output."""
    if choices().quiet:
        return
    click.echo(click.style(escape_controls(line), dim=True), err=not is_paged())


class ProgressDisplay:
    """Progress on standard error: a bar on a terminal, a plain line now and then elsewhere."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet or choices().quiet
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""
        self._since = 0.0  # when the stage began
        self._said = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __call__(self, stage: str, done: int, total: int, left_s: float | None = None) -> None:
        """Show it; `left_s` is a better estimate than the pace of `done`, where somebody has one."""
        if self._quiet:
            return
        try:
            if draws_on_errors():
                self._draw(stage, done, total, left_s)
            else:
                self._write(stage, done, total, left_s)
        except BrokenPipeError:  # nobody reads it any more (`| head`): the work goes on
            self._quiet = True

    def _write(self, stage: str, done: int, total: int, left_s: float | None) -> None:
        now = time.monotonic()
        if total <= 1:
            return
        self._begin(stage, now)
        if now - max(self._said, self._since) >= _PLAIN_EVERY_S or done == total:
            self._said = now
            shown = pace(done, total, now - self._since) if left_s is None else f" ({_duration(left_s)} left)"
            click.echo(f"{stage} {done:,}/{total:,}{shown}", err=True)

    def _draw(self, stage: str, done: int, total: int, left_s: float | None) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[count]}"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[pace]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
        now = time.monotonic()
        if self._begin(stage, now) or self._task is None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(stage, total=None, count="", pace="")
        shown = pace(done, total, now - self._since) if left_s is None else f"{_duration(left_s)} left"
        known = total > 1  # else the bar only moves, and the clock says for how long
        count = f"{done:,}/{total:,}" if known else ""
        self._bar.update(self._task, completed=done, total=total if known else None, count=count, pace=shown)

    def _begin(self, stage: str, now: float) -> bool:
        """Whether this is a new stage; its pace is counted from now."""
        new = stage != self._stage
        if new:
            self._stage, self._since = stage, now
        return new


def pace(done: int, total: int, seconds: float) -> str:
    """How fast work goes, and how long it will take.

    >>> pace(300, 1200, 2.0)
    ' (150/s, 6 s left)'
    """
    if not done or seconds <= 0:
        return ""
    rate = done / seconds
    left = f", {(total - done) / rate:,.0f} s left" if done < total else ""
    return f" ({rate:,.0f}/s{left})"


def _duration(seconds: float) -> str:
    """
    >>> _duration(7.4), _duration(180)
    ('7 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def project(repository: str, *, named: bool = False) -> str:
    """The path of a repository, when indexing it can be meant; `named` says that somebody wrote it."""
    context = click.get_current_context(silent=True)
    top = context.find_root() if context is not None else None
    if top is not None and not top.params.get("here"):
        written = top.get_parameter_source("repository") is ParameterSource.COMMANDLINE
        check_place(repository, named=named or written)
    return repository


@contextmanager
def opened(repository: str, *, quiet: bool) -> Iterator[tuple[Workspace, ProgressDisplay]]:
    """The workspace that a command works on, with its progress shown."""
    place = project(repository)
    with ProgressDisplay(quiet=quiet) as progress, Workspace(place, progress=progress) as workspace:
        yield workspace, progress


def human_size(size_bytes: int) -> str:
    """
    >>> human_size(1_500_000)
    '1.5 MB'
    """
    size = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def numbered(text: str, language: str, first_line: int) -> list[str]:
    """Source lines with their numbers; coloured as a whole when standard output is a terminal."""
    lines = text.split("\n")
    if shows_color():
        coloured = _coloured(text, language).split("\n")
        lines = coloured if len(coloured) == len(lines) else lines
    width = len(str(first_line + len(lines) - 1))
    return [
        f"{click.style(str(number).rjust(width), dim=True)}  {line}"
        for number, line in enumerate(lines, first_line)
    ]


def _coloured(text: str, language: str) -> str:
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language or "text", stripnl=False, ensurenl=False)
    except ClassNotFound:
        return text
    coloured: str = highlight(text, lexer, TerminalFormatter())
    return coloured
