"""Training rows of traces."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo
from tests.runtime.conftest import ANSWER, ISSUE, says

from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.query import query
from codenib.runtime.traces.export import FORMATS, export_rows
from codenib.runtime.traces.trace import Event, invocations

SCRIPT = [
    says("Look.", ("grep", {"pattern": "price"})),
    says("See ```python\nreturn sum(item.price)\n``` there.", ("read", {"path": "shop/cart.py"})),
    says("Once more.", ("read", {"path": "shop/tax.py"})),
    says(f"```json\n{ANSWER}\n```"),
]


@pytest.fixture
def record(shop: GitRepo) -> Callable[[str], list[Event]]:
    def record(policy: str) -> list[Event]:
        provider = ScriptedProvider.of(SCRIPT)
        return query(ISSUE, repo_path=shop.path, provider=provider, policy=policy, skills=[]).trace.events

    return record


def test_sft_has_a_row_for_each_invocation_with_the_prompt_it_saw(
    record: Callable[[str], list[Event]],
) -> None:
    events = record("compact")
    rows = list(export_rows(events, "sft"))
    assert len(rows) == len(list(invocations(events))) == 4
    assert [len(row["prompt"]) for row in rows] == [2, 4, 2, 4]
    call = rows[1]["completion"][0]["tool_calls"][0]["function"]
    assert (call["name"], json.loads(call["arguments"])) == ("read", {"path": "shop/cart.py"})
    assert [tool["function"]["name"] for tool in rows[0]["tools"]] == ["grep", "read", "list"]
    about = rows[0]["about"]
    assert (about["policy"], about["answered"], about["stop"]) == ("compact", True, "answered")
    assert about["spans"] == [{"path": "shop/cart.py", "start_line": 5, "end_line": 6}]
    assert about["usage"]["prompt"] > 0


def test_openai_has_a_row_for_each_stretch_between_rewrites(record: Callable[[str], list[Event]]) -> None:
    whole = list(export_rows(record("eager"), "openai"))
    assert len(whole) == 1
    assert [message["role"] for message in whole[0]["messages"]] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    parts = list(export_rows(record("compact"), "openai"))
    assert [len(row["messages"]) for row in parts] == [5, 5]
    assert all(row["messages"][-1]["role"] == "assistant" for row in parts)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("policy", ["grep_read", "eager", "compact"])
def test_without_source_no_line_of_the_repository_is_left(
    record: Callable[[str], list[Event]], form: str, policy: str
) -> None:
    events = record(policy)
    for source in (True, False):
        text = json.dumps(list(export_rows(events, "sft" if form == "sft" else "openai", source=source)))
        for line in ("self.items.append", "sum(item.price", "return price * (1 + RATE)"):
            assert (line in text) is source
        for kept in (ISSUE, "shop/cart.py", "total_price must multiply by count", "Once more."):
            assert kept in text
