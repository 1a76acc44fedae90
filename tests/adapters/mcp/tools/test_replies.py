"""Replies never exceed their budget, and send nothing twice."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any, cast

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from mcp.client.client import Client
from tests.adapters.mcp.clients import facts_of, text_of, within
from tests.gitrepo import GitRepo

from codenib.adapters.mcp.tools.replies import LEAST_TOKENS, ToolReply, render
from codenib.core.text.printable import escape_controls
from codenib.serving.context.tokens import count

TEXTS = st.text(max_size=60)


@given(
    st.text(max_size=40), st.lists(TEXTS, max_size=30), st.integers(LEAST_TOKENS, 400), st.booleans(),
    st.lists(st.fixed_dictionaries({"path": TEXTS, "line": st.integers(1, 9999)}), max_size=20),
)  # fmt: skip
def test_a_reply_fits_and_says_what_it_left_out(
    head: str, entries: list[str], limit: int, structured: bool, places: list[dict[str, Any]]
) -> None:
    reply = ToolReply(head, entries, {"total": len(entries), "places": places})
    sent = render(reply, limit, structured=structured)
    assert count(sent.text) <= limit
    assert sent.facts["tokens"] == count(sent.text)
    if structured:
        assert count(sent.text) + count(msgspec.json.encode(sent.facts).decode()) <= limit
    shown = [escape_controls(entry) for entry in entries if entry]
    if not all(entry in sent.text for entry in shown):
        assert sent.facts["truncated"]


def test_explore_keeps_to_its_budget_on_200_random_questions(shop: GitRepo) -> None:
    """The whole reply, with structured content where it is asked for, and no line of source in both."""
    words = [
        "price",
        "currency",
        "cart",
        "convert",
        "total",
        "item",
        "rates",
        "customer",
        "test",
        "buy",
        "EUR",
    ]
    for number in range(30):
        body = "\n".join(f"    {a} = convert_{number}({b}, {number})" for a, b in pairwise(words))
        shop.write(f"shop/part_{number}.py", f"def part_{number}(total, price):\n{body}\n    return total\n")
    chance = random.Random(5)

    async def ask(client: Client) -> None:
        for number in range(200):
            query = " ".join(chance.sample(words, chance.randrange(1, 6)))
            limit = chance.choice([60, 120, 300, 800, 2000, 6000])
            structured = number % 2 == 1
            meta = cast("Any", {"codenib/structured": True}) if structured else None
            answer = await client.call_tool("explore", {"query": query, "max_tokens": limit}, meta=meta)
            assert not answer.is_error
            text = text_of(answer)
            facts = facts_of(answer)
            sent = text + (json.dumps(answer.structured_content, separators=(",", ":")) if structured else "")
            assert count(text) == facts["tokens"]
            assert count(sent) <= limit, (query, limit, count(sent))
            assert text
            blocks = [part for part in text.split("\n\n") if "\n" in part]
            assert len(blocks) == len(set(blocks))
            assert "convert_" not in json.dumps(facts)

    within(shop.path, ask)
