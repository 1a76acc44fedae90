"""Standard input and output in, one client served out. The first answers do not wait for the SDK."""

from __future__ import annotations

import io
import os
import select
import threading
from importlib import import_module
from typing import IO, BinaryIO, cast

import msgspec

from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.mcp.transport.handshake import EarlyAnswers

_STEP_S = 0.02
_FIRST_S = 0.2


def serve_stdio(context: ServerContext, *, all_tools: bool, structured: bool) -> None:
    """Serve one client until it closes our standard input."""
    incoming, outgoing = _take_wires()
    early = EarlyAnswers(all_tools=all_tools)
    lines = _Lines(incoming)

    def answer_early(timeout_s: float) -> None:
        for line in lines.look(timeout_s):
            if (answer := early.answer(line)) is not None:
                outgoing.write(answer)
                outgoing.flush()

    answer_early(_FIRST_S)  # clients begin at once, and nothing else should take the processor then
    loading = threading.Thread(target=_load, daemon=True)
    loading.start()
    context.start()
    while loading.is_alive():  # also because two threads that import one package may wait for each other
        answer_early(_STEP_S)
    _run(context, lines, _Messages(outgoing, early), all_tools, structured)


def _run(
    context: ServerContext, lines: _Lines, messages: _Messages, all_tools: bool, structured: bool
) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    from codenib.adapters.mcp.server import build_server
    from codenib.learning.journal.recorder import SessionRecorder

    journal = SessionRecorder(context.root)

    def ours(file: io.TextIOBase) -> anyio.AsyncFile[str]:
        return anyio.wrap_file(cast("IO[str]", file))

    async def main() -> None:
        server = build_server(context, all_tools=all_tools, structured=structured, journal=journal)
        async with stdio_server(ours(lines), ours(messages)) as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    try:
        anyio.run(main)
    finally:
        journal.close()
        context.close()


def _load() -> None:
    """Import what will be needed; first what the early answers say."""
    for name in ("tools.catalogue", "server"):
        import_module(f"codenib.adapters.mcp.{name}")


def _take_wires() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for us alone: what others print goes to standard error."""
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


class _Lines(io.TextIOBase):
    """The client's messages. Those that were looked at early are given again."""

    def __init__(self, wire: BinaryIO) -> None:
        self._wire = wire
        self._seen: list[bytes] = []
        self._partial = b""
        self._ended = False

    def look(self, timeout_s: float) -> list[bytes]:
        """Whole messages that came meanwhile; waits at most `timeout_s` for any."""
        number = self._wire.fileno()
        watched = [] if self._ended else [number]
        if not select.select(watched, [], [], timeout_s)[0]:
            return []
        data = os.read(number, 1 << 16)
        self._ended = not data
        *lines, self._partial = (self._partial + data).split(b"\n")
        self._seen += [line + b"\n" for line in lines]
        return lines

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        if self._seen:
            line = self._seen.pop(0)
        else:
            line = self._partial + self._wire.readline()
            self._partial = b""
        return line.decode("utf-8", "replace")


class _Messages(io.TextIOBase):
    """Our messages, without second answers to what was answered early."""

    def __init__(self, out: BinaryIO, early: EarlyAnswers) -> None:
        self._out = out
        self._early = early

    def write(self, text: str, /) -> int:
        if not self._early.given or not self._early.drop(_id_of(text)):
            self._out.write(text.encode("utf-8", "replace"))
        return len(text)

    def flush(self) -> None:
        self._out.flush()


class _Numbered(msgspec.Struct):
    id: str | int | None = None
    method: str = ""


def _id_of(text: str) -> str | int | None:
    """The id of an answer; None of a notification or a question."""
    message = msgspec.json.decode(text, type=_Numbered)
    return None if message.method else message.id
