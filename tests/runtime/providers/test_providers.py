"""Both providers against a real server: what is sent, what comes back, and what happens when it does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.runtime.modelserver import (
    Call,
    Cuts,
    Fails,
    Hangs,
    ModelServer,
    Page,
    Says,
    StreamError,
    serving,
)

from codenib.core.errors import InputError
from codenib.runtime.context.messages import Message, Reply, ToolCall, ToolSpec, Usage
from codenib.runtime.providers.choose import open_model
from codenib.runtime.providers.provider import ModelError, Provider, Sampling
from codenib.runtime.providers.retries import RetryLimits

KEY = "sk-test-0123456789-secret"
TOOLS = [ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})]
HISTORY = [
    Message("system", "Be brief."),
    Message("user", "Where?"),
    Message("assistant", "I look.", (ToolCall("a", "read", {"path": "x.py"}), ToolCall("b", "read"))),
    Message("tool", "1\tx = 1", call_id="a"),
    Message("tool", "'path' is missing", call_id="b", failed=True),
]
BOTH = pytest.mark.parametrize("which", ["anthropic", "openai"])
STREAM = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "CODENIB_MODEL", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    yield


class Heard:
    """A listener that remembers; its waits take no time."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.retries: list[tuple[str, float]] = []
        self.notices: list[str] = []
        self.slept: list[float] = []

    def text(self, part: str) -> None:
        self.texts.append(part)

    def step(self, line: str) -> None: ...

    def retry(self, why: str, wait_s: float) -> None:
        self.retries.append((why, wait_s))

    def notice(self, line: str) -> None:
        self.notices.append(line)


def provider_at(
    server: ModelServer, which: str, heard: Heard, *, stream: bool = True, attempts: int = 3
) -> Provider:
    retries = RetryLimits(attempts=attempts, timeout_s=20, sleep=heard.slept.append)
    base_url = server.base_url(which)
    return open_model(f"{which}:some-model", base_url=base_url, stream=stream, retries=retries)


def ask(
    provider: Provider, heard: Heard, *, may_call: bool = True, history: list[Message] | None = None
) -> Reply:
    return provider.complete(
        history or HISTORY, TOOLS, sampling=Sampling(max_tokens=99), listener=heard, may_call=may_call
    )


@BOTH
@STREAM
def test_text_and_calls_come_back_with_the_usage_that_was_reported(which: str, stream: bool) -> None:
    heard = Heard()
    says = Says("Now the file.", [Call("read", {"path": "ä.py"}), Call("read", {"path": "b"})], 120, 17, 40)
    with serving(says) as server:
        reply = ask(provider_at(server, which, heard, stream=stream), heard)
        sums = Usage(server.prompt, server.completion, server.cached)
    assert reply.message.text == "Now the file."
    assert [(call.name, call.arguments) for call in reply.message.calls] == [
        ("read", {"path": "ä.py"}),
        ("read", {"path": "b"}),
    ]
    assert len({call.id for call in reply.message.calls}) == 2
    assert reply.stop == "calls"
    assert reply.usage == sums
    assert reply.usage.completion == 17
    assert "".join(heard.texts) == ("Now the file." if stream else "")


def test_openai_gets_the_history_in_its_form() -> None:
    heard = Heard()
    with serving(Says("ok")) as server:
        ask(provider_at(server, "openai", heard), heard)
        (sent,) = server.requests
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where?"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path":"x.py"}'}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1\tx = 1"},
        {"role": "tool", "tool_call_id": "b", "content": "'path' is missing"},
    ]
    assert sent["tools"][0]["function"]["name"] == "read"
    assert (sent["tool_choice"], sent["temperature"], sent["max_tokens"]) == ("auto", 0.0, 99)
    assert sent["stream_options"] == {"include_usage": True}


def test_anthropic_gets_the_history_in_its_form() -> None:
    heard = Heard()
    with serving(Says("ok")) as server:
        ask(provider_at(server, "anthropic", heard), heard, history=[*HISTORY, Message("user", "Answer.")])
        (sent,) = server.requests
    assert sent["system"] == "Be brief."
    assert sent["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Where?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x.py"}},
                {"type": "tool_use", "id": "b", "name": "read", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1\tx = 1"},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": "'path' is missing",
                    "is_error": True,
                },
                {"type": "text", "text": "Answer."},
            ],
        },
    ]
    assert (sent["tool_choice"], sent["temperature"], sent["max_tokens"]) == ({"type": "auto"}, 0.0, 99)


@BOTH
def test_where_no_call_is_allowed_the_tools_stay_and_are_forbidden(which: str) -> None:
    heard = Heard()
    with serving(Says("ok")) as server:
        ask(provider_at(server, which, heard), heard, may_call=False)
        (sent,) = server.requests
    assert sent["tools"]
    assert sent["tool_choice"] in ("none", {"type": "none"})


@BOTH
@pytest.mark.parametrize("raw", ['{"path": "a.py"', "[1, 2]", "read a.py", '{"a":' * 5000])
def test_a_malformed_call_keeps_what_was_written(which: str, raw: str) -> None:
    heard = Heard()
    with serving(Says("", [Call("read", raw=raw)])) as server:
        reply = ask(provider_at(server, which, heard), heard)
    (call,) = reply.message.calls
    assert (call.name, call.arguments, call.malformed) == ("read", {}, raw)


@BOTH
def test_a_rate_limit_is_waited_for_as_long_as_the_server_asks(which: str) -> None:
    heard = Heard()
    script = (Fails(429, "slow down", {"retry-after": "7"}), Fails(503, "busy"), Says("ok"))
    with serving(*script) as server:
        reply = ask(provider_at(server, which, heard), heard)
        assert len(server.requests) == 3
    assert reply.message.text == "ok"
    assert heard.slept == [7.0, 2.0]
    assert [wait_s for _, wait_s in heard.retries] == [7.0, 2.0]
    assert "429" in heard.retries[0][0]


@BOTH
@pytest.mark.parametrize("when", ["before", "middle", "quietly"])
def test_a_cut_connection_is_tried_again_and_what_it_reported_counts(which: str, when: Any) -> None:
    heard = Heard()
    with serving(Cuts(when, Says("half of this is lost", prompt=55)), Says("whole", prompt=60)) as server:
        reply = ask(provider_at(server, which, heard), heard)
        sums = Usage(server.prompt, server.completion, server.cached)
    assert reply.message.text == "whole"
    assert reply.usage is not None
    assert reply.usage + reply.wasted == sums
    assert reply.wasted.prompt == (55 if which == "anthropic" and when != "before" else 0)
    assert len(heard.retries) == 1


@BOTH
def test_an_error_inside_a_stream_is_tried_again(which: str) -> None:
    heard = Heard()
    with serving(StreamError("Overloaded"), Says("ok")) as server:
        reply = ask(provider_at(server, which, heard), heard)
        assert reply.wasted.total + (reply.usage or Usage()).total == server.prompt + server.completion
    assert reply.message.text == "ok"
    assert "Overloaded" in heard.retries[0][0]


@BOTH
@STREAM
def test_a_page_for_people_is_not_taken_for_a_model(which: str, stream: bool) -> None:
    heard = Heard()
    with serving(Page()) as server, pytest.raises(ModelError) as caught:
        ask(provider_at(server, which, heard, stream=stream), heard)
    assert "--base-url" in caught.value.hint
    assert len(server.requests) == 1


@BOTH
def test_rubbish_in_a_stream_is_tried_again(which: str) -> None:
    heard = Heard()
    rubbish = Page("event: message_start\ndata: {not json\n\n", "text/event-stream")
    with serving(rubbish, Says("ok")) as server:
        assert ask(provider_at(server, which, heard), heard).message.text == "ok"
    assert len(heard.retries) == 1


@BOTH
@STREAM
def test_a_server_that_hangs_is_left_after_the_timeout(which: str, stream: bool) -> None:
    heard = Heard()
    with serving(Hangs(), Says("ok")) as server:
        retries = RetryLimits(timeout_s=0.3, sleep=heard.slept.append)
        provider = open_model(
            f"{which}:test", base_url=server.base_url(which), stream=stream, retries=retries
        )
        assert ask(provider, heard).message.text == "ok"
    assert len(heard.retries) == 1


@BOTH
def test_patience_ends_and_the_error_says_how_often(which: str) -> None:
    heard = Heard()
    with serving(*[Fails(500, "broken")] * 3) as server, pytest.raises(ModelError, match="after 3 attempts"):
        ask(provider_at(server, which, heard), heard)
    assert heard.slept == [1.0, 2.0]


@BOTH
def test_a_refused_key_is_not_tried_again_nor_shown(which: str) -> None:
    heard = Heard()
    with (
        serving(Fails(401, f"wrong key {KEY}")) as server,
        pytest.raises(ModelError) as caught,
    ):
        ask(provider_at(server, which, heard), heard)
    assert len(server.requests) == 1
    assert KEY not in caught.value.message
    assert caught.value.hint == f"export {which.upper()}_API_KEY=…"
    assert KEY in str(server.headers_seen)


@BOTH
def test_a_server_that_is_not_there_is_named_in_the_hint(which: str) -> None:
    heard = Heard()
    with serving() as server:
        pass
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        ask(provider_at(server, which, heard, attempts=2), heard)
    assert "--base-url" in caught.value.hint


@BOTH
def test_a_model_that_takes_no_temperature_gets_none_from_then_on(which: str) -> None:
    heard = Heard()
    refuses = Fails(400, "`temperature` is deprecated for this model.")
    with serving(refuses, Says("ok"), Says("again")) as server:
        provider = provider_at(server, which, heard)
        ask(provider, heard)
        ask(provider, heard)
        assert ["temperature" in sent for sent in server.requests] == [True, False, False]
    assert heard.notices == ["some-model takes no temperature: it is left out"]
    assert heard.slept == []


@BOTH
def test_a_history_that_is_too_long_says_what_helps(which: str) -> None:
    heard = Heard()
    with (
        serving(Fails(400, "prompt is too long: 300000 tokens > 200000 maximum")) as server,
        pytest.raises(ModelError) as caught,
    ):
        ask(provider_at(server, which, heard), heard)
    assert "--history-tokens" in caught.value.hint


@STREAM
def test_thinking_goes_back_unchanged_and_in_its_place(stream: bool) -> None:
    heard = Heard()
    with serving(Says("I see.", [Call("read", {"path": "a"})], thinking="hmm"), Says("ok")) as server:
        provider = provider_at(server, "anthropic", heard, stream=stream)
        first = ask(provider, heard).message
        result = Message("tool", "text", call_id=first.calls[0].id)
        ask(provider, heard, history=[Message("user", "Q"), first, result])
        assistant = server.requests[1]["messages"][1]["content"]
    assert assistant[0] == {"type": "thinking", "thinking": "hmm", "signature": "signed"}
    assert [block["type"] for block in assistant] == ["thinking", "text", "tool_use"]
    assert assistant[2]["input"] == {"path": "a"}


@STREAM
def test_what_a_compatible_server_adds_to_a_call_goes_back_to_it(stream: bool) -> None:
    heard = Heard()
    extra = {"extra_content": {"google": {"thought_signature": "abc"}}}
    with serving(Says("", [Call("read", {"path": "a"}, extra=extra)]), Says("ok")) as server:
        provider = provider_at(server, "openai", heard, stream=stream)
        first = ask(provider, heard).message
        ask(
            provider,
            heard,
            history=[Message("user", "Q"), first, Message("tool", "t", call_id=first.calls[0].id)],
        )
        (call,) = server.requests[1]["messages"][1]["tool_calls"]
    assert call["extra_content"] == extra["extra_content"]


def test_calls_of_servers_that_number_them_oddly_are_told_apart() -> None:
    def chunk(*calls: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": {"tool_calls": list(calls)}, "finish_reason": finish}
        head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"

    def call(call_id: str | None, arguments: str, index: int = 0) -> dict[str, Any]:
        return {"index": index, "id": call_id, "function": {"name": "read", "arguments": arguments}}

    # All calls at index 0, the name in every part.
    zeros = (
        chunk(call("a", '{"path":'))
        + chunk(call("a", ' "x"}'))
        + chunk(call("b", '{"path": "y"}'), finish="stop")
    )
    # An index that begins at 1.
    ones = (
        chunk(call("c", '{"path":', 1))
        + chunk(call(None, ' "z"}', 1))
        + chunk(call("d", "{}", 2), finish="tool_calls")
    )
    heard = Heard()
    with serving(Page(zeros, "text/event-stream"), Page(ones, "text/event-stream")) as server:
        provider = provider_at(server, "openai", heard)
        first, second = ask(provider, heard).message.calls, ask(provider, heard).message.calls
    assert [(each.id, each.name, each.arguments) for each in first] == [
        ("a", "read", {"path": "x"}),
        ("b", "read", {"path": "y"}),
    ]
    assert [(each.id, each.arguments) for each in second] == [("c", {"path": "z"}), ("d", {})]


@STREAM
def test_a_server_that_reports_no_usage_is_not_guessed_for(stream: bool) -> None:
    heard = Heard()
    with serving(Says("ok", usage=False)) as server:
        assert ask(provider_at(server, "openai", heard, stream=stream), heard).usage is None


def test_a_cost_that_the_endpoint_reports_is_kept() -> None:
    heard = Heard()
    with serving(Says("ok", cost=0.0125)) as server:
        reply = ask(provider_at(server, "openai", heard), heard)
    assert reply.usage is not None
    assert reply.usage.cost == 0.0125


@BOTH
@pytest.mark.parametrize(("stop", "meant"), [("length", "length"), ("odd", "other")])
def test_why_a_reply_ended_has_one_name(which: str, stop: str, meant: str) -> None:
    heard = Heard()
    word = "max_tokens" if which == "anthropic" and stop == "length" else stop
    with serving(Says("half", stop=word)) as server:
        assert ask(provider_at(server, which, heard), heard).stop == meant


def test_a_key_is_needed_only_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError) as caught:
        open_model("gpt-test")
    assert caught.value.hint == "export OPENAI_API_KEY=…"
    heard = Heard()
    with serving(Says("ok")) as server:
        assert ask(provider_at(server, "openai", heard), heard).message.text == "ok"


def test_a_key_may_be_in_a_variable_of_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_KEY", "another-key-0123")
    heard = Heard()
    with serving(Says("ok")) as server:
        provider = open_model("gemini-test", base_url=server.base_url("openai"), key_variable="GEMINI_KEY")
        ask(provider, heard)
        assert server.headers_seen[0]["authorization"] == "Bearer another-key-0123"


def test_no_model_at_all_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no model"):
        open_model()


def test_the_model_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODENIB_MODEL", "claude-test")
    opened = open_model()
    assert (opened.name, opened.model) == ("anthropic", "claude-test")
