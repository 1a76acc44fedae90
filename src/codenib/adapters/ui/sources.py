"""Answers in, what the page draws of their source out: lines as coloured runs, from the same snapshot."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codenib.adapters.envelopes.answers import FolderReply, ReadReply, SearchReply, search_reply
from codenib.adapters.ui.highlight import HighlightedFiles, Line, highlight
from codenib.adapters.ui.questions import PageQuestion, PlaceParameters, SearchParameters, read
from codenib.core.answers import Evidence
from codenib.serving.context.excerpt import matching_lines
from codenib.serving.workspace import Workspace

_LINES = 8  # of a result
_UNIT_LINES = 400  # of a result that are coloured; what follows is rarely among the lines that are drawn
_WIDEST = 240  # characters of a result's line


class Excerpt(msgspec.Struct, frozen=True):
    """The lines of a result that say most of the question: their numbers, their runs; `more` are left out."""

    numbers: list[int]
    lines: list[Line]
    more: int


class SearchPage(msgspec.Struct, frozen=True):
    """What `search` answers, and the source of each item."""

    reply: SearchReply
    excerpts: list[Excerpt]


class FilePage(msgspec.Struct, frozen=True):
    """What `read` answers, and the file's lines as runs; a folder has none."""

    reply: ReadReply | FolderReply
    lines: list[Line]


_FILES = HighlightedFiles()


def search_page(workspace: Workspace, given: SearchParameters) -> SearchPage:
    """Results with their source, from the snapshot that answered."""
    answer = workspace.searcher.search(given.request)
    return SearchPage(search_reply(answer), [excerpt(item) for item in answer.items])


def excerpt(item: Evidence) -> Excerpt:
    """The lines of a result that say most of the question."""
    lines = item.text.rstrip().split("\n")
    chosen = matching_lines(lines, item.matched, _LINES)
    coloured = highlight("\n".join(lines[:_UNIT_LINES]), item.language)
    numbers = [item.start_line + at for at in chosen]
    return Excerpt(numbers, [_cut(coloured, lines, at) for at in chosen], len(lines) - len(chosen))


def _cut(coloured: Sequence[Line], lines: Sequence[str], at: int) -> Line:
    """A line of at most `_WIDEST` characters."""
    if at >= len(coloured):
        return [("", lines[at][:_WIDEST])]
    room, runs = _WIDEST, []
    for name, text in coloured[at]:
        if room <= 0:
            runs.append(("", "…"))
            break
        runs.append((name, text[:room]))
        room -= len(text)
    return runs


def file_page(workspace: Workspace, given: PlaceParameters) -> FilePage:
    """A file with its lines coloured; a folder with what it holds."""
    reply = read(workspace, given)
    if not isinstance(reply, ReadReply):
        return FilePage(reply, [])
    (passage,) = reply.items
    return FilePage(reply, _FILES.lines(passage.text, passage.language))


#: What the page asks for beside the questions of the commands.
DRAWINGS: dict[str, PageQuestion] = {
    "page-search": PageQuestion(SearchParameters, search_page),
    "page-file": PageQuestion(PlaceParameters, file_page, early=True),
}
