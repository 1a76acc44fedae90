"""The compaction transition: ten recorded histories, message by message; and what holds for all."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.runtime.context.compact import CUE_CHARACTERS, compact_history, latest_text
from codenib.runtime.context.messages import Message, ToolCall

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))


def test_there_are_ten_recorded_histories() -> None:
    assert len(HISTORIES) == 10


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
def test_the_transition_of_a_recorded_history(path: Path) -> None:
    recorded = json.loads(path.read_text(encoding="utf-8"))
    before = msgspec.convert(recorded["before"], list[Message])
    after = compact_history(before, recorded["issue"])
    assert len(after) == len(recorded["after"])
    for message, expected in zip(after, recorded["after"], strict=True):
        assert msgspec.to_builtins(message) == expected


def test_a_history_without_a_successful_read_has_no_transition() -> None:
    call = ToolCall("1", "read", {"path": "a.py"})
    failed = Message("tool", "a.py is not a file", call_id="1", failed=True)
    with pytest.raises(ValueError, match="no successful read"):
        compact_history([Message("user", "q"), Message("assistant", "", (call,)), failed], "q")


def test_only_the_tool_called_read_counts() -> None:
    call = ToolCall("1", "grep", {"pattern": "x"})
    history = [Message("user", "q"), Message("assistant", "", (call,)), Message("tool", "x", call_id="1")]
    with pytest.raises(ValueError, match="no successful read"):
        compact_history(history, "q")


# A text is its beginning and how often it is repeated: long ones are cheap to draw.
words = st.tuples(st.text(max_size=12), st.sampled_from([0, 1, 90])).map(lambda pair: pair[0] * pair[1])
names = st.sampled_from(["a.py", "./a.py", "b/c.py", "b//c.py"])
reads = st.lists(st.tuples(names, words, st.booleans()), max_size=3)
batches = st.lists(st.tuples(words, reads), min_size=1, max_size=4)


def history_of(turns: list[tuple[str, list[tuple[str, str, bool]]]]) -> list[Message]:
    history = [Message("system", "s"), Message("user", "the issue\n\n# Candidate code\nCANDIDATES")]
    number = 0
    for text, reads in turns:
        calls, results = [], []
        for path, result, failed in reads:
            number += 1
            calls.append(ToolCall(str(number), "read", {"path": path}))
            results.append(Message("tool", result, call_id=str(number), failed=failed))
        history += [Message("assistant", text, tuple(calls)), *results]
    return history


@given(batches)
def test_what_is_kept_is_the_issue_the_paths_the_newest_read_and_a_short_cue(
    turns: list[tuple[str, list[tuple[str, str, bool]]]],
) -> None:
    turns[-1][1].append(("a.py", "the last one", False))
    good = [(path, result) for _, reads in turns for path, result, failed in reads if not failed]
    history = history_of(turns)
    after = compact_history(history, "the issue")
    assert [message.role for message in after] == ["system", "user"]
    assert after == compact_history(history, "the issue")
    seed = after[1].text
    assert seed.startswith("the issue\n\n")
    assert seed.endswith(f"Latest read:\n{good[-1][1]}")
    assert "CANDIDATES" not in seed
    listed = seed.split("Files read:\n")[1].split("\n\n")[0].split("\n")
    assert sorted(listed) == sorted({"- " + path.replace("./", "").replace("//", "/") for path, _ in good})
    said = [text for text, _ in turns if text.strip()]
    cue = latest_text(history)
    assert cue == (said[-1][:CUE_CHARACTERS] if said else "")
    assert len(cue) <= CUE_CHARACTERS == 600
