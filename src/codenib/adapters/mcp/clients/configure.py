"""A client's configuration text in, the text with or without our server out; and a record of what was added.

The record makes removal exact: the very characters that were added are taken out again. A file that people
rewrote since is edited by its structure instead.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import msgspec

from codenib.adapters.mcp.clients.jsontext import BadJson, find_object, members
from codenib.adapters.mcp.clients.known import SERVER, McpClient
from codenib.core.errors import InputError
from codenib.manifest.files import replace_file
from codenib.manifest.home import home

_OPEN, _CLOSE = "<!-- codenib -->", "<!-- /codenib -->"
AGENTS_BLOCK = f"""{_OPEN}
## Finding code
Use the `codenib` MCP tools before grep: `explore` with the task's own words, then `definition` and
`references` for names and `read` for lines. Answers follow every edit; no re-indexing is needed.
{_CLOSE}
"""


class Added(msgspec.Struct, frozen=True):
    """What was added to a file, and whether the file itself was."""

    text: str
    created: bool


def with_server(text: str, client: McpClient, command: str, more: tuple[str, ...]) -> str:
    """`text` with our server; raises when there is one already, or when it cannot be read."""
    if has_server(text, client):
        raise InputError(
            f"there is a server {SERVER!r} already", hint=f"codenib uninstall --client {client.name}"
        )
    if client.form == "toml":
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}{client.toml(command, more)}"
    entry = json.dumps(client.entry(command, more), indent=2, ensure_ascii=False)
    if not text.strip():
        return json.dumps({client.key: {SERVER: client.entry(command, more)}}, indent=2) + "\n"
    return _json_with(text, client.key, entry)


def has_server(text: str, client: McpClient) -> bool:
    """Whether our server is in a configuration."""
    if not text.strip():
        return False
    if client.form == "toml":
        try:
            return SERVER in tomllib.loads(text).get(client.key, {})
        except tomllib.TOMLDecodeError as error:
            raise InputError(
                f"not TOML: {error}", hint=f"codenib install --client {client.name} --print"
            ) from error
    try:
        servers = next((each for each in members(text, find_object(text)) if each.name == client.key), None)
        if servers is None:
            return False
        if text[servers.value] != "{":
            raise BadJson(f"{client.key} is not an object")
        return any(each.name == SERVER for each in members(text, servers.value))
    except (BadJson, RecursionError) as error:
        hint = f"codenib install --client {client.name} --print"
        raise InputError(f"not JSON: {error}", hint=hint) from error


def without_server(text: str, client: McpClient, added: Added | None) -> str:
    """`text` without our server: as it was before, where the record still fits."""
    if added is not None and text.count(added.text) == 1:
        return text.replace(added.text, "", 1)
    if not has_server(text, client):
        return text
    if client.form == "toml":
        return re.sub(rf"(?ms)^\n?\[{client.key}\.{SERVER}\][^\n]*\n.*?(?=^\[|\Z)", "", text)
    servers = next(each for each in members(text, find_object(text)) if each.name == client.key)
    inside = list(members(text, servers.value))
    at = next(number for number, each in enumerate(inside) if each.name == SERVER)
    if at + 1 < len(inside):
        return text[: inside[at].start] + text[inside[at + 1].start :]
    before = inside[at - 1].end if at else servers.value + 1
    return text[:before] + text[inside[at].end :]


def _json_with(text: str, key: str, entry: str) -> str:
    """`text` with a member put first into its servers, in its own indentation."""
    top = find_object(text)
    step = _indentation(text)
    servers = next((each for each in members(text, top) if each.name == key), None)
    if servers is not None:
        return _put(text, servers.value, SERVER, entry, step, 2)
    inside = f"{{\n{step}{json.dumps(SERVER)}: {entry.replace(chr(10), chr(10) + step)}\n}}"
    return _put(text, top, key, inside, step, 1)


def _put(text: str, at: int, name: str, value: str, step: str, depth: int) -> str:
    """A member before the first of the object at `at`."""
    margin = "\n" + step * depth
    shown = value.replace("  ", step) if step != "  " else value
    member = f"{margin}{json.dumps(name)}: {shown.replace(chr(10), margin)}"
    filled = any(True for _ in members(text, at))
    member += "," if filled else "\n" + step * (depth - 1)
    return text[: at + 1] + member + text[at + 1 :]


def _indentation(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def with_block(text: str) -> str:
    """A text for agents with our five lines at its end."""
    if _OPEN in text:
        return text
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{AGENTS_BLOCK}"


def without_block(text: str, added: Added | None) -> str:
    """The text without them."""
    if added is not None and text.count(added.text) == 1:
        return text.replace(added.text, "", 1)
    return re.sub(rf"(?s)\n?{re.escape(_OPEN)}.*?{re.escape(_CLOSE)}\n?", "", text)


def added_between(before: str, after: str) -> str:
    """The one stretch that `after` has more than `before`."""
    start = 0
    while start < len(before) and before[start] == after[start]:
        start += 1
    end = 0
    while end < len(before) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return after[start : len(after) - end]


class InstallRecords:
    """What was added to which file, kept in the home."""

    def __init__(self) -> None:
        self._file = home() / "installed.json"

    def all(self) -> dict[str, Added]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, Added])
        except (FileNotFoundError, msgspec.DecodeError):
            return {}

    def get(self, file: Path) -> Added | None:
        return self.all().get(str(file))

    def put(self, file: Path, added: Added | None) -> None:
        rows = self.all()
        rows.pop(str(file), None)
        if added is not None:
            rows[str(file)] = added
        self._file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self._file, msgspec.json.encode(rows))
