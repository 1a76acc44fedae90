"""Cut text without a grammar: sections of prose, windows of everything else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from codenib.core.source import Level, UnitRow
from codenib.units.partition import cut, file_row, last_filled, paragraph_starts, split

WINDOW_LINES = 50
SYMBOL_LIMIT = 120

_ATX = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?$")
_ASCIIDOC = re.compile(rb"(={1,6})[ \t]+(.*?)[ \t]*\r?$")
_SETEXT = re.compile(rb" {0,3}(=+|-+)[ \t]*\r?$")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
_RST_RULE = re.compile(rb"([!-/:-@\[-`{-~])\1{2,}[ \t]*\r?$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at lines `line` to `body` - 1; the smaller the depth, the more it holds."""

    line: int
    body: int
    depth: int
    title: str


def sections(lines: Sequence[bytes], language: str) -> list[UnitRow]:
    """Rows of a prose file: one leaf per section, with the path of its headings as symbol."""
    headings = list(_HEADINGS.get(language, _plain_headings)(lines))
    rows = [file_row(lines)]
    for start, end, symbol in _spans(lines, headings):
        pieces = split(lines, start, last_filled(lines, start, end), paragraph_starts)
        pieces[-1] = (pieces[-1][0], end)
        rows += [UnitRow(first, last, Level.L1, "section", symbol) for first, last in pieces]
    return rows


def windows(lines: Sequence[bytes]) -> list[UnitRow]:
    """Rows of any other text: leaves of equal size, at most `WINDOW_LINES`."""
    start = next((number for number, line in enumerate(lines, 1) if line.strip()), 1)
    pieces = cut(start, last_filled(lines, start, len(lines)), WINDOW_LINES)
    pieces[0] = (1, pieces[0][1])
    pieces[-1] = (pieces[-1][0], len(lines))
    rows = [file_row(lines)]
    return rows + [UnitRow(first, last, Level.L1, "window") for first, last in pieces]


def _spans(lines: Sequence[bytes], headings: Sequence[Heading]) -> Iterator[tuple[int, int, str]]:
    """(first line, last line, symbol) of each section; a heading without text joins the section below it."""
    path: list[Heading] = []
    marks: list[tuple[int, str]] = []
    waiting = 0
    for heading, after in zip_longest(headings, headings[1:]):
        path = [*(outer for outer in path if outer.depth < heading.depth), heading]
        begin = waiting or heading.line
        waiting = 0
        if after and after.depth > heading.depth and not _filled(lines, heading.body, after.line - 1):
            waiting = begin
        else:
            marks.append((begin, _symbol(path)))
    if not marks or _filled(lines, 1, marks[0][0] - 1):
        marks.insert(0, (1, ""))
    else:
        marks[0] = (1, marks[0][1])
    for (start, symbol), (after_start, _) in zip(marks, [*marks[1:], (len(lines) + 1, "")], strict=True):
        yield start, after_start - 1, symbol


def _filled(lines: Sequence[bytes], first: int, last: int) -> bool:
    return any(line.strip() for line in lines[first - 1 : last])


def _symbol(path: Sequence[Heading]) -> str:
    """The titles joined, losing outer ones first where they are too long."""
    titles = [heading.title for heading in path if heading.title]
    while len(titles) > 1 and len(" > ".join(titles)) > SYMBOL_LIMIT:
        titles.pop(0)
    return " > ".join(titles)[:SYMBOL_LIMIT]


def _title(text: bytes | None) -> str:
    return " ".join((text or b"").decode("utf-8", "replace").split())


def _markdown_headings(lines: Sequence[bytes]) -> Iterator[Heading]:
    fence = b""
    for number, line in enumerate(lines, 1):
        if match := _FENCE.match(line):
            mark = match.group(1)
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not line[match.end() :].strip():
                fence = b""
        elif fence:
            continue
        elif match := _ATX.match(line):
            yield Heading(number, number + 1, len(match.group(1)), _title(match.group(2)))
        elif number > 1 and (match := _SETEXT.match(line)) and _may_be_title(lines, number - 1):
            depth = 1 if match.group(1).startswith(b"=") else 2
            yield Heading(number - 1, number + 1, depth, _title(lines[number - 2]))


def _may_be_title(lines: Sequence[bytes], number: int) -> bool:
    """Whether line `number` may have an underline: a paragraph of one line, no list, quote or table."""
    line = lines[number - 1].strip()
    if not line or line[:1] in b"#>|-*+`~=<" or lines[number - 1].startswith((b"    ", b"\t")):
        return False
    return number == 1 or not lines[number - 2].strip()


def _rst_headings(lines: Sequence[bytes]) -> Iterator[Heading]:
    """Underlined titles; a style's depth is its order of first use, as docutils has it."""
    styles: list[tuple[bytes, bool]] = []
    for number in range(2, len(lines) + 1):
        rule, title = lines[number - 1], lines[number - 2]
        if not _RST_RULE.match(rule) or not title.strip() or _RST_RULE.match(title):
            continue
        over = number > 2 and bool(_RST_RULE.match(lines[number - 3])) and lines[number - 3][:1] == rule[:1]
        indented = title[:1].isspace() and not over
        if (
            indented
            or len(rule.rstrip()) < len(_title(title))
            or (number > 2 and not over and lines[number - 3].strip())
        ):
            continue
        style = (rule[:1], over)
        if style not in styles:
            styles.append(style)
        yield Heading(number - 1 - over, number + 1, styles.index(style) + 1, _title(title))


def _asciidoc_headings(lines: Sequence[bytes]) -> Iterator[Heading]:
    for number, line in enumerate(lines, 1):
        if match := _ASCIIDOC.match(line):
            yield Heading(number, number + 1, len(match.group(1)), _title(match.group(2)))


def _plain_headings(lines: Sequence[bytes]) -> Iterator[Heading]:
    """Underlined titles where there are several: Django keeps its reStructuredText in .txt files."""
    headings = list(_rst_headings(lines))
    return iter(headings if len(headings) > 1 else ())


_HEADINGS = {"markdown": _markdown_headings, "rst": _rst_headings, "asciidoc": _asciidoc_headings}
