"""Names of commands and how to load each in, a command group out that loads only the command that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from codenib.core.errors import InputError


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command that is not imported yet: its line in the overview, and what loads it."""

    about: str
    load: Callable[[], click.Command]


class LazyGroup(click.Group):
    """A group that imports a command's module only to run it: start-up is part of every answer."""

    def __init__(
        self,
        *,
        lazy: Mapping[str, LazyCommand],
        section: str = "Commands",
        prepare: Callable[[click.Command], click.Command] = lambda command: command,
        **options: Any,
    ) -> None:
        super().__init__(**options)  # click's own options of a group
        self._prepare = prepare
        self.lazy = dict(lazy)
        self._section = section

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self._prepare(self.lazy[cmd_name].load()) if cmd_name in self.lazy else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is asked for; one that does not exist is an error that names the nearest."""
        if args and args[0] not in self.lazy and not args[0].startswith("-"):
            near = get_close_matches(args[0], self.lazy, 3, 0.6)
            near = near or [name for name in self.lazy if name.startswith(args[0])]
            also = f"; did you mean {' or '.join(near)}?" if near else ""
            hint = f"{ctx.command_path} {near[0]} --help" if near else f"{ctx.command_path} --help"
            raise InputError(f"there is no command {args[0][:80]!r}{also}", hint=hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(self._section):
            formatter.write_dl([(name, command.about) for name, command in self.lazy.items()])


def command_in(module: str, name: str) -> Callable[[], click.Command]:
    """What imports `module` and returns its command `name`."""

    def load() -> click.Command:
        command: click.Command = getattr(import_module(module), name)
        return command

    return load
