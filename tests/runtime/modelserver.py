"""A real HTTP server that speaks Anthropic's and OpenAI's protocols and plays a scripted model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Literal


@dataclass(frozen=True)
class Call:
    """A tool call; `raw` is sent in place of the arguments' JSON."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    raw: str | None = None
    id: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def written(self) -> str:
        return json.dumps(self.arguments) if self.raw is None else self.raw


@dataclass(frozen=True)
class Says:
    """A whole reply. `thinking` is a block of Anthropic's; usage is what the server reports."""

    text: str = ""
    calls: Sequence[Call] = ()
    prompt: int = 100
    completion: int = 10
    cached: int = 0
    written: int = 0
    thinking: str = ""
    stop: str | None = None
    usage: bool = True
    cost: float | None = None


@dataclass(frozen=True)
class Fails:
    """An HTTP error."""

    status: int
    message: str = "no"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cuts:
    """A connection that breaks: before the reply, or in the middle of the stream of `reply`."""

    when: Literal["before", "middle", "quietly"]
    reply: Says = field(default_factory=Says)


@dataclass(frozen=True)
class StreamError:
    """A stream that begins and then reports an error."""

    message: str = "Overloaded"
    prompt: int = 100


@dataclass(frozen=True)
class Page:
    """A page for people, or a stream of rubbish, with status 200."""

    text: str = "<html>hello</html>"
    kind: str = "text/html"


@dataclass(frozen=True)
class Hangs:
    """A server that never answers."""


Turn = Says | Fails | Cuts | StreamError | Page | Hangs


class ModelServer(ThreadingHTTPServer):
    """Plays `script` in order; keeps what it was asked and what it reported."""

    daemon_threads = True

    def __init__(self, script: Sequence[Turn]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.headers_seen: list[dict[str, str]] = []
        self.prompt = self.completion = self.cached = 0
        self.over = Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def base_url(self, provider: str) -> str:
        return self.url if provider == "anthropic" else f"{self.url}/v1"

    def report(self, prompt: int, completion: int, cached: int = 0) -> None:
        self.prompt += prompt
        self.completion += completion
        self.cached += cached

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of the test."""


@contextmanager
def serving(*script: Turn) -> Iterator[ModelServer]:
    """A server that plays these turns."""
    server = ModelServer(script)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, format: str, *args: Any) -> None: ...

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(body)
        self.server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})
        turn = self.server.script.pop(0) if self.server.script else Fails(500, "the script is over")
        anthropic = self.path.endswith("/messages")
        if isinstance(turn, Fails):
            return self._fail(turn, anthropic)
        if isinstance(turn, Page):
            return self._send(200, turn.text.encode(), turn.kind, {})
        if isinstance(turn, Hangs):
            self.server.over.wait()
            return self._hang_up()
        if isinstance(turn, Cuts) and turn.when == "before":
            return self._hang_up()
        events = _anthropic_events(turn, self.server) if anthropic else _openai_events(turn, self.server)
        if body.get("stream"):
            return self._stream(events, turn)
        assert isinstance(turn, Says)
        whole = _anthropic_whole(turn) if anthropic else _openai_whole(turn)
        if turn.usage:
            prompt = turn.prompt + (turn.cached + turn.written if anthropic else 0)
            self.server.report(prompt, turn.completion, turn.cached)
        return self._json(200, whole, {})

    def _stream(self, events: Iterator[str], turn: Turn) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        chunked = not (isinstance(turn, Cuts) and turn.when == "quietly")
        self.send_header("transfer-encoding", "chunked") if chunked else self.send_header(
            "connection", "close"
        )
        self.end_headers()
        for number, event in enumerate(events):
            if isinstance(turn, Cuts) and number == 3:
                return self._hang_up()
            data = event.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
            self.wfile.flush()
        if chunked:
            self.wfile.write(b"0\r\n\r\n")
        return None

    def _fail(self, turn: Fails, anthropic: bool) -> None:
        error = {"type": "error", "message": turn.message}
        body = {"type": "error", "error": error} if anthropic else {"error": {**error, "code": None}}
        self._json(turn.status, body, turn.headers)

    def _json(self, status: int, body: Any, headers: dict[str, str]) -> None:
        self._send(status, json.dumps(body).encode(), "application/json", headers)

    def _send(self, status: int, data: bytes, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(2)


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [part for part in (text[:middle], text[middle:]) if part]


def _anthropic_usage(turn: Says) -> dict[str, Any]:
    return {
        "input_tokens": turn.prompt,
        "output_tokens": turn.completion,
        "cache_read_input_tokens": turn.cached,
        "cache_creation_input_tokens": turn.written,
    }


def _anthropic_whole(turn: Says) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    if turn.thinking:
        blocks.append({"type": "thinking", "thinking": turn.thinking, "signature": "signed"})
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    for number, call in enumerate(turn.calls):
        blocks.append(
            {
                "type": "tool_use",
                "id": call.id or f"toolu_{number}",
                "name": call.name,
                "input": call.arguments,
            }
        )
    stop = turn.stop or ("tool_use" if turn.calls else "end_turn")
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": blocks,
        "stop_reason": stop, "stop_sequence": None, "usage": _anthropic_usage(turn),
    }  # fmt: skip


def _anthropic_events(turn: Turn, server: ModelServer) -> Iterator[str]:
    says = turn.reply if isinstance(turn, Cuts) else turn if isinstance(turn, Says) else Says()
    if isinstance(turn, StreamError):
        says = Says(prompt=turn.prompt)
    whole = _anthropic_whole(says)
    blocks = whole.pop("content")
    usage = {**whole["usage"], "output_tokens": 1}
    server.report(says.prompt + says.cached + says.written, 1, says.cached)
    yield _sse("message_start", {"message": {**whole, "content": [], "stop_reason": None, "usage": usage}})
    if isinstance(turn, StreamError):
        yield _sse("error", {"error": {"type": "overloaded_error", "message": turn.message}})
        return
    calls = iter(says.calls)
    for index, block in enumerate(blocks):
        empty = {**block, **({"input": {}} if block["type"] == "tool_use" else {})}
        for name in ("text", "thinking", "signature"):
            if name in empty:
                empty[name] = ""
        yield _sse("content_block_start", {"index": index, "content_block": empty})
        if block["type"] == "text":
            deltas = [{"type": "text_delta", "text": part} for part in _halves(block["text"])]
        elif block["type"] == "thinking":
            deltas = [{"type": "thinking_delta", "thinking": part} for part in _halves(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            written = next(calls).written
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in _halves(written)]
        for delta in deltas:
            yield _sse("content_block_delta", {"index": index, "delta": delta})
        yield _sse("content_block_stop", {"index": index})
    server.report(0, says.completion - 1)
    ending: dict[str, Any] = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _sse("message_delta", {"delta": ending, "usage": {"output_tokens": says.completion}})
    yield _sse("message_stop", {})


def _sse(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"


def _openai_usage(turn: Says) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "prompt_tokens": turn.prompt,
        "completion_tokens": turn.completion,
        "total_tokens": turn.prompt + turn.completion,
        "prompt_tokens_details": {"cached_tokens": turn.cached},
    }
    return usage if turn.cost is None else {**usage, "cost": turn.cost}


def _openai_calls(turn: Says) -> list[dict[str, Any]]:
    return [
        {
            **call.extra,
            "id": call.id if call.id is not None else f"call_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.written},
        }
        for number, call in enumerate(turn.calls)
    ]


def _openai_whole(turn: Says) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = _openai_calls(turn)
    finish = turn.stop or ("tool_calls" if turn.calls else "stop")
    whole = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-test",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }  # fmt: skip
    return {**whole, "usage": _openai_usage(turn)} if turn.usage else whole


def _openai_events(turn: Turn, server: ModelServer) -> Iterator[str]:
    says = turn.reply if isinstance(turn, Cuts) else turn if isinstance(turn, Says) else Says()

    def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> str:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
        return f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    if isinstance(turn, StreamError):
        yield f"data: {json.dumps({'error': {'message': turn.message}})}\n\n"
        return
    for part in _halves(says.text):
        yield chunk({"content": part})
    for index, call in enumerate(_openai_calls(says)):
        function = call["function"]
        opened = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        yield chunk({"tool_calls": [opened]})
        for part in _halves(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield chunk({}, says.stop or ("tool_calls" if says.calls else "stop"))
    if says.usage:
        server.report(says.prompt, says.completion, says.cached)
        yield chunk(None, usage=_openai_usage(says))
    yield "data: [DONE]\n\n"
