"""A pattern's tree in, a plainer pattern out that matches in every line where the first one does.

What a tree does not know (classes, lookarounds, backreferences) and what repeats becomes a gap. Adjacent gaps
are one gap, so that a harmless pattern like `(\\w+\\s+)*x` does not turn into one that backtracks forever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codenib.views.trigram.derive import FOLDED
from codenib.views.trigram.literals import REPLACED
from codenib.views.trigram.syntax import AnyChar, Chars, Either, Node, Repeat, Seq

_GAP = ""  # no source of a part is empty
_ANYTHING = r"[^\n]*"
_VARIANTS = {char: char.lower() + char.upper() for char in map(chr, range(128))}
for _char, _letter in FOLDED.items():
    for _case in (_letter, _letter.upper()):
        _VARIANTS[_case] += _char

#: Writes a character so that it stands for itself, inside brackets and outside.
Escape = Callable[[str], str]


def widen(root: Node, escape: Escape) -> str:
    """The wider pattern; empty when nothing is left of it, which matches everywhere."""
    parts = _collapse(_parts(root, escape))
    if parts and parts[0] == _GAP:
        parts = parts[1:]
    if parts and parts[-1] == _GAP:
        parts = parts[:-1]
    return _join(parts)


def _parts(node: Node, escape: Escape) -> list[str]:
    if isinstance(node, Chars):
        return [_one_of(node, escape)]
    if isinstance(node, AnyChar):
        return [_GAP]
    if isinstance(node, Seq):
        return [source for part in node.parts for source in _parts(part, escape)]
    if isinstance(node, Either):
        return [_alternatives(node.parts, escape)]
    return _repeated(node, escape)


def _one_of(node: Chars, escape: Escape) -> str:
    members = ""
    for char in node.members:
        if char == REPLACED or "\ud800" <= char <= "\udfff":
            return _GAP
        if node.folded and char not in _VARIANTS and char not in FOLDED:
            return _GAP
        members += _VARIANTS[FOLDED.get(char, char)] if node.folded else char
    sources = [escape(char) for char in dict.fromkeys(members)]
    return sources[0] if len(sources) == 1 else f"[{''.join(sources)}]"


def _alternatives(nodes: Sequence[Node], escape: Escape) -> str:
    branches = [_collapse(_parts(node, escape)) for node in nodes]
    if any(not branch or branch == [_GAP] for branch in branches):
        return _GAP
    return f"(?:{'|'.join(map(_join, branches))})"


def _repeated(node: Repeat, escape: Escape) -> list[str]:
    if node.most == 0:
        return []
    if node.least == 0:
        return [_GAP]
    parts = _parts(node.part, escape)
    return parts if node.most == 1 else [*parts, _GAP]


def _collapse(parts: list[str]) -> list[str]:
    return [part for at, part in enumerate(parts) if part != _GAP or at == 0 or parts[at - 1] != _GAP]


def _join(parts: list[str]) -> str:
    return "".join(part or _ANYTHING for part in parts)
