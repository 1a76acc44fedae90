"""The loop: turns, batches, the cap, the answer-format request, the policies' histories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from tests.gitrepo import GitRepo
from tests.runtime.conftest import ANSWER, ISSUE, says

from codenib.runtime.context.messages import Message, Reply, ToolCall, ToolSpec, Usage
from codenib.runtime.context.prompts import ANSWER_FORMAT
from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.query import compile_views, query
from codenib.runtime.runner import AgentResult, RunSettings
from codenib.runtime.traces.trace import Invocation, invocations
from codenib.runtime.views import Contexts, load_views

READ_CART = ("read", {"path": "shop/cart.py"})
GREP = ("grep", {"pattern": "total_price"})


@pytest.fixture
def contexts(shop: GitRepo) -> Iterator[Contexts]:
    with load_views(compile_views(shop.path, set())) as opened:
        yield opened


@pytest.fixture
def run(contexts: Contexts) -> Callable[..., AgentResult]:
    def run(*replies: Message | Reply, policy: str = "eager", **options: Any) -> AgentResult:
        return query(
            ISSUE, contexts=contexts, provider=ScriptedProvider.of(replies), policy=policy, **options
        )

    return run


def prompts(result: AgentResult) -> list[Invocation]:
    return list(invocations(result.trace.events))


def events(result: AgentResult, kind: str) -> list[dict[str, Any]]:
    return [event.data for event in result.trace.events if event.kind == kind]


def test_an_answer_ends_the_run_with_its_locations(run: Callable[..., AgentResult]) -> None:
    result = run(says("I read.", READ_CART), says(f"Here it is: {ANSWER}"))
    assert result.answer is not None
    assert result.answer.summary == "total_price must multiply by count"
    assert [(span.path, span.start_line, span.end_line) for span in result.located.spans] == [
        ("shop/cart.py", 5, 6)
    ]
    assert (result.stop, result.turns, result.usage.answer_format) == ("answered", 2, 0)


def test_the_histories_of_the_three_policies_begin_as_the_paper_defines(
    run: Callable[..., AgentResult],
) -> None:
    first = {name: prompts(run(says(ANSWER), policy=name))[0] for name in ("grep_read", "eager", "compact")}
    assert [message.role for message in first["grep_read"].messages] == ["system", "user"]
    assert first["grep_read"].messages[1].text == ISSUE
    assert first["eager"].messages == first["compact"].messages
    assert first["eager"].messages[0] == first["grep_read"].messages[0]
    assert first["eager"].messages[1].text.startswith(f"{ISSUE}\n\n# Candidate code")
    assert "shop/cart.py:5-6 Cart.total_price" in first["eager"].messages[1].text


def test_candidates_are_functions_only(run: Callable[..., AgentResult]) -> None:
    (found,) = events(run(says(ANSWER)), "candidates")
    assert found["items"][0]["symbol"] == "Cart.total_price"
    assert {item["level"] for item in found["items"]} == {"L2"}


def test_compact_rewrites_once_after_the_whole_batch_with_the_first_successful_read(
    run: Callable[..., AgentResult],
) -> None:
    result = run(
        says("Grep first.", GREP),
        says("A wrong path.", ("read", {"path": "cart.py"})),
        says("Now read.", READ_CART, GREP),
        says("And the tax.", ("read", {"path": "shop/tax.py"})),
        says(ANSWER),
        policy="compact",
    )
    sizes = [len(each.messages) for each in prompts(result)]
    assert sizes == [2, 4, 6, 2, 4]
    assert len(events(result, "rewrite")) == 1
    rewritten = prompts(result)[3].messages
    assert rewritten[0] == prompts(result)[0].messages[0]
    assert "# Candidate code" not in rewritten[1].text
    assert "def total_price" in rewritten[1].text
    assert "Now read." in rewritten[1].text
    # Later invocations only append, so the prefix cache of the provider holds.
    assert prompts(result)[4].messages[:2] == rewritten


def test_eager_keeps_everything_and_every_prompt_extends_the_one_before(
    run: Callable[..., AgentResult],
) -> None:
    result = run(says("", GREP), says("", READ_CART), says(ANSWER), policy="eager")
    seen = [each.messages for each in prompts(result)]
    assert all(after[: len(before)] == before for before, after in pairwise(seen))
    assert events(result, "rewrite") == []


def test_usage_before_the_rewrite_still_counts(run: Callable[..., AgentResult]) -> None:
    replies = [
        Reply(says("", READ_CART), "calls", Usage(1000, 10, 600)),
        Reply(says(ANSWER), "end", Usage(200, 20)),
    ]
    usage = run(*replies, policy="compact").usage
    assert (usage.prompt, usage.completion, usage.cached, usage.total) == (1200, 30, 600, 1230)


def test_a_run_that_ends_without_the_schema_is_asked_for_it_and_that_counts(
    run: Callable[..., AgentResult],
) -> None:
    replies = [
        Reply(says("It is the cart."), "end", Usage(100, 5)),
        Reply(says("The cart, really."), "end", Usage(110, 6)),
        Reply(says(ANSWER), "end", Usage(120, 7)),
    ]
    result = run(*replies)
    assert result.answer is not None
    assert (result.usage.invocations, result.usage.answer_format, result.usage.total) == (3, 2, 348)
    asked = prompts(result)
    assert [each.purpose for each in asked] == ["turn", "answer-format", "answer-format"]
    assert [each.may_call for each in asked] == [True, False, False]
    assert asked[1].messages[-1] == Message("user", ANSWER_FORMAT)


def test_a_model_that_never_answers_has_no_answer_and_no_locations(run: Callable[..., AgentResult]) -> None:
    result = run(*[says("Hmm.")] * 3)
    assert (result.answer, result.stop, result.located.spans) == (None, "no answer", [])
    assert result.usage.invocations == 3


def test_the_cap_is_sixteen_turns_and_then_the_format_is_asked_for(run: Callable[..., AgentResult]) -> None:
    result = run(*[says("", GREP)] * 16, says(ANSWER))
    assert (result.turns, result.stop, result.usage.invocations) == (16, "turn cap", 17)
    last = prompts(result)[-1]
    assert last.purpose == "answer-format"
    assert [message.role for message in last.messages[-2:]] == ["tool", "user"]
    assert result.answer is not None


def test_what_a_model_does_wrong_is_told_to_it_and_the_run_goes_on(run: Callable[..., AgentResult]) -> None:
    wrong = Message(
        "assistant",
        "",
        (
            ToolCall("1", "read", malformed='{"path": "sh'),
            ToolCall("2", "open", {"path": "x"}),
            ToolCall("3", "read", {"file": "x"}),
            ToolCall("4", "read", {"path": "../../etc/passwd"}),
            ToolCall("5", "grep", {"pattern": "("}),
            ToolCall("6", "read", {"path": "shop/cart.py", "start_line": 90}),
        ),
    )
    result = run(wrong, says(ANSWER))
    told = prompts(result)[1].messages[3:]
    assert [message.failed for message in told] == [True] * 6
    assert "not a JSON object" in told[0].text
    assert "There is no tool 'open'. Tools: grep, read, list, search." in told[1].text
    assert "'path' is missing" in told[2].text
    assert "outside the repository" in told[3].text
    assert "pattern" in told[4].text
    assert "has 6 lines" in told[5].text
    assert all(message.call_id == str(number) for number, message in enumerate(told, 1))


def test_calls_get_ids_of_their_own_when_a_server_repeats_them(run: Callable[..., AgentResult]) -> None:
    call = ToolCall("call_0", "list")
    result = run(Message("assistant", "", (call, call)), Message("assistant", "", (call,)), says(ANSWER))
    history = prompts(result)[-1].messages
    ids = [call.id for message in history for call in message.calls]
    assert len(set(ids)) == 3
    assert [message.call_id for message in history if message.role == "tool"] == ids


def test_a_bounded_history_gives_up_its_oldest_observations(run: Callable[..., AgentResult]) -> None:
    settings = RunSettings(history_tokens=900)
    replies = [says("", READ_CART), says("", READ_CART, ("read", {"path": "shop/tax.py"})), says(ANSWER)]
    result = run(*replies, policy="grep_read", settings=RunSettings())
    whole = prompts(result)[-1].messages
    small = prompts(run(*replies, policy="grep_read", settings=RunSettings(history_tokens=1)))[-1].messages
    assert [message.role for message in small] == [message.role for message in whole]
    assert small[3].text.startswith("[left out")
    assert small[5:] == whole[5:]
    roomy = prompts(run(*replies, policy="grep_read", settings=settings))[-1].messages
    assert roomy == whole


def test_a_scripted_model_may_decide_from_what_it_sees(contexts: Contexts) -> None:
    def decide(messages: Sequence[Message], tools: Sequence[ToolSpec], may_call: bool) -> Message:
        if messages[-1].role == "tool":
            return says(ANSWER)
        return says("", (tools[0].name, {"pattern": "Cart"}))

    result = query(ISSUE, contexts=contexts, provider=ScriptedProvider(decide), skills=[])
    assert result.turns == 2
    assert result.usage.prompt > 500


def test_adaptive_says_why_it_keeps_or_rewrites(run: Callable[..., AgentResult]) -> None:
    result = run(says("", READ_CART), says(ANSWER), policy="adaptive")
    start, rewrite = events(result, "decision")
    assert (start["yes"], start["like"]) == (True, "eager")
    assert start["why"].startswith("4 candidates, ")
    assert (rewrite["yes"], rewrite["like"]) == (False, "eager")
    assert "read a candidate's file" in rewrite["why"]


def test_many_calls_of_one_turn_neither_end_nor_flood_a_run(run: Callable[..., AgentResult]) -> None:
    result = run(says("All of it.", *[GREP] * 500), says(ANSWER))
    assert result.stop == "answered"
    assert len(events(result, "tool")) == 16
    second = prompts(result)[1].messages
    assert [len(message.calls) for message in second if message.role == "assistant"] == [16]
    assert "484 further calls of this turn were not run" in second[-1].text


def test_a_lone_surrogate_of_a_model_does_not_end_a_run(contexts: Contexts) -> None:
    broken = says("\ud800", ("grep", {"pattern": "\udfff", "\ud800": ["\ud800"]}))
    replies: list[Message | Reply] = [Reply(broken, "calls", None), says(ANSWER)]
    result = query(f"{ISSUE} \ud800", contexts=contexts, provider=ScriptedProvider.of(replies))
    assert result.stop == "answered"
    assert prompts(result)[1].messages[2].text == "?"
