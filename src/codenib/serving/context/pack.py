"""Ranked candidates and a token budget in, a filled draft and its text out: which unit gets which form.

The best candidate comes first, with its lines. Then many are named compactly, then the best of those get
their lines, then what is left of the budget names more. The text is counted as a whole at the end and cut
until it fits, so no pack is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codenib.core.context import Related
from codenib.serving.context.draft import (
    Draft,
    PackCandidate,
    Rendition,
    entry,
    location,
    related_line,
    render,
)
from codenib.serving.context.excerpt import WIDEST, line_weights, narrow, signature, telling, with_gaps
from codenib.serving.context.folders import folders_of
from codenib.serving.context.ledger import Ledger
from codenib.serving.context.tokens import count

# Chosen on the development rows of half of the repositories. 2,000 tokens show a gold function on 84% of all
# rows, on 74% with its lines; BREADTH 0.6 gives 85% and 67%, with shorter excerpts 85% and 73%.
BREADTH = 0.5  # of the room goes to declarations of many candidates before any gets its lines
FULL_SHARE = 0.2  # of the room that one unit may take with all its lines
CUT_SHARE = 0.1  # of the room that the telling lines of a longer unit may take
# PairTokens of either, however large the room is: a larger room shows more units before it shows more of one.
FULL_MOST = 300
CUT_MOST = 150
# The best unit is what a reader came for: the first block of the text, whole where it fits in this share.
BEST_SHARE = 0.25
BEST_CUT_SHARES = (0.15, 0.3, 0.6)  # the first that has room for its declaration and some lines
LEAST_CUT = 90  # tokens; less than this shows nothing that the declaration does not
SIGNATURE_WIDEST = 120
FOLDERS_FROM = 800  # tokens of a budget that has room for a word on where things are
RELATED_SHARE = 0.08
_LONGEST_TOKEN = 128  # characters; what has more cannot fit and need not be counted
_REST_KINDS = frozenset({"body", "module", "section", "window", "file"})


@dataclass(frozen=True, slots=True)
class PackMaterial:
    """What a pack is made of: ranked candidates, the query's weighted terms, `total` matches, neighbours."""

    candidates: Sequence[PackCandidate]
    terms: Mapping[str, float]
    total: int
    related: Sequence[Related]


def fill_pack(material: PackMaterial, max_tokens: int, ledger: Ledger | None) -> tuple[Draft, str]:
    """The draft that fits in `max_tokens`, and its text."""
    draft = Draft(material.total)
    if max_tokens >= FOLDERS_FROM:
        draft.folders = folders_of([each.item for each in material.candidates])
    room = max_tokens - count(render(draft)) - len(str(material.total))
    draft.related = _within(material.related, int(room * RELATED_SHARE))
    room -= sum(count(related_line(each)) for each in draft.related)
    filling = _Filling(draft, material, ledger)
    filling.fill(room)
    text = render(draft)
    if (slack := max_tokens - count(text)) > 0:  # entries of one file share its path, which estimates do not
        filling.top_up(slack)
        text = render(draft)
    while count(text) > max_tokens and draft.shrink():
        text = render(draft)
    if ledger is not None:
        for each in draft.renditions.values():
            ledger.add(each.candidate.item.path, each.candidate.digest, each.numbers)
    return draft, text


class _Filling:
    """A draft that is filled within a room of so many tokens."""

    def __init__(self, draft: Draft, material: PackMaterial, ledger: Ledger | None) -> None:
        self._draft, self._ledger = draft, ledger
        self._candidates, self._terms = material.candidates, material.terms
        self._costs: dict[int, int] = {}
        self._left = 0

    def fill(self, room: int) -> None:
        """The best with its lines, declarations of many, then lines of the next, then all lines of those."""
        self._left = room
        self._add_best(room)
        spent = room - self._left
        self._add_brief(leave=max(int(room * (1.0 - BREADTH)) - spent, 0))
        full, cut = min(room * FULL_SHARE, FULL_MOST), min(room * CUT_SHARE, CUT_MOST)
        self._add_lines(full=int(max(full, LEAST_CUT)), cut=int(max(cut, LEAST_CUT)))
        if len(self._draft.renditions) == len(self._candidates):
            self._add_lines(full=room, cut=0)

    def top_up(self, slack: int) -> None:
        """Use what an estimate left over: more declarations, then more places."""
        self._left = slack
        self._add_brief(leave=0)
        for rank, candidate in enumerate(self._candidates):
            if rank not in self._draft.renditions and not self._put(rank, location(candidate)):
                break

    def _add_best(self, room: int) -> None:
        """The first candidate with all its lines, or those that tell most; not when it was sent before."""
        for best in self._candidates[:1]:
            if _brief(best, self._terms, self._ledger).sent_before:
                return
            lines = _whole(best, max(int(room * BEST_SHARE), LEAST_CUT))
            for share in BEST_CUT_SHARES if lines is None else ():
                cut = max(int(room * share), LEAST_CUT)
                lines = lines or _telling(best, self._terms, cut, self._ledger)
            if lines is not None:
                self._put(0, lines)

    def _add_brief(self, leave: int) -> None:
        for rank, candidate in enumerate(self._candidates):
            if rank not in self._draft.renditions:
                brief = _brief(candidate, self._terms, self._ledger)
                if not self._put(rank, brief, leave):
                    break

    def _add_lines(self, full: int, cut: int) -> None:
        for rank, known in sorted(self._draft.renditions.items()):
            if self._left < LEAST_CUT:
                break
            if known.form != "full" and not known.sent_before:
                left = self._left + self._costs[rank]
                better = _whole(known.candidate, min(full, left))
                if better is None and known.form != "cut":
                    better = _telling(known.candidate, self._terms, min(cut, left), self._ledger)
                if better is not None:
                    self._put(rank, better)

    def _put(self, rank: int, rendition: Rendition, leave: int = 0) -> bool:
        """Take a candidate in, in this form, unless fewer than `leave` tokens would be left."""
        before, cost = self._costs.get(rank, 0), count(entry(rendition))
        if self._left + before - cost < leave:
            return False
        self._left += before - cost
        self._costs[rank], self._draft.renditions[rank] = cost, rendition
        return True


def _brief(candidate: PackCandidate, terms: Mapping[str, float], ledger: Ledger | None) -> Rendition:
    """A candidate by its declaration; what declares nothing by the line that says most of the query."""
    item = candidate.item
    if ledger is not None and ledger.has(item.path, candidate.digest, _numbers(candidate)):
        return location(candidate, sent_before=True)
    if item.kind in _REST_KINDS:
        weights = line_weights(candidate.lines, terms)
        best = max(range(len(weights)), key=lambda at: (weights[at], -at), default=None)
        said = candidate.lines[best].strip() if best is not None else ""
        label = item.symbol or item.kind
    else:
        said = signature(candidate.lines, item.symbol)
        label = item.symbol.rpartition(".")[0]
        label = "" if label.rpartition(".")[2] in said else label
    said = said if len(said) <= SIGNATURE_WIDEST else f"{said[:SIGNATURE_WIDEST].rstrip()}…"
    text = f"{label} · {said}" if label and said else label or said
    return Rendition(candidate, "signature", text) if text else location(candidate)


def _whole(candidate: PackCandidate, room: int) -> Rendition | None:
    """A candidate with all its lines; None when there is no room for them."""
    text = "\n".join(map(narrow, candidate.lines))
    exact = all(len(narrow(line)) <= WIDEST for line in candidate.lines)
    whole = Rendition(candidate, "full" if exact else "cut", text, _numbers(candidate))
    return whole if len(text) <= room * _LONGEST_TOKEN and count(entry(whole)) <= room else None


def _telling(
    candidate: PackCandidate, terms: Mapping[str, float], room: int, ledger: Ledger | None
) -> Rendition | None:
    """A candidate with the lines that tell most; None when there is no room for them."""
    item = candidate.item
    head = count(f"{candidate.place}\n{candidate.scope}\n\n")
    chosen = telling(candidate.lines, item.symbol, terms, room - head)
    if not chosen:
        return None
    numbers = tuple(item.start_line + at for at in chosen)
    if ledger is not None and ledger.has(item.path, candidate.digest, numbers):
        return location(candidate, sent_before=True)
    return Rendition(candidate, "cut", with_gaps(candidate.lines, chosen), numbers)


def _numbers(candidate: PackCandidate) -> tuple[int, ...]:
    return tuple(range(candidate.item.start_line, candidate.item.start_line + len(candidate.lines)))


def _within(related: Sequence[Related], room: int) -> list[Related]:
    """As many as `room` has tokens for."""
    fitting = []
    for each in related:
        room -= count(related_line(each))
        if room < 0:
            break
        fitting.append(each)
    return fitting


def merge_equal(candidates: Sequence[PackCandidate]) -> list[PackCandidate]:
    """Candidates with the same lines become the best of them, which names the others."""
    distinct: dict[tuple[str, ...], PackCandidate] = {}
    for each in candidates:
        key = tuple(line.strip() for line in each.lines if line.strip())
        first = distinct.get(key)
        if first is None or not key:
            distinct[key or (each.place,)] = each
        else:
            place = f"{each.item.path}:{each.item.start_line}"
            distinct[key] = replace(first, also=(*first.also, place))
    return list(distinct.values())
