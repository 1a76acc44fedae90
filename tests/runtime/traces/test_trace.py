"""Traces are ordered, survive a crash, hold no key, and can be run again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.runtime.conftest import ANSWER, ISSUE, says
from tests.runtime.modelserver import Call, Cuts, Fails, Says, serving

from codenib.core.errors import InputError, ProviderError
from codenib.runtime.context.messages import Message, Usage
from codenib.runtime.providers.choose import open_model
from codenib.runtime.providers.provider import ModelError
from codenib.runtime.providers.replay import ReplayProvider
from codenib.runtime.providers.retries import RetryLimits
from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.query import compile_views, query
from codenib.runtime.traces.trace import AgentRunTrace, invocations, read_trace, usage_of

KEY = "sk-test-0123456789-secret"
SCRIPT = [
    says("Look.", ("grep", {"pattern": "price"}), ("search", {"query": "total price"})),
    says("Read.", ("read", {"path": "shop/cart.py"})),
    says("No schema."),
    says(ANSWER),
]


def test_a_run_written_to_a_file_reads_back_in_order(shop: GitRepo, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with AgentRunTrace(file) as trace:
        query(ISSUE, repo_path=shop.path, provider=ScriptedProvider.of(SCRIPT), policy="compact", trace=trace)
    events = read_trace(file)
    assert events == trace.events
    assert [event.seq for event in events] == list(range(len(events)))
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert (events[0].kind, events[-2].kind, events[-1].kind) == ("run", "answer", "end")


@pytest.mark.parametrize("policy", ["grep_read", "eager", "compact", "adaptive"])
def test_a_trace_replays_with_the_same_prompts_and_the_same_answer(shop: GitRepo, policy: str) -> None:
    manifest = compile_views(shop.path, set())
    first = query(ISSUE, manifest=manifest, provider=ScriptedProvider.of(SCRIPT), policy=policy)
    again = query(ISSUE, manifest=manifest, provider=ReplayProvider(first.trace.events), policy=policy)
    assert list(invocations(again.trace.events)) == list(invocations(first.trace.events))
    assert (again.answer, again.located, again.usage.total) == (
        first.answer,
        first.located,
        first.usage.total,
    )


def test_a_replay_on_other_source_says_where_it_differs(shop: GitRepo) -> None:
    first = query(ISSUE, repo_path=shop.path, provider=ScriptedProvider.of(SCRIPT), policy="grep_read")
    shop.write("shop/cart.py", "class Cart:\n    price = 1\n")
    with pytest.raises(ProviderError, match="invocation 2 differs from the trace at message 3"):
        query(ISSUE, repo_path=shop.path, provider=ReplayProvider(first.trace.events), policy="grep_read")


def test_a_last_line_that_was_cut_off_is_left_out(shop: GitRepo, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with AgentRunTrace(file) as trace:
        query(ISSUE, repo_path=shop.path, provider=ScriptedProvider.of(SCRIPT), trace=trace)
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert read_trace(file) == trace.events[:-1]
    lines = whole.split(b"\n")
    file.write_bytes(b"\n".join([lines[0], lines[2]]))
    with pytest.raises(InputError, match="out of order"):
        read_trace(file)
    file.write_bytes(b'{"a": 1}\n')
    with pytest.raises(InputError, match="Object missing required field"):
        read_trace(file)


@pytest.mark.parametrize("which", ["anthropic", "openai"])
def test_tokens_equal_what_the_server_reported_and_no_key_is_kept(
    shop: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    shop.commit({"notes.txt": f"the key is {KEY}\n"})
    script = (
        Says("Look.", [Call("grep", {"pattern": "key"}), Call("read", raw="{oops")], 310, 21, 30),
        Fails(429, "slow down", {"retry-after": "1"}),
        Says("", [Call("read", {"path": "shop/cart.py"})], 420, 22, 300, 17),
        Cuts("middle", Says("this text is cut off", prompt=77)),
        Says("It is the cart.", prompt=230, completion=9),
        Says(ANSWER, prompt=260, completion=40),
    )
    file = tmp_path / "run.jsonl"
    slept: list[float] = []
    with serving(*script) as server, AgentRunTrace(file) as trace:
        provider = open_model(
            f"{which}:test", base_url=server.base_url(which), retries=RetryLimits(sleep=slept.append)
        )
        result = query(ISSUE, repo_path=shop.path, provider=provider, policy="compact", trace=trace)
        reported = (server.prompt, server.completion, server.cached)
    assert result.answer is not None
    assert (result.usage.prompt, result.usage.completion, result.usage.cached) == reported
    assert result.usage.answer_format == 1
    sums = usage_of(read_trace(file))
    assert (sums.prompt, sums.completion, sums.cached) == reported
    assert [event.kind for event in trace.events].count("retry") == 2
    assert slept[0] == 1.0
    written = file.read_text(encoding="utf-8")
    assert KEY not in written
    assert "the key is [key removed]" in written


def test_a_run_whose_model_fails_leaves_a_trace_that_says_so(shop: GitRepo, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    cut = Cuts("middle", Says("this text is cut off", prompt=77))
    with (
        serving(Says("", [Call("list")], 50, 5), cut, cut) as server,
        AgentRunTrace(file) as trace,
        pytest.raises(ModelError),
    ):
        retries = RetryLimits(attempts=2, sleep=lambda _: None)
        provider = open_model("anthropic:test", base_url=server.url, retries=retries)
        query(ISSUE, repo_path=shop.path, provider=provider, trace=trace)
    events = read_trace(file)
    assert [event.kind for event in events[-2:]] == ["error", "end"]
    assert events[-1].data["stop"] == "failed"
    assert events[-1].data["total"] == server.prompt + server.completion == usage_of(events).total


def test_an_invocation_without_a_reply_is_told_as_such() -> None:
    trace = AgentRunTrace()
    trace.add("message", role="user", text="q")
    trace.add("invoke", number=1, purpose="turn", may_call=True, messages=1)
    (only,) = invocations(trace.events)
    assert (only.messages, only.reply) == ((Message("user", "q"),), None)
    assert usage_of(trace.events) == Usage()
