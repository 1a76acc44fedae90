"""A client's configuration text in, the text with or without our server out.

Removal takes out the very characters that were `added`. A file that people rewrote since is edited by its
structure instead.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass

from codenib.adapters.mcp.clients.jsontext import BadJson, find_object, members
from codenib.adapters.mcp.clients.known import SERVER, McpClient, ServerEntry
from codenib.core.errors import InputError

_OPEN, _CLOSE = "<!-- codenib -->", "<!-- /codenib -->"
AGENTS_BLOCK = f"""{_OPEN}
## Finding code
Use the `codenib` MCP tools before grep: `explore` with the task's own words, `definition` and `references`
for names, `impact` before and after an edit. Answers follow every edit; no re-indexing is needed.
{_CLOSE}
"""


def with_server(text: str, client: McpClient, launch: ServerEntry) -> str:
    """`text` with our server; raises when there is one already, or when it cannot be read."""
    if has_server(text, client):
        raise InputError(
            f"there is a server {SERVER!r} already", hint=f"codenib uninstall --client {client.name}"
        )
    if client.form == "toml":
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}{client.toml(launch)}"
    entry = json.dumps(client.entry(launch), indent=2, ensure_ascii=False)
    if not text.strip():
        return json.dumps({client.key: {SERVER: client.entry(launch)}}, indent=2) + "\n"
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


def without_server(text: str, client: McpClient, added: str) -> str:
    """`text` without our server: as it was before, where it still has what was `added`."""
    if added and text.count(added) == 1:
        return text.replace(added, "", 1)
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
        return _put(text, servers.value, SERVER, entry, _Margin(step, 2))
    inside = f"{{\n{step}{json.dumps(SERVER)}: {entry.replace(chr(10), chr(10) + step)}\n}}"
    return _put(text, top, key, inside, _Margin(step, 1))


@dataclass(frozen=True, slots=True)
class _Margin:
    """How far the members of an object are indented: `depth` times `step`."""

    step: str
    depth: int


def _put(text: str, at: int, name: str, value: str, margin: _Margin) -> str:
    """`text` with a member before the first one of the object at `at`."""
    line = "\n" + margin.step * margin.depth
    indented = value.replace("  ", margin.step) if margin.step != "  " else value
    member = f"{line}{json.dumps(name)}: {indented.replace(chr(10), line)}"
    filled = any(True for _ in members(text, at))
    member += "," if filled else "\n" + margin.step * (margin.depth - 1)
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


def without_block(text: str, added: str) -> str:
    """The text without them."""
    if added and text.count(added) == 1:
        return text.replace(added, "", 1)
    return re.sub(rf"(?s)\n?{re.escape(_OPEN)}.*?{re.escape(_CLOSE)}\n?", "", text)
