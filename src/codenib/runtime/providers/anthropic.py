"""Anthropic's messages API: histories in, replies out."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, extra_hint
from codenib.runtime.context.messages import Message, Reply, Stop, ToolCall, ToolSpec, Usage
from codenib.runtime.providers.endpoint import Endpoint, broken_status
from codenib.runtime.providers.provider import RunListener, Sampling
from codenib.runtime.providers.retries import Broken, send

if TYPE_CHECKING:
    from anthropic import Anthropic

_STOPS: dict[str | None, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
_PLAIN = ("text", "tool_use")
_NOT_OURS = "--base-url URL: does it speak this protocol?"


class AnthropicProvider:
    """A Claude model; `base_url` defaults to $ANTHROPIC_BASE_URL, then Anthropic's."""

    name = "anthropic"

    def __init__(self, endpoint: Endpoint) -> None:
        self.model = endpoint.model
        self._endpoint = endpoint
        self._temperature = True  # until the model refuses it
        self._open: Anthropic | None = None

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        sampling: Sampling,
        listener: RunListener,
        may_call: bool = True,
    ) -> Reply:
        system = "\n\n".join(message.text for message in messages if message.role == "system")
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": sampling.max_tokens,
            "messages": to_anthropic(messages),
            # The history is a growing prefix: each request reads what the one before it wrote.
            "cache_control": {"type": "ephemeral"},
        }
        if system:
            body["system"] = system
        if tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in tools
            ]
            body["tool_choice"] = {"type": "auto" if may_call else "none"}
        return send(lambda: self._once(body, sampling, listener), self._endpoint.retries, listener)

    def _once(self, body: dict[str, Any], sampling: Sampling, listener: RunListener) -> Reply:
        client = self._client()
        import anthropic
        import httpx2

        warm = sampling.temperature if self._temperature else None
        # The library has no argument for it any more, but older models and other servers know it.
        extra = {} if warm is None else {"temperature": warm}
        stream = _Streamed(listener)
        try:
            if self._endpoint.stream:
                with client.messages.create(**body, stream=True, extra_body=extra) as events:
                    return stream.read(events)
            done = client.messages.create(**body, stream=False, extra_body=extra)
            if isinstance(done, str):  # a page of HTML comes back as text
                raise Broken("anthropic answered what is no message", again=False, hint=_NOT_OURS)
            return _reply(
                [block.to_dict() for block in done.content], done.stop_reason, _usage(done.usage), done.model
            )
        except anthropic.APIStatusError as error:
            message = error.api_message or str(error)
            if error.status_code == 400 and "temperature" in message and extra:
                self._temperature = False
                listener.notice(f"{self.model} takes no temperature: it is left out")
                return self._once(body, sampling, listener)
            if error.status_code < 400:  # the stream held an error
                why = f"anthropic broke off: {message}"
                raise Broken(why, again=True, hint="try again later", wasted=stream.usage) from error
            raise broken_status(self._endpoint, error.status_code, message, error.response.headers) from error
        except (anthropic.APIConnectionError, httpx2.TransportError) as error:
            why = f"anthropic cannot be reached: {error.__cause__ or error}"
            hint = "--base-url URL: is the server running?"
            raise Broken(why, again=True, hint=hint, wasted=stream.usage) from error
        except (json.JSONDecodeError, anthropic.APIError) as error:
            why = f"anthropic answered what cannot be read: {error}"
            raise Broken(why, again=True, hint=_NOT_OURS, wasted=stream.usage) from error

    def _client(self) -> Anthropic:
        if self._open is None:
            try:
                from anthropic import Anthropic
            except ImportError as error:
                what = "the anthropic library is not installed"
                raise InputError(what, hint=extra_hint("anthropic")) from error
            self._open = Anthropic(
                api_key=self._endpoint.key,
                base_url=self._endpoint.base_url,
                max_retries=0,
                timeout=self._endpoint.retries.timeout_s,
            )
            weakref.finalize(self, self._open.close)  # its connections end with us
        return self._open


def to_anthropic(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """A history in the form of the messages API: neighbours of one role are one message with blocks."""
    found: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if found and found[-1]["role"] == role:
            found[-1]["content"] += blocks
        elif blocks:
            found.append({"role": role, "content": blocks})
    return found


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return [{**result, "is_error": True} if message.failed else result]
    if message.opaque:  # thinking must come back unchanged and in its place
        kept = {call.id for call in message.calls}
        return [dict(block) for block in message.opaque if block["type"] != "tool_use" or block["id"] in kept]
    text = [{"type": "text", "text": message.text}] if message.text.strip() else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in message.calls
    ]
    return [*text, *calls]


def _reply(blocks: list[dict[str, Any]], stop: str | None, usage: Usage | None, model: str) -> Reply:
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = tuple(_call(block) for block in blocks if block["type"] == "tool_use")
    plain = all(block["type"] in _PLAIN for block in blocks)
    for block in blocks:
        block.pop("malformed", None)
    message = Message("assistant", text, calls, opaque=() if plain else tuple(blocks))
    return Reply(message, _STOPS.get(stop, "other"), usage, model)


def _call(block: dict[str, Any]) -> ToolCall:
    if not isinstance(block["input"], dict):
        return ToolCall(block["id"], block["name"], malformed=str(block["input"]))
    return ToolCall(block["id"], block["name"], block["input"], malformed=block.get("malformed", ""))


class _Streamed:
    """The events of one stream, put together. `usage` is what was reported so far."""

    def __init__(self, listener: RunListener) -> None:
        self._listener = listener
        self._blocks: dict[int, dict[str, Any]] = {}
        self._json: dict[int, str] = {}
        self._stop: str | None = None
        self._model = ""
        self.usage: Usage | None = None

    def read(self, events: Iterable[Any]) -> Reply:
        ended = False
        for event in events:
            if event.type == "message_start":
                self._model, self.usage = event.message.model, _usage(event.message.usage)
            elif event.type == "content_block_start":
                self._blocks[event.index] = event.content_block.to_dict()
            elif event.type == "content_block_delta":
                self._part(event.index, event.delta)
            elif event.type == "message_delta":
                self._stop = event.delta.stop_reason
                self.usage = _updated(self.usage, event.usage)
            elif event.type == "message_stop":
                ended = True
        if not ended and self.usage is None:
            raise Broken("anthropic answered with no stream", again=False, hint=_NOT_OURS)
        if not ended:  # a connection that closes early looks like the end of the stream
            why = "anthropic: the stream was cut"
            raise Broken(why, again=True, hint="try again later", wasted=self.usage)
        for index, written in self._json.items():
            self._blocks[index].update(_input(written))
        return _reply(
            [self._blocks[index] for index in sorted(self._blocks)], self._stop, self.usage, self._model
        )

    def _part(self, index: int, delta: Any) -> None:
        block = self._blocks[index]
        if delta.type == "text_delta":
            block["text"] = block.get("text", "") + delta.text
            self._listener.text(delta.text)
        elif delta.type == "input_json_delta":
            self._json[index] = self._json.get(index, "") + delta.partial_json
        elif delta.type == "thinking_delta":
            block["thinking"] = block.get("thinking", "") + delta.thinking
        elif delta.type == "signature_delta":
            block["signature"] = delta.signature


def _input(written: str) -> dict[str, Any]:
    """The input of a call from its parts; what is no object is kept as malformed."""
    try:
        value = msgspec.json.decode(written or "{}")
    except UNDECODABLE:
        value = None
    return {"input": value} if isinstance(value, dict) else {"input": {}, "malformed": written}


def _usage(usage: Any) -> Usage:
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return Usage(usage.input_tokens + cached + written, usage.output_tokens, cached, written)


def _updated(before: Usage | None, delta: Any) -> Usage:
    """The cumulative counts of a later event; a count that it does not give stays."""
    old = before or Usage()
    cached = old.cached if delta.cache_read_input_tokens is None else delta.cache_read_input_tokens
    written = old.written if delta.cache_creation_input_tokens is None else delta.cache_creation_input_tokens
    fresh = old.prompt - old.cached - old.written if delta.input_tokens is None else delta.input_tokens
    return Usage(fresh + cached + written, delta.output_tokens, cached, written)
