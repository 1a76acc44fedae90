"""A draft of a pack in, its text and its blocks out: which unit is rendered in which form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from codenib.core.answers import Evidence
from codenib.core.context import Block, Form, Related
from codenib.core.text.fence import fence_of
from codenib.serving.context.tokens import count


@dataclass(frozen=True, slots=True)
class PackCandidate:
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
class Rendition:
    """A candidate rendered in one form: its text, and which lines of the file that text has."""

    candidate: PackCandidate
    form: Form
    text: str
    numbers: tuple[int, ...] = ()
    sent_before: bool = False


@dataclass(slots=True)
class Draft:
    """A pack that is being filled; `renditions` are by rank."""

    total: int
    renditions: dict[int, Rendition] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    related: list[Related] = field(default_factory=list)
    framed: bool = True  # with the lines at the head and at the foot

    def briefly(self) -> list[Rendition]:
        """Renditions without lines, by rank."""
        return [each for _, each in sorted(self.renditions.items()) if each.form in ("signature", "location")]

    @property
    def omitted(self) -> int:
        """How many matching units are not here, not even as the same text elsewhere."""
        return self.total - sum(1 + len(each.candidate.also) for each in self.renditions.values())

    def shrink(self) -> bool:
        """Drop what matters least; False when nothing is left."""
        if self.related:
            self.related.pop()
        elif self.folders:
            self.folders.clear()
        elif len(self.renditions) > 1:
            del self.renditions[max(self.renditions)]
        elif self.framed and self.renditions:
            self.framed = False
        elif self.renditions:
            rank, last = next(iter(self.renditions.items()))
            del self.renditions[rank]
            if last.form != "location":
                self.renditions[rank] = location(last.candidate, sent_before=last.sent_before)
        elif self.framed:
            self.framed = False
        else:
            return False
        return True


def location(candidate: PackCandidate, *, sent_before: bool = False) -> Rendition:
    """A candidate by its name alone."""
    name = candidate.item.symbol or candidate.item.kind
    return Rendition(
        candidate,
        "location",
        f"{name}  (lines already sent)" if sent_before else name,
        sent_before=sent_before,
    )


def render(draft: Draft) -> str:
    """The text: units with lines, the others by file, related declarations, and what is left out."""
    with_lines = [block_text(group) for group in merged(draft)]
    brief = _listing(draft.briefly())
    parts = []
    if draft.framed and not draft.total:
        return "nothing matches\n"
    if draft.framed:
        parts.append(f"{len(draft.renditions)} of {draft.total} matching units, best first\n")
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


def merged(draft: Draft) -> list[list[Rendition]]:
    """Units with lines, neighbours that are whole together; groups by their best rank.

    The very best unit begins its block: it is what the text starts with.
    """
    ranked = [(rank, each) for rank, each in draft.renditions.items() if each.form in ("full", "cut")]
    ranked.sort(key=lambda pair: (pair[1].candidate.item.path, pair[1].candidate.item.start_line))
    groups: list[tuple[int, list[Rendition]]] = []
    for rank, each in ranked:
        if groups and rank and _adjoin(groups[-1][1][-1], each):
            best, group = groups[-1]
            groups[-1] = (min(best, rank), [*group, each])
        else:
            groups.append((rank, [each]))
    return [group for _, group in sorted(groups, key=lambda pair: pair[0])]


def _adjoin(above: Rendition, below: Rendition) -> bool:
    first, second = above.candidate.item, below.candidate.item
    whole = above.form == below.form == "full"
    return whole and first.path == second.path and first.end_line + 1 == second.start_line


def block_text(group: Sequence[Rendition]) -> str:
    """The place, and fenced the line that opens the scope and the lines of neighbouring units."""
    first, last = group[0].candidate, group[-1].candidate
    also = [place for each in group for place in each.candidate.also]
    head = f"{first.item.path}:{first.item.start_line}-{last.item.end_line}"
    lines = []
    if first.scope:
        lines.append(first.scope)
    for above, each in zip([None, *group], group, strict=False):
        if above is not None:
            lines += [""] * (each.candidate.item.start_line - above.numbers[-1] - 1)
        lines.append(each.text)
    source = "\n".join(lines)
    fence = fence_of(source)
    elsewhere = f"  also at {', '.join(also)}" if also else ""
    return f"{head}{elsewhere}\n{fence}\n{source}\n{fence}\n"


def _listing(entries: Sequence[Rendition]) -> str:
    """Units by their declarations or names, those of a file below its path."""
    files: dict[str, list[Rendition]] = {}
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


def _span(rendition: Rendition) -> str:
    item, also = rendition.candidate.item, rendition.candidate.also
    elsewhere = f"  also at {', '.join(also)}" if also else ""
    return f"{item.start_line}-{item.end_line} {rendition.text}{elsewhere}"


def entry(rendition: Rendition) -> str:
    """What one unit adds to the text, at most."""
    if rendition.form in ("full", "cut"):
        return f"{block_text([rendition])}\n"
    return f"{rendition.candidate.item.path}:{_span(rendition)}\n"


def related_line(each: Related) -> str:
    return f"{each.of} {each.relation} {each.path}:{each.line} {each.symbol}\n"


def _note(draft: Draft) -> str:
    """What was left out, and how to get it."""
    partly = next((each for _, each in sorted(draft.renditions.items()) if each.form != "full"), None)
    said = f"omitted: {draft.omitted} units" if draft.omitted else ""
    if partly is not None:
        said += f"{'; ' if said else ''}all lines: codenib read {partly.candidate.place}"
    return f"{said}\n" if said else ""


def blocks_of(draft: Draft) -> tuple[Block, ...]:
    """The blocks of a pack, in the order of its text."""
    blocks = [_block(group, block_text(group)) for group in merged(draft)]
    blocks += [_block([each], f"{each.candidate.item.path}:{_span(each)}\n") for each in draft.briefly()]
    return tuple(blocks)


def _block(group: Sequence[Rendition], text: str) -> Block:
    first, last = group[0].candidate.item, group[-1].candidate.item
    symbols = dict.fromkeys(each.candidate.item.symbol for each in group)
    return Block(
        path=first.path,
        start_line=first.start_line,
        end_line=last.end_line,
        symbol=", ".join(filter(None, symbols)),
        kind=first.kind,
        text=text,
        form=group[0].form,
        tokens=count(text),
        also=tuple(place for each in group for place in each.candidate.also),
        sent_before=group[0].sent_before,
    )
