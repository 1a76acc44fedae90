"""A client's first messages in, the answers to them out, before the SDK is loaded.

The SDK takes about a second to import on a slow machine, and clients wait for these answers. The SDK is given
the same messages afterwards, and its own answers, which a test compares with these, are dropped.
"""

from __future__ import annotations

from typing import Any

import msgspec

from codenib import __version__
from codenib.adapters.mcp.descriptions import INSTRUCTIONS, NAME, TITLE
from codenib.core.errors import UNDECODABLE

#: Versions that begin with `initialize`, and those that begin with `server/discover`.
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)
_SHORT = 2000  # bytes of a message that is worth a look before the SDK has it
_META = "io.modelcontextprotocol"
_CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
_INFO = {"name": NAME, "title": TITLE, "version": __version__}
_MODERN_PARTS = {
    "cacheScope": "private",
    "resultType": "complete",
    "ttlMs": 0,
    "_meta": {f"{_META}/serverInfo": _INFO},
}


class EarlyAnswers:
    """Answers `initialize`, `server/discover` and `tools/list`, and remembers which it gave."""

    def __init__(self, *, all_tools: bool, initialized: bool = False) -> None:
        """`initialized`: the client said hello before, or need not, as over HTTP without sessions."""
        self._all_tools = all_tools
        self._initialized = initialized
        self.given: set[str | int] = set()

    def answer(self, line: bytes) -> bytes | None:
        """The answer to a message; None when the SDK had better answer it."""
        try:
            message = msgspec.json.decode(line)
        except UNDECODABLE:  # the SDK says what is wrong with it
            return None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return None
        number, params = message.get("id"), message.get("params", {})
        if isinstance(number, bool) or not isinstance(number, str | int) or not isinstance(params, dict):
            return None
        result = self._result(str(message.get("method")), params)
        if result is None or number in self.given:
            return None
        self.given.add(number)
        return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "result": result}) + b"\n"

    def drop(self, number: str | int | None) -> bool:
        """Whether an answer with this id was given already; once."""
        if number is None or number not in self.given:
            return False
        self.given.remove(number)
        return True

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        if method == "initialize" and not self._initialized:
            result = _initialized(params)
            self._initialized = result is not None
            return result
        if method == "server/discover" and _is_modern(params):
            modern = {"supportedVersions": list(MODERN), "capabilities": _CAPABILITIES}
            return {**_MODERN_PARTS, **modern, "instructions": INSTRUCTIONS}
        if method == "tools/list" and _is_modern(params):
            return {**_MODERN_PARTS, "tools": self._tools()}
        if method == "tools/list" and self._initialized and not params:
            return {"tools": self._tools()}
        return None

    def _tools(self) -> list[dict[str, Any]]:
        from codenib.adapters.mcp.tools.catalogue import ALL_TOOLS, DEFAULT_TOOLS

        return [
            {
                "name": tool.name,
                "description": tool.about,
                "inputSchema": tool.schema,
                "annotations": {"readOnlyHint": True},
            }
            for tool in (ALL_TOOLS if self._all_tools else DEFAULT_TOOLS)
        ]


def early_tools(body: bytes, *, all_tools: bool) -> bytes | None:
    """The answer to a request for the list of tools; None to anything else.

    A server with hundreds of calls under way answers this at once: the SDK needs some thirty turns of the
    event loop for it, each behind all others.
    """
    if len(body) > _SHORT or b'"tools/list"' not in body:
        return None
    return EarlyAnswers(all_tools=all_tools, initialized=True).answer(body)


def _initialized(params: dict[str, Any]) -> dict[str, Any] | None:
    version = params.get("protocolVersion")
    if not isinstance(version, str) or not _is_info(params.get("clientInfo")):
        return None
    if not isinstance(params.get("capabilities"), dict):
        return None
    return {
        "capabilities": _CAPABILITIES,
        "instructions": INSTRUCTIONS,
        "protocolVersion": version if version in HANDSHAKE else HANDSHAKE[-1],
        "serverInfo": _INFO,
    }


def _is_modern(params: dict[str, Any]) -> bool:
    """Whether a request carries its own version and client, and nothing else."""
    meta = params.get("_meta")
    return (
        set(params) == {"_meta"}
        and isinstance(meta, dict)
        and meta.get(f"{_META}/protocolVersion") in MODERN
        and _is_info(meta.get(f"{_META}/clientInfo"))
        and isinstance(meta.get(f"{_META}/clientCapabilities"), dict)
    )


def _is_info(value: Any) -> bool:
    """Whether this is a client's name and version."""
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("name", "version"))
