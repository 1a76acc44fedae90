"""A client and a scope in, the edits of configuration files that install or remove our server out.

A record in the home says what was added to which file, so that removal is exact.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import msgspec

from codenib.adapters.mcp.clients.configure import with_block, with_server, without_block, without_server
from codenib.adapters.mcp.clients.known import CLIENTS, SERVER, McpClient, Scope, ServerEntry
from codenib.core.errors import UNDECODABLE, InputError, StoreFault
from codenib.serving.installation import home_file, read_home_file, write_home_file

_AGENTS = "AGENTS.md"


class Added(msgspec.Struct, frozen=True):
    """What was added to a file, and whether the file itself was."""

    text: str = ""
    created: bool = False


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """An edit of one file, as `before` and `after`; `after` is None for a file that goes."""

    file: Path
    before: str | None
    after: str | None

    def diff(self) -> str:
        old = (self.before or "").splitlines(keepends=True)
        new = (self.after or "").splitlines(keepends=True)
        return "".join(unified_diff(old, new, str(self.file), str(self.file)))

    def apply(self) -> None:
        """Write the file, or remove it, and record what was added."""
        records = InstallRecords()
        if self.after is None:
            self.file.unlink()
            records.put(self.file, None)
            return
        before, earlier = self.before or "", records.get(self.file)
        added = len(self.after) > len(before)
        if added and before.count(earlier.text) == 1:
            before = before.replace(earlier.text, "", 1)
        created = self.before is None or earlier.created
        if (
            SERVER in self.after and added
        ):  # the record first: what is added without one is not taken out exactly
            records.put(self.file, Added(added_between(before, self.after), created))
            _write(self.file, self.after)
        else:
            _write(self.file, self.after)
            records.put(self.file, None)


def install_edits(
    clients: list[McpClient], scope: Scope, root: Path, *, more: tuple[str, ...], agents_md: bool
) -> Iterator[ConfigEdit]:
    """The edits that add our server with the arguments `more`, and with `agents_md` our lines for agents."""
    records = InstallRecords()
    for client in clients:
        file = client.file(scope, root)
        before = _read(file)
        # A second run brings the entry up to date, so it takes the first one out.
        earlier = records.get(file).text
        bare = without_server(before or "", client, earlier) if earlier else before or ""
        yield ConfigEdit(file, before, with_server(bare, client, ServerEntry.of(scope, root, more)))
    if agents_md:
        before = _read(root / _AGENTS)
        yield ConfigEdit(root / _AGENTS, before, with_block(before or ""))


def uninstall_edits(
    clients: list[McpClient], scope: Scope, root: Path, *, agents_md: bool
) -> Iterator[ConfigEdit]:
    """The edits that take out exactly what `install_edits` put in."""
    records = InstallRecords()
    for client in clients:
        file = client.file(scope, root)
        if (before := _read(file)) is not None:
            after = without_server(before, client, records.get(file).text)
            yield ConfigEdit(file, before, _rest(after, records.get(file)))
    file = root / _AGENTS
    if agents_md and (before := _read(file)) is not None:
        yield ConfigEdit(
            file, before, _rest(without_block(before, records.get(file).text), records.get(file))
        )


def clients_here(scope: Scope) -> list[McpClient]:
    """The clients on this machine that have a configuration of this scope."""
    present = [client for client in clients_with(scope) if client.is_here]
    if not present:
        names = "|".join(CLIENTS)
        raise InputError("no client was found on this machine", hint=f"codenib install --client {names}")
    return present


def clients_with(scope: Scope) -> list[McpClient]:
    """The clients that have a configuration of this scope."""
    return [client for client in CLIENTS.values() if scope == "user" or client.project]


class InstallRecords:
    """What was added to which file, stored in the home."""

    def __init__(self) -> None:
        self._file = home_file("installed.json")

    def all(self) -> dict[str, Added]:
        try:
            return read_home_file(self._file, dict[str, Added])
        except (FileNotFoundError, *UNDECODABLE):
            return {}

    def get(self, file: Path) -> Added:
        """The record of a file; an empty one where nothing was added."""
        return self.all().get(str(file), Added())

    def put(self, file: Path, added: Added | None) -> None:
        rows = self.all()
        rows.pop(str(file), None)
        if added is not None:
            rows[str(file)] = added
        write_home_file(self._file, rows)


def added_between(before: str, after: str) -> str:
    """The one stretch that `after` has more than `before`."""
    start = 0
    while start < len(before) and before[start] == after[start]:
        start += 1
    end = 0
    while end < len(before) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return after[start : len(after) - end]


def _rest(after: str, record: Added) -> str | None:
    """What stays of a file: nothing of one that we created and that is empty now."""
    return None if record.created and not after.strip() else after


def _read(file: Path) -> str | None:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}: {error}", hint="codenib install --print") from error


def _write(file: Path, text: str) -> None:
    """Replace a file in one step, or the file that a link points at: configuration is often linked."""
    real = Path(os.path.realpath(file))
    fresh = real.with_name(f".{real.name}.codenib")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
        try:
            with fresh.open("wb") as stream:
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())  # else a power failure may leave an empty file for a renamed one
            fresh.chmod(mode)
            fresh.replace(real)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreFault(f"{file}: {error.strerror}", hint="codenib install --print") from error
