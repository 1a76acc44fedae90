"""Options and environment in, how a command speaks to a terminal out: colour, pager, remarks."""

from __future__ import annotations

import io
import logging
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TextIO, cast

import click

from codenib.adapters.cli.safe_output import SafeOutput

_KEY = "codenib.terminal"
_COLORS = {"auto": None, "always": True, "never": False}


@dataclass
class TerminalChoices:
    """What was asked for, at the command or before it."""

    pager: bool = True
    quiet: bool = False


def choices() -> TerminalChoices:
    """Those of the command that runs; the usual ones where none does."""
    context = click.get_current_context(silent=True)
    return TerminalChoices() if context is None else _choices_of(context)


def _choices_of(context: click.Context) -> TerminalChoices:
    found: TerminalChoices = context.meta.setdefault(_KEY, TerminalChoices())
    return found


def color_asked(words: Sequence[str], environment: Mapping[str, str]) -> bool | None:
    """Whether a command line asks for colours, even one that is wrong; else what the environment says.

    >>> color_asked(["--color", "never", "search"], {"FORCE_COLOR": "1"}), color_asked(["--color=always"], {})
    (False, True)
    """
    options = words[: words.index("--")] if "--" in words else words
    given = [word.partition("=")[2] for word in options if word.startswith("--color=")]
    given += [value for name, value in pairwise(options) if name == "--color"]
    asked = _COLORS.get(given[-1]) if given else None
    return color_of(environment) if asked is None else asked


def color_of(environment: Mapping[str, str]) -> bool | None:
    """Whether the environment asks for colours; None leaves it to the stream (https://no-color.org).

    >>> color_of({"NO_COLOR": "1"}), color_of({"TERM": "dumb"}), color_of({"TERM": "xterm"})
    (False, False, None)
    """
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return True if environment.get("FORCE_COLOR", "0") != "0" else None


def shows_color() -> bool:
    """Whether standard output gets colours."""
    context = click.get_current_context(silent=True)
    chosen = context.color if context is not None else color_of(os.environ)
    return sys.stdout.isatty() if chosen is None else chosen


def draws_on_errors() -> bool:
    """Whether standard error is a terminal that can move its cursor."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def width(widest: int) -> int:
    """How many characters of a line fit: a terminal's columns, `widest` at most."""
    return min(widest, max(20, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else widest


def _set_color(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.color = _COLORS[value]


def _set_pager(context: click.Context, _: click.Parameter, off: bool) -> None:
    if off:
        _choices_of(context).pager = False


def _set_quiet(context: click.Context, _: click.Parameter, on: bool) -> None:
    if on:
        _choices_of(context).quiet = True


def _set_verbose(context: click.Context, _: click.Parameter, on: bool) -> None:
    if on:
        explain_decisions()


def terminal_options(*, hidden: bool) -> list[click.Option]:
    """`--color`, `--no-pager`, `--quiet` and `--verbose`: before a command, and hidden after each."""
    shared: dict[str, Any] = {"expose_value": False, "hidden": hidden}
    return [
        click.Option(
            ["--color"], type=click.Choice(list(_COLORS)), callback=_set_color, **shared,
            help="Colours: on a terminal, always or never; NO_COLOR is honoured.",
        ),
        click.Option(
            ["--no-pager"], is_flag=True, callback=_set_pager, **shared,
            help="Do not page output that is longer than the terminal.",
        ),
        click.Option(
            ["-q", "--quiet"], is_flag=True, callback=_set_quiet, **shared,
            help="No progress and no remarks: the answer alone.",
        ),
        click.Option(
            ["-v", "--verbose"], is_flag=True, callback=_set_verbose, **shared,
            help="Say what is decided and why, on standard error.",
        ),
    ]  # fmt: skip


def with_terminal_options(command: click.Command) -> click.Command:
    """The command, which takes the terminal's options too, unless it has its own of that name."""
    taken = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    for option in terminal_options(hidden=True):
        if not taken.intersection(option.opts):
            command.params.append(option)
    return command


def explain_decisions() -> None:
    """Write what the stages log to standard error, dimmed on a terminal."""
    log = logging.getLogger("codenib")
    if not any(isinstance(handler, _Remarks) for handler in log.handlers):
        log.addHandler(_Remarks())
    log.setLevel(logging.DEBUG)


class _Remarks(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        click.echo(click.style(f"codenib: {record.getMessage()}", dim=True), err=True)


class PagedOutput(io.TextIOBase):
    """A terminal's output, collected and shown at the end: at once if it fits, by the user's pager if not."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._parts: list[str] = []

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, text: str, /) -> int:
        self._parts.append(text)
        return len(text)

    def show(self, *, pager: bool) -> None:
        """Give the terminal back, and print."""
        sys.stdout = self._stream
        text = "".join(self._parts)
        columns, lines = shutil.get_terminal_size()
        rows = sum(1 + len(click.unstyle(line)) // max(1, columns) for line in text.splitlines())
        if pager and rows >= lines:
            os.environ.setdefault("LESS", "-RX")  # colours, and what was read stays on the screen
            click.echo_via_pager(text)
        else:
            self._stream.write(text)
            self._stream.flush()


def page_output(context: click.Context) -> None:
    """Page what the command prints, when a person sits before a terminal that can."""
    able = os.environ.get("TERM") not in (None, "", "dumb")
    if not (able and sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        return
    output = PagedOutput(sys.stdout)
    sys.stdout = cast(TextIO, SafeOutput(cast(TextIO, output)))
    context.call_on_close(lambda: output.show(pager=_choices_of(context).pager))


def is_paged() -> bool:
    """Whether remarks belong into standard output, to stand where they are printed."""
    return isinstance(sys.stdout, SafeOutput) and isinstance(sys.stdout.inner, PagedOutput)
