"""Blob bytes and a language hint in, source units out. Pure: nothing else decides the result."""

from __future__ import annotations

from codenib.core.source import BlobUnits, Level, UnitRow
from codenib.units.components import COMPONENTS, component_rows
from codenib.units.languages import PROSE, grammar_for, language_of
from codenib.units.notebooks import NOTEBOOK, notebook_rows, sources_only
from codenib.units.outline import outline
from codenib.units.partition import partition
from codenib.units.prose import sections, windows
from codenib.units.scan import scan

MAX_BYTES = 10 * 1024 * 1024  # the paper's limits on a file and on a line
MAX_LINE = 10_000
# Hand-written code averages 25 to 50 characters a line. In Django and immutable-js this catches one file that
# the limit on lines does not: a style sheet squeezed by hand.
MINIFIED_AVERAGE = 300
MINIFIED_BYTES = 5_000
# A file of bare numbers, to be included in an array: parsing it is quadratic (11 s for 200 kB of zstd).
NUMBERS_BYTES = 4_000
NUMBERS_SHARE = 0.95
_OF_NUMBERS = b"0123456789abcdefABCDEFxXuUlL+-.,; \t\r\n"
_MINIFIABLE = {"javascript", "typescript", "tsx", "css"}


def source_text(data: bytes, hint: str) -> bytes:
    """What of a blob in UTF-8 is text, at its own lines: all of it, but of a notebook its cells alone."""
    return sources_only(data) if hint == NOTEBOOK and len(data) <= MAX_BYTES else data


def extract(data: bytes, hint: str) -> BlobUnits:
    """The units of a blob, in UTF-8. `hint` is what `language_hint` says of its path.

    Leaf rows of a blob that is neither empty nor skipped cover each of its lines exactly once.
    """
    language = language_of(data, hint)
    text = source_text(data, hint)
    total = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    lines = text.split(b"\n")[:total]
    if reason := _skip(text, lines, language):
        return BlobUnits(language, total, skip=reason)
    return BlobUnits(language, total, tuple(_rows(data, lines, language)))


def _skip(data: bytes, lines: list[bytes], language: str) -> str:
    if len(data) > MAX_BYTES:
        return "huge"
    if b"\0" in data:
        return "binary"
    longest = max(lines, key=len, default=b"")
    if len(longest) > MAX_LINE and any(_characters(line) > MAX_LINE for line in lines):
        return "long line"
    if language in _MINIFIABLE and len(data) > max(MINIFIED_BYTES, MINIFIED_AVERAGE * len(lines)):
        return "minified"
    return ""


def _characters(line: bytes) -> int:
    return len(line) if len(line) <= MAX_LINE else len(line.decode("utf-8", "replace"))


def _rows(data: bytes, lines: list[bytes], language: str) -> list[UnitRow]:
    if not data:
        return []
    if data.isspace():
        return [UnitRow(1, len(lines), Level.L0, "file")]
    if language in COMPONENTS:
        return component_rows(data, lines)
    if language == NOTEBOOK and len(rows := notebook_rows(data, lines)) > 2:
        return rows
    if (grammar := grammar_for(data, language)) and not _is_numbers(data):
        return partition(lines, outline(scan(data, grammar), lines, grammar))
    return sections(lines, language) if language in PROSE else windows(lines)


def _is_numbers(data: bytes) -> bool:
    if len(data) < NUMBERS_BYTES or b"{" in data:
        return False
    return len(data.translate(None, _OF_NUMBERS)) < (1 - NUMBERS_SHARE) * len(data)
