"""A history after its first read in, the same history rewritten to its direction seed out. Pure.

The paper's one-time transition: [s, q‖C, e] becomes [s, q‖d], where the seed d holds the deduplicated paths
read, the newest successful read in full and the first 600 characters of the latest nonempty assistant
message. No model is asked.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from codenib.runtime.context.messages import Message, ToolCall

#: The tool whose first success triggers the transition.
READ = "read"
#: Only the cue is cut; the issue and the newest read stay whole.
CUE_CHARACTERS = 600


def compact_history(history: Sequence[Message], issue: str) -> list[Message]:
    """System prompt, and one user message with the clean issue and the seed.

    Raises `ValueError` on a history without a successful read: there is nothing to keep.
    """
    reads = successful_reads(history)
    if not reads:
        raise ValueError("the history holds no successful read")
    paths = list(dict.fromkeys(read_path(call) for call, _ in reads))
    system = [message for message in history if message.role == "system"]
    return [*system, Message("user", f"{issue}\n\n{seed(paths, reads[-1][1].text, latest_text(history))}")]


def seed(paths: Sequence[str], newest_read: str, cue: str) -> str:
    """The direction seed, as the model reads it."""
    parts = ["# Exploration so far", "Files read:\n" + "\n".join(f"- {path}" for path in paths)]
    if cue:
        parts.append(f"Latest note:\n{cue}")
    parts.append(f"Latest read:\n{newest_read}")
    return "\n\n".join(parts)


def latest_text(history: Sequence[Message]) -> str:
    """The first characters of the latest assistant message that says something; empty when none does."""
    texts = (message.text for message in reversed(history) if message.role == "assistant")
    return next((text for text in texts if text.strip()), "")[:CUE_CHARACTERS]


def successful_reads(history: Sequence[Message]) -> list[tuple[ToolCall, Message]]:
    """The reads that gave text, with their results, in the order of the results."""
    calls = {call.id: call for message in history for call in message.calls if call.name == READ}
    return [
        (calls[message.call_id], message)
        for message in history
        if message.role == "tool" and not message.failed and message.call_id in calls
    ]


def read_path(call: ToolCall) -> str:
    """The path of a read, written one way.

    >>> read_path(ToolCall("1", "read", {"path": "./src//app.py"}))
    'src/app.py'
    """
    return posixpath.normpath(str(call.arguments.get("path", "")))
