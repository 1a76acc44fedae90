"""A Vue or Svelte file in, rows of its parts out: what the script declares, then template and style.

The script is parsed where it stands: all else becomes blanks, so that every line stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codenib.core.source import UnitRow
from codenib.units.languages import BY_NAME
from codenib.units.outline import Definition, outline
from codenib.units.partition import partition
from codenib.units.scan import scan

COMPONENTS = ("vue", "svelte")
_TAG = re.compile(rb"<(/?)(script|template|style)\b((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>", re.I)
_LANG = re.compile(rb"\blang\s*=\s*[\"']?(\w+)", re.I)
_SCRIPTS = {b"ts": "typescript", b"typescript": "typescript", b"tsx": "tsx"}
_CODE = re.compile(rb"[^\r\n]")


@dataclass(frozen=True, slots=True)
class _Part:
    """An outermost element: its name, its attributes, and the bytes between its tags."""

    name: str
    attributes: bytes
    start: int
    end: int
    first: int  # lines of the whole element
    last: int


def component_rows(data: bytes, lines: Sequence[bytes]) -> list[UnitRow]:
    """Rows of a component; functions of its script are units as in a file of their own."""
    parts = list(_parts(data))
    scripts = [part for part in parts if part.name == "script"]
    languages = [
        _SCRIPTS.get(match[1].lower()) for part in scripts if (match := _LANG.search(part.attributes))
    ]
    grammar = BY_NAME[next(filter(None, languages), "javascript")]
    outlined = outline(scan(_only(data, scripts), grammar), lines, grammar)
    elements = [Definition(part.first, part.last, part.name, part.name) for part in parts]
    outlined.containers[:0] = elements
    return partition(lines, outlined)


def _only(data: bytes, parts: Sequence[_Part]) -> bytes:
    """`data` with blanks for all that stands in none of the parts."""
    kept = []
    at = 0
    for part in parts:
        kept += [_CODE.sub(b" ", data[at : part.start]), data[part.start : part.end]]
        at = part.end
    return b"".join([*kept, _CODE.sub(b" ", data[at:])])


def _parts(data: bytes) -> Iterator[_Part]:
    """The outermost elements; templates nest, and tags in a script are text."""
    opened: re.Match[bytes] | None = None
    depth = 0
    for tag in _TAG.finditer(data):
        closing, name = bool(tag[1]), tag[2].lower()
        if opened is None:
            if not closing and not tag[3].endswith(b"/"):
                opened, depth = tag, 1
            continue
        if name != opened[2].lower() or tag[3].endswith(b"/"):
            continue
        if closing:
            depth -= 1
        elif name == b"template":
            depth += 1
        if not depth:
            lines = (data.count(b"\n", 0, at) + 1 for at in (opened.start(), tag.end()))
            yield _Part(name.decode(), opened[3], opened.end(), tag.start(), *lines)
            opened = None
