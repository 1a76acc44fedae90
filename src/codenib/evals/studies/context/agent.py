"""A deterministic agent for offline runs: a history in, the next message out. SIMULATED: no model is asked.

It searches for the issue's identifiers, reads the two files that look best, and answers with what it has
seen. It knows nothing but the history that a policy leaves it, so that policies change what it spends and
finds. Its numbers say how policies behave with a plain reader; they say nothing about any model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codenib.evals.data.keywords import keywords
from codenib.runtime.context.messages import Message, ToolCall, ToolSpec
from codenib.runtime.providers.scripted import ScriptedProvider

SIMULATED = "simulated"
READS = 2  # files that it reads before it answers
WORDS = 4  # identifiers that it searches for at once
_AROUND = 60  # lines of a file that it reads before and after a lead
_NEAR = 8  # lines around a hit that it commits to
_ANSWERS = 10

_CANDIDATE = re.compile(r"^## \d+\. (?P<path>\S+):(?P<start>\d+)-(?P<end>\d+)", re.M)
_READ = re.compile(r"^(?P<path>\S+):(?P<start>\d+)-(?P<end>\d+) of \d+ lines", re.M)
_NUMBERED = re.compile(r"^(?P<line>\d+)\t(?P<text>.*)$")
_HIT = re.compile(r"^(?P<path>[^\s:]+):(?P<line>\d+): ", re.M)


@dataclass(frozen=True, slots=True)
class Leads:
    """Places that the history still shows: candidates, hits of searches, passages that were read."""

    candidates: list[tuple[str, int, int]]
    hits: list[tuple[str, int]]
    reads: list[tuple[str, dict[int, str]]]


def simulated_agent() -> ScriptedProvider:
    """The agent behind the runner's seam for models; tokens are counted by our own tokenizer."""
    return ScriptedProvider(decide, model=SIMULATED)


def decide(messages: Sequence[Message], tools: Sequence[ToolSpec], may_call: bool) -> Message:
    """Search when there is no lead, read until two files were read, then answer."""
    issue = _issue(messages)
    words = keywords(issue)
    leads = leads_of(messages)
    if may_call and len(leads.reads) < READS:
        lead = _lead(leads, words)
        if lead is not None:
            path, line = lead
            first = max(1, line - _AROUND)
            arguments = {"path": path, "start_line": first, "end_line": line + _AROUND}
            return _call("read", [arguments], messages, f"Next I read {path} around line {line}.")
        if words and not leads.hits and not _searched(messages):
            patterns = [{"pattern": re.escape(word)} for word in words[:WORDS]]
            return _call("grep", patterns, messages, f"I search for {', '.join(words[:WORDS])}.")
    return Message("assistant", _answer(leads, words))


def leads_of(messages: Sequence[Message]) -> Leads:
    """Candidates, hits and passages, in the order in which the history shows them."""
    candidates, hits, reads = [], [], []
    for message in messages:
        if message.role not in ("user", "tool") or message.failed:
            continue
        for found in _CANDIDATE.finditer(message.text):
            candidates.append((found["path"], int(found["start"]), int(found["end"])))
        for found in _READ.finditer(message.text):
            lines: dict[int, str] = {}
            for row in message.text[found.end() :].lstrip("\n").split("\n"):
                numbered = _NUMBERED.match(row)
                if numbered is None and lines:
                    break
                if numbered is not None:
                    lines[int(numbered["line"])] = numbered["text"]
            reads.append((found["path"], lines))
        if message.role == "tool" and not _READ.match(message.text):
            hits += [(found["path"], int(found["line"])) for found in _HIT.finditer(message.text)]
    return Leads(candidates, hits, reads)


def _lead(leads: Leads, words: Sequence[str]) -> tuple[str, int] | None:
    """The best file that was not read: the first candidate's, else the one with the most hits."""
    known = {path for path, _ in leads.reads}
    for path, start, end in leads.candidates:
        if path not in known:
            return path, (start + end) // 2
    counts = Counter(path for path, _ in leads.hits if path not in known and not _is_test(path))
    if not counts:
        return None
    path = min(counts, key=lambda name: (-counts[name], name))
    return path, next(line for name, line in leads.hits if name == path)


def _answer(leads: Leads, words: Sequence[str]) -> str:
    """Candidates first, then the hits inside what was read, then other hits."""
    places = list(leads.candidates)
    for path, lines in leads.reads:
        for line, text in lines.items():
            if any(word in text for word in words[:WORDS]):
                places.append((path, max(1, line - _NEAR), line + _NEAR))
    places += [(path, max(1, line - _NEAR), line + _NEAR) for path, line in leads.hits if not _is_test(path)]
    kept: list[tuple[str, int, int]] = []
    for path, start, end in places:
        if not any(path == other and start <= last and first <= end for other, first, last in kept):
            kept.append((path, start, end))
    locations = [{"path": path, "start_line": start, "end_line": end} for path, start, end in kept[:_ANSWERS]]
    return json.dumps({"summary": "Places that the simulated agent came upon.", "locations": locations})


def _issue(messages: Sequence[Message]) -> str:
    first = next(message.text for message in messages if message.role == "user")
    return first.partition("# Candidate code")[0]


def _searched(messages: Sequence[Message]) -> bool:
    return any(call.name == "grep" for message in messages for call in message.calls)


def _call(
    name: str, arguments: Sequence[Mapping[str, object]], messages: Sequence[Message], text: str
) -> Message:
    turn = sum(message.role == "assistant" for message in messages)
    calls = tuple(ToolCall(f"{name}-{turn}-{at}", name, dict(each)) for at, each in enumerate(arguments))
    return Message("assistant", text, calls)


def _is_test(path: str) -> bool:
    return re.search(r"(^|/)tests?(/|_)|_test\.|\.test\.|\.spec\.", path) is not None
