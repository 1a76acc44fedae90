"""OpenAI-compatible chat completions (OpenAI, vLLM, Ollama, Gemini's endpoint): histories in, replies out."""

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
    from openai import OpenAI
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.completion_usage import CompletionUsage

_STOPS: dict[str | None, Stop] = {
    "stop": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "content_filter": "refused",
}


_NOT_OURS = "--base-url URL: does it speak this protocol, and end in /v1?"


class OpenAIProvider:
    """A model behind a chat-completions endpoint; `base_url` defaults to $OPENAI_BASE_URL, then OpenAI's."""

    name = "openai"

    def __init__(self, endpoint: Endpoint) -> None:
        self.model = endpoint.model
        self._endpoint = endpoint
        self._temperature = True  # until the model refuses it
        self._open: OpenAI | None = None

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        sampling: Sampling,
        listener: RunListener,
        may_call: bool = True,
    ) -> Reply:
        body = self._body(messages, tools, sampling, may_call)
        return send(lambda: self._once(body, listener), self._endpoint.retries, listener)

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], sampling: Sampling, may_call: bool
    ) -> dict[str, Any]:
        # OpenAI's newer models take only the new name; other servers know the old one.
        limit = "max_completion_tokens" if self._endpoint.base_url is None else "max_tokens"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": to_openai(messages),
            limit: sampling.max_tokens,
        }
        if tools:
            body["tools"] = [tool_to_openai(tool) for tool in tools]
            body["tool_choice"] = "auto" if may_call else "none"
        if self._endpoint.stream:
            body["stream_options"] = {"include_usage": True}
        if sampling.temperature is not None:
            body["temperature"] = sampling.temperature
        return body

    def _once(self, body: dict[str, Any], listener: RunListener) -> Reply:
        client = self._client()
        import openai

        if not self._temperature:
            body.pop("temperature", None)
        try:
            if self._endpoint.stream:
                with client.chat.completions.create(**body, stream=True) as chunks:
                    return _from_chunks(chunks, listener)
            return _from_completion(client.chat.completions.create(**body, stream=False))
        except openai.APIStatusError as error:
            message = _message(error)
            if error.status_code == 400 and "temperature" in message and "temperature" in body:
                self._temperature = False
                listener.notice(f"{self.model} takes no temperature: it is left out")
                return self._once(body, listener)
            raise broken_status(self._endpoint, error.status_code, message, error.response.headers) from error
        except openai.APIConnectionError as error:
            why = f"openai cannot be reached: {error.__cause__ or error}"
            raise Broken(why, again=True, hint="--base-url URL: is the server running?") from error
        except json.JSONDecodeError as error:
            raise Broken(f"openai answered what is no JSON: {error}", again=True, hint=_NOT_OURS) from error
        except openai.APIError as error:  # the stream held an error, or was no stream
            raise Broken(f"openai broke off: {error}", again=True, hint="try again later") from error

    def _client(self) -> OpenAI:
        if self._open is None:
            try:
                from openai import OpenAI
            except ImportError as error:
                what = "the openai library is not installed"
                raise InputError(what, hint=extra_hint("openai")) from error
            self._open = OpenAI(
                api_key=self._endpoint.key,
                base_url=self._endpoint.base_url,
                max_retries=0,
                timeout=self._endpoint.retries.timeout_s,
            )
            weakref.finalize(self, self._open.close)  # its connections end with us
        return self._open


def to_openai(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """A history in the form of chat completions. Assistant messages that say nothing are left out."""
    found: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "tool":
            found.append({"role": "tool", "tool_call_id": message.call_id, "content": message.text})
        elif message.role != "assistant":
            found.append({"role": message.role, "content": message.text})
        elif message.calls:
            calls = [_call_to_openai(call) for call in message.calls]
            found.append({"role": "assistant", "content": message.text or None, "tool_calls": calls})
        elif message.text:
            found.append({"role": "assistant", "content": message.text})
    return found


def tool_to_openai(tool: ToolSpec) -> dict[str, Any]:
    """A tool in the form of chat completions."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _call_to_openai(call: ToolCall) -> dict[str, Any]:
    # Servers parse the arguments of earlier calls: what was malformed goes back as an empty object.
    arguments = msgspec.json.encode(call.arguments).decode()
    function = {"name": call.name, "arguments": arguments}
    return {**call.opaque, "id": call.id, "type": "function", "function": function}


def _from_completion(done: ChatCompletion) -> Reply:
    choices: Any = getattr(done, "choices", None)  # a page of HTML comes back as text
    if not choices:
        raise Broken("openai answered without a choice", again=False, hint=_NOT_OURS)
    choice = done.choices[0]
    calls = [
        _call(call.id, call.function.name, call.function.arguments, call.model_extra or {})
        for call in choice.message.tool_calls or ()
        if call.type == "function"
    ]
    message = Message("assistant", choice.message.content or "", tuple(calls))
    return Reply(message, _STOPS.get(choice.finish_reason, "other"), _usage(done.usage), done.model)


class _Slot:
    """A call while its parts stream in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""
        self.opaque: dict[str, Any] = {}


class _Slots:
    """Calls by their index. Some servers give all the same index, or none: then a new id tells a new call."""

    def __init__(self) -> None:
        self.order: list[_Slot] = []
        self._by_index: dict[int | None, _Slot] = {}

    def at(self, index: int | None, call_id: str | None) -> _Slot:
        """The call that a part belongs to."""
        slot = self._by_index.get(index)
        if slot is None or (call_id and slot.id and call_id != slot.id):
            slot = self._by_index[index] = _Slot()
            self.order.append(slot)
        return slot


def _from_chunks(chunks: Iterable[ChatCompletionChunk], listener: RunListener) -> Reply:
    texts: list[str] = []
    slots = _Slots()
    finish, usage, model, chunk_count = None, None, "", 0
    for chunk in chunks:
        chunk_count += 1
        model = chunk.model or model
        usage = chunk.usage or usage
        for choice in (chunk.choices or ())[:1]:  # some servers leave them out of the last chunk
            finish = choice.finish_reason or finish
            if choice.delta.content:
                texts.append(choice.delta.content)
                listener.text(choice.delta.content)
            for part in choice.delta.tool_calls or ():
                slot = slots.at(part.index, part.id)
                slot.id = part.id or slot.id
                slot.opaque.update(part.model_extra or {})
                if part.function is not None:
                    slot.name = slot.name or part.function.name or ""  # some servers repeat it
                    slot.arguments += part.function.arguments or ""
    if not chunk_count:
        raise Broken("openai answered with no stream", again=False, hint=_NOT_OURS)
    if finish is None:  # a connection that closes early looks like the end of the stream
        raise Broken("openai: the stream was cut", again=True, hint="try again later", wasted=_usage(usage))
    calls = tuple(_call(slot.id, slot.name, slot.arguments, slot.opaque) for slot in slots.order)
    return Reply(
        Message("assistant", "".join(texts), calls), _STOPS.get(finish, "other"), _usage(usage), model
    )


def _call(call_id: str, name: str, written: str, opaque: dict[str, Any]) -> ToolCall:
    try:
        arguments = msgspec.json.decode(written or "{}")
    except UNDECODABLE:
        arguments = None
    if not isinstance(arguments, dict):
        return ToolCall(call_id, name, malformed=written, opaque=opaque)
    return ToolCall(call_id, name, arguments, opaque=opaque)


def _usage(usage: CompletionUsage | None) -> Usage | None:
    if usage is None:
        return None
    details = usage.prompt_tokens_details
    cost = (usage.model_extra or {}).get("cost")
    return Usage(
        usage.prompt_tokens,
        usage.completion_tokens,
        (details.cached_tokens or 0) if details else 0,
        (details.cache_write_tokens or 0) if details else 0,
        float(cost) if isinstance(cost, int | float) else None,
    )


def _message(error: Any) -> str:
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        code = body.get("code")
        return f"{body['message']} ({code})" if code else str(body["message"])
    return str(error)
