"""A pack in the making in, its text and its blocks out: which unit is shown in which form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from codenib.core.answers import Evidence
from codenib.core.context import Block, Form, Related
from codenib.serving.context.tokens import count


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked unit with its lines, without blank ones at the end, and the line that opens its scope."""

    item: Evidence
    lines: tuple[str, ...]
    scope: str
    digest: str
    also: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return f"{self.item.path}:{self.item.start_line}-{self.item.end_line}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate in a form: its text, and which lines of the file that text has."""

    candidate: Candidate
    form: Form
    text: str
    numbers: tuple[int, ...] = ()
    seen: bool = False


@dataclass(slots=True)
class Draft:
    """A pack in the making; `shown` is by rank."""

    total: int
    shown: dict[int, Shown] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    related: list[Related] = field(default_factory=list)
    framed: bool = True  # with the lines at the head and at the foot

    def briefly(self) -> list[Shown]:
        """What is shown without its lines, by rank."""
        return [each for _, each in sorted(self.shown.items()) if each.form in ("signature", "location")]

    @property
    def omitted(self) -> int:
        """How many matching units are not here, not even as the same text elsewhere."""
        return self.total - sum(1 + len(each.candidate.also) for each in self.shown.values())

    def shrink(self) -> bool:
        """Drop what matters least; False when nothing is left."""
        if self.related:
            self.related.pop()
        elif self.folders:
            self.folders.clear()
        elif len(self.shown) > 1:
            del self.shown[max(self.shown)]
        elif self.framed and self.shown:
            self.framed = False
        elif self.shown:
            rank, last = next(iter(self.shown.items()))
            del self.shown[rank]
            if last.form != "location":
                self.shown[rank] = location(last.candidate, seen=last.seen)
        elif self.framed:
            self.framed = False
        else:
            return False
        return True


def location(candidate: Candidate, *, seen: bool = False) -> Shown:
    """A candidate by its name alone."""
    name = candidate.item.symbol or candidate.item.kind
    return Shown(candidate, "location", f"{name}  (shown before)" if seen else name, seen=seen)


def render(draft: Draft) -> str:
    """The text: units with lines, the others by file, related declarations, and what is left out."""
    with_lines = [block_text(group) for group in merged(draft)]
    brief = _listing(draft.briefly())
    parts = []
    if draft.framed and not draft.total:
        return "nothing matches\n"
    if draft.framed:
        parts.append(f"{len(draft.shown)} of {draft.total} matching units, best first\n")
    parts += with_lines
    if brief:
        parts.append(brief)
    if draft.related:
        parts.append("".join(map(related_line, draft.related)))
    if draft.folders:
        parts.append("".join(f"{line}\n" for line in ("where:", *draft.folders)))
    if draft.framed and (note := _note(draft)):
        parts.append(note)
    return "\n".join(parts)


def merged(draft: Draft) -> list[list[Shown]]:
    """Units with lines, neighbours that are shown whole together; groups by their best rank."""
    ranked = [(rank, each) for rank, each in draft.shown.items() if each.form in ("full", "cut")]
    ranked.sort(key=lambda pair: (pair[1].candidate.item.path, pair[1].candidate.item.start_line))
    groups: list[tuple[int, list[Shown]]] = []
    for rank, each in ranked:
        if groups and _adjoin(groups[-1][1][-1], each):
            best, group = groups[-1]
            groups[-1] = (min(best, rank), [*group, each])
        else:
            groups.append((rank, [each]))
    return [group for _, group in sorted(groups, key=lambda pair: pair[0])]


def _adjoin(above: Shown, below: Shown) -> bool:
    first, second = above.candidate.item, below.candidate.item
    whole = above.form == below.form == "full"
    return whole and first.path == second.path and first.end_line + 1 == second.start_line


def block_text(group: Sequence[Shown]) -> str:
    """The place, the line that opens the scope, and the lines of neighbouring units."""
    first, last = group[0].candidate, group[-1].candidate
    also = [place for each in group for place in each.candidate.also]
    head = f"{first.item.path}:{first.item.start_line}-{last.item.end_line}"
    lines = [f"{head}  also at {', '.join(also)}" if also else head]
    if first.scope:
        lines.append(first.scope)
    for above, each in zip([None, *group], group, strict=False):
        if above is not None:
            lines += [""] * (each.candidate.item.start_line - above.numbers[-1] - 1)
        lines.append(each.text)
    return "".join(f"{line}\n" for line in lines)


def _listing(entries: Sequence[Shown]) -> str:
    """Units by their declarations or names, those of a file below its path."""
    files: dict[str, list[Shown]] = {}
    for each in entries:
        files.setdefault(each.candidate.item.path, []).append(each)
    lines = []
    for path, group in files.items():
        if len(group) == 1:
            lines.append(f"{path}:{_span(group[0])}")
        else:
            ordered = sorted(group, key=lambda each: each.candidate.item.start_line)
            lines += [path, *(f"  {_span(each)}" for each in ordered)]
    return "".join(f"{line}\n" for line in lines)


def _span(shown: Shown) -> str:
    item = shown.candidate.item
    also = f"  also at {', '.join(shown.candidate.also)}" if shown.candidate.also else ""
    return f"{item.start_line}-{item.end_line} {shown.text}{also}"


def entry(shown: Shown) -> str:
    """What one unit adds to the text, at most."""
    if shown.form in ("full", "cut"):
        return f"{block_text([shown])}\n"
    return f"{shown.candidate.item.path}:{_span(shown)}\n"


def related_line(each: Related) -> str:
    return f"{each.of} {each.relation} {each.path}:{each.line} {each.symbol}\n"


def _note(draft: Draft) -> str:
    """What was left out, and how to get it."""
    partly = next((each for _, each in sorted(draft.shown.items()) if each.form != "full"), None)
    said = f"omitted: {draft.omitted} units" if draft.omitted else ""
    if partly is not None:
        said += f"{'; ' if said else ''}all lines: codenib read {partly.candidate.place}"
    return f"{said}\n" if said else ""


def blocks_of(draft: Draft) -> tuple[Block, ...]:
    """The blocks of a pack, in the order of its text."""
    found = [_block(group, block_text(group)) for group in merged(draft)]
    found += [_block([each], f"{each.candidate.item.path}:{_span(each)}\n") for each in draft.briefly()]
    return tuple(found)


def _block(group: Sequence[Shown], text: str) -> Block:
    first, last = group[0].candidate.item, group[-1].candidate.item
    symbols = dict.fromkeys(each.candidate.item.symbol for each in group)
    also = tuple(place for each in group for place in each.candidate.also)
    return Block(
        first.path, first.start_line, last.end_line, ", ".join(filter(None, symbols)), first.kind, text,
        group[0].form, count(text), also, group[0].seen,
    )  # fmt: skip
