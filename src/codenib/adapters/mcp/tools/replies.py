"""What a tool found in, a reply within its token budget out.

The text carries the payload, for the model. The facts (snapshot, totals, provider, freshness, places) are for
programs: in `_meta`, or as structured content for clients that ask for it. Source text is only in the text,
so nothing is sent twice. Structured content is not sent unasked: Claude Code, Codex, VS Code and Cursor
give the model the structured part alone when there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from codenib.adapters.envelopes.envelope import freshness_of, snapshot_id
from codenib.adapters.mcp.tools.hints import error_for_tools
from codenib.core.answers import SnapshotRef
from codenib.core.errors import CodenibError
from codenib.core.text.masking import mask_secrets
from codenib.core.text.printable import escape_controls
from codenib.serving.context.tokens import count

#: The key of the facts in a result's `_meta`, and of the wish for structured content in a request's.
FACTS_KEY = "codenib/reply"
STRUCTURED_KEY = "codenib/structured"
FILE_URI = "codenib://file/"
LEAST_TOKENS = 50
FACTS_SHARE = 0.3  # of a structured reply that its facts may take; the rest is the text, which has the source
_LINK_TOKENS = 8  # of what a client writes around a link: Gemini's gives them to the model as a sentence
_WIDEST = 200  # characters of a source line in a list
_LEAST_FACTS = ("items", "total", "truncated")


@dataclass(frozen=True, slots=True)
class ToolReply:
    """`head` is one line with totals, provider and snapshot; `entries` come best first."""

    head: str
    entries: Sequence[str]
    facts: Mapping[str, Any] = field(default_factory=dict)
    more: str = "raise max_tokens, or narrow the question"
    failed: bool = False
    total: int | None = None  # of all entries, when more exist than are given
    links: int = 0  # places of the facts' items that are linked, the first ones
    sent: Callable[[int], None] = lambda entries: None  # told how many entries fitted


@dataclass(frozen=True, slots=True)
class Rendered:
    """A reply as it is sent."""

    text: str
    facts: dict[str, Any]
    failed: bool
    links: tuple[PlaceLink, ...] = ()
    given: int = 0  # of the facts' items, those that the text has


@dataclass(frozen=True, slots=True)
class PlaceLink:
    """A place as a resource of ours: a client can open it, or read it without asking the model."""

    path: str
    line: int
    end_line: int

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}-{self.end_line}"

    @property
    def uri(self) -> str:
        return f"{FILE_URI}{quote(self.path)}#L{self.line}-{self.end_line}"

    @classmethod
    def parse(cls, uri: str) -> tuple[str, int | None, int | None]:
        """Path and lines of such a uri.

        >>> PlaceLink.parse(PlaceLink("a b.py", 3, 9).uri), PlaceLink.parse("codenib://file/a.py")
        (('a b.py', 3, 9), ('a.py', None, None))
        """
        path, _, lines = uri.removeprefix(FILE_URI).partition("#L")
        first, _, last = lines.partition("-")
        return (
            unquote(path),
            int(first) if first.isdecimal() else None,
            int(last) if last.isdecimal() else None,
        )


def render(reply: ToolReply, max_tokens: int, *, structured: bool) -> Rendered:
    """The reply in at most `max_tokens` tokens, with the facts counted when the model may see them."""
    facts = {**reply.facts, "truncated": bool(reply.facts.get("truncated", False))}
    room = max_tokens
    if structured:
        facts = _within(facts, max_tokens - LEAST_TOKENS // 2)
        room -= _cost(facts)
    text, shown = fit(_without_controls(reply), max(room, 0))
    if shown < len(reply.entries):
        facts["truncated"] = True
    reply.sent(shown)
    text = mask_secrets(text)
    facts["tokens"] = count(text)
    links = tuple(_links(reply, shown, room - facts["tokens"]))
    return Rendered(text, _without_secrets(facts), reply.failed, links, given=_given(reply, shown))


def _given(reply: ToolReply, shown: int) -> int:
    """How many of the facts' items the text has: all, or where each is an entry those that fitted."""
    items = len(reply.facts.get("items", ()))
    if shown == len(reply.entries):
        return items
    return shown if items == len(reply.entries) else 0


def _links(reply: ToolReply, shown: int, room: int) -> Iterator[PlaceLink]:
    """The first places of different files, as many as the text left room for."""
    places: dict[str, PlaceLink] = {}
    for item in reply.facts.get("items", ()) if shown and reply.links else ():
        if isinstance(item, dict) and item.get("path") and "line" in item:
            link = PlaceLink(item["path"], item["line"], item.get("end_line") or item["line"])
            places.setdefault(link.path, link)
    for link in list(places.values())[: reply.links]:
        room -= count(f"{link.name} {link.uri}") + _LINK_TOKENS
        if room < 0:
            return
        yield link


def _without_controls(reply: ToolReply) -> ToolReply:
    """What a client prints may be a terminal's: no escape sequence of a repository is in it."""
    return replace(reply, head=escape_controls(reply.head), entries=[*map(escape_controls, reply.entries)])


def _without_secrets(facts: dict[str, Any]) -> dict[str, Any]:
    written = msgspec.json.encode(facts).decode("utf-8", "replace")
    masked = mask_secrets(written)
    found: dict[str, Any] = msgspec.json.decode(masked) if masked != written else facts
    return found


def _within(facts: dict[str, Any], max_tokens: int) -> dict[str, Any]:
    """Facts that leave room for text: with the first items that fit in their share, or the totals alone."""
    room = int(max_tokens * FACTS_SHARE)
    if _cost(facts) > room:
        items = facts.get("items", ())
        facts = {name: value for name, value in facts.items() if name != "plan"} | {"items": []}
        low, high = 0, len(items)
        while low < high:
            middle = (low + high + 1) // 2
            fits = _cost({**facts, "items": items[:middle]}) <= room
            low, high = (middle, high) if fits else (low, middle - 1)
        facts |= {"items": items[:low], "truncated": low < len(items) or facts["truncated"]}
    if _cost(facts) > max_tokens:
        facts = {name: facts[name] for name in _LEAST_FACTS if name in facts}
    return facts


def _cost(facts: Mapping[str, Any]) -> int:
    """Tokens of the facts, with those of `tokens`, which comes last."""
    return count(msgspec.json.encode(facts).decode()) + 8


def fit(reply: ToolReply, max_tokens: int) -> tuple[str, int]:
    """The head and as many entries as fit, and how many those are; the rest is counted in a last line."""
    whole = _text(reply, len(reply.entries))
    if count(whole) <= max_tokens:
        return whole, len(reply.entries)
    low, high = 0, len(reply.entries) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(_text(reply, middle)) <= max_tokens else (low, middle - 1)
    # More text may count fewer tokens where two parts meet, so the result is checked, not trusted.
    while low and count(_text(reply, low)) > max_tokens:
        low -= 1
    text = _text(reply, max(low, 0))
    return (text, low) if count(text) <= max_tokens else (_cut(text, max_tokens), 0)


def _text(reply: ToolReply, shown: int) -> str:
    left = (reply.total or len(reply.entries)) - shown if shown < len(reply.entries) else 0
    parts = [reply.head, *reply.entries[:shown]]
    if left:
        parts.append(f"… {left:,} more: {reply.more}")
    return "\n".join(part for part in parts if part)


def _cut(text: str, max_tokens: int) -> str:
    """The longest beginning that fits, by halving."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= max_tokens else (low, middle - 1)
    return text[:low]


def failure(error: CodenibError) -> ToolReply:
    """An error as a reply: what is wrong, and the tool that helps."""
    message, hint = error_for_tools(error)
    facts = {"error": {"kind": type(error).__name__, "message": message, "hint": hint}}
    return ToolReply(message, [f"try: {hint}"] if hint else [], facts, failed=True)


def snapshot_facts(ref: SnapshotRef, refreshed: str = "") -> dict[str, Any]:
    """Which state of the files an answer is for, and what was done to be up to it."""
    return {"snapshot": snapshot_id(ref), "freshness": freshness_of(ref, refreshed)}


def describe_snapshot(ref: SnapshotRef) -> str:
    """`03988c5+edits`, as the head line says it."""
    return f"{(ref.commit or ref.id)[:7]}{'+edits' if ref.dirty else ''}{' (stale)' if ref.stale else ''}"


def head_line(*parts: str) -> str:
    """The head of a reply.

    >>> head_line("2 of 9 units", "", "lexical")
    '[2 of 9 units · lexical]'
    """
    return f"[{' · '.join(part for part in parts if part)}]"


def counted(shown: int, total: int, what: str) -> str:
    """
    >>> counted(3, 3, "places"), counted(3, 1200, "places")
    ('3 places', '3 of 1,200 places')
    """
    return f"{total:,} {what}" if shown >= total else f"{shown:,} of {total:,} {what}"


def numbered(text: str, first: int) -> list[str]:
    """Lines with their numbers."""
    return [
        f"{number} {line}" if line else f"{number}" for number, line in enumerate(text.split("\n"), first)
    ]


def shorten(line: str) -> str:
    """A line of source as a list shows it."""
    return line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…"
