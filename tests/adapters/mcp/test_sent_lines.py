"""What a session has is remembered for some replies, and each reply knows what those before it had."""

from __future__ import annotations

from codenib.adapters.mcp.sent_lines import SentLines


def test_a_reply_knows_what_the_others_had_and_is_known_once_it_was_sent() -> None:
    sent = SentLines()
    first = sent.begin()
    first.add("a.py", "d1", [1, 2])
    assert not sent.begin().has("a.py", "d1", [1, 2]), "it was not sent yet"
    sent.keep(first)
    second = sent.begin()
    second.add("a.py", "d1", [3])
    assert second.has("a.py", "d1", [1, 2, 3])
    assert not second.has("a.py", "d2", [1]), "an edited file is new"
    assert len(second) == 1, "a reply counts its own lines"


def test_what_was_sent_long_ago_is_forgotten() -> None:
    sent = SentLines(replies=2)
    for number in (1, 2, 3):
        sent.add("a.py", "d", [number])
    assert [sent.begin().has("a.py", "d", [number]) for number in (1, 2, 3)] == [False, True, True]
