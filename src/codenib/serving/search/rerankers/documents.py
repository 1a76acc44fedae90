"""Candidates and the text of their files in, the documents that a reranker reads out. Pure.

A document is `path:symbol`, for a member of a class the class's own line, then the source: what the dense
view embeds, so that a reranker and an embedder trained on the same pairs see the same text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codenib.core.answers import Evidence
from codenib.core.source import Level, SourceUnit, Span
from codenib.serving.context.excerpt import enclosing

# 8,192 tokens, the paper's cap, at the three characters that a token of code comes to. A reranker cuts to its
# own cap after this.
DOCUMENT_CHARACTERS = 24_576


def document_of(unit: SourceUnit, owner: str = "", *, characters: int = DOCUMENT_CHARACTERS) -> str:
    """The document of a unit; `owner` is the line of the class around it.

    Cut behind the last whole line that fits, or within the first line when not even that does.

    >>> span = Span("a.py", 2, 3)
    >>> unit = SourceUnit(span, Level.L2, "function", "python", "Cart.total", "def total(self):")
    >>> document_of(unit, "class Cart:")
    'a.py:Cart.total\\nclass Cart:\\ndef total(self):'
    """
    path = unit.span.path
    head = [f"{path}:{unit.symbol}" if unit.symbol else path]
    if owner.strip():
        head.append(owner.strip())
    text = "\n".join([*head, unit.text.rstrip()])
    if len(text) <= characters:
        return text
    end = text.rfind("\n", 0, characters + 1)
    return text[: end if end > 0 else characters]


def documents_of(
    evidence: Sequence[Evidence],
    texts: Mapping[str, str],
    *,
    characters: int = DOCUMENT_CHARACTERS,
) -> list[str]:
    """The document of each result, cut out of the text of its file."""
    lines = {path: text.split("\n") for path, text in texts.items()}
    return [_document(item, lines[item.path], characters) for item in evidence]


def _document(item: Evidence, lines: Sequence[str], characters: int) -> str:
    span = Span(item.path, item.start_line, item.end_line)
    text = "\n".join(lines[item.start_line - 1 : item.end_line])
    unit = SourceUnit(
        span=span,
        level=Level[item.level],
        kind=item.kind,
        language=item.language,
        symbol=item.symbol,
        text=text,
    )
    return document_of(unit, enclosing(lines, item.start_line, item.symbol), characters=characters)
