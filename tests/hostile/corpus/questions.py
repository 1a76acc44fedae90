"""A case in, the questions that are put to it out: every kind of answer, as JSON and as a terminal shows it."""

from __future__ import annotations

from typing import Any

from tests.hostile.corpus.case import Case

VIEWS = "lexical,trigram,dense,history,graph"
_WORDS = "moor a vessel at the quay"


#: Families whose text is what is hostile: asked as a terminal shows it too, and in an MCP session.
_TEXTUAL = ("escapes", "injections", "secrets", "names", "links", "git commits", "git output", "size")


def is_textual(case: Case) -> bool:
    """Whether a case is about what is shown."""
    return case.family in _TEXTUAL


def commands_for(case: Case) -> list[list[str]]:
    """Arguments of `codenib`, in order; the first builds every view."""
    path, _ = case.project.declared
    asked = [
        ["index", "--views", VIEWS, "--json"],
        ["status", "--json"],
        ["regex", "moor_vessel", "--json"],
        ["refs", "moor_vessel", "--json"],
        ["def", "moor_vessel", "--json"],
        ["map", "--json"],
        *map(list, case.questions),
    ]
    if case.is_engine:
        used, line, column = case.project.used[0]
        asked += [
            [command, f"{used}:{line}:{column}", "--provider", "live", "--json"]
            for command in ("def", "refs")
        ]
    else:
        asked += [
            ["search", _WORDS, "--json"],
            ["read", path, "--json"],
            ["history", path, "--json"],
            ["explore", _WORDS, "--json"],
            *(["read", name] for name in case.reads),
        ]
    if is_textual(case):
        asked += _shown(case)
    return [["--no-pager", *arguments] for arguments in asked]


def _shown(case: Case) -> list[list[str]]:
    path, _ = case.project.declared
    return [
        ["index"],
        ["status"],
        ["search", _WORDS],
        ["regex", "."],
        ["history", path, "--full"],
        *([command, name] for name in case.reads[:2] for command in ("history", "outline")),
        ["map", "--max-tokens", "3000"],
        ["explore", _WORDS, "--max-tokens", "3000"],
        ["callers", "moor_vessel"],
        ["symbols", "moor"],
        ["trust"],
    ]


def calls_for(case: Case) -> list[tuple[str, dict[str, Any]]]:
    """Calls of tools in an MCP session."""
    path, _ = case.project.declared
    return [
        ("search", {"query": _WORDS}),
        ("search_regex", {"pattern": "moor_vessel"}),
        ("read", {"path": path}),
        ("explore", {"query": _WORDS}),
        ("references", {"name": "moor_vessel"}),
        ("map", {}),
        ("history", {"path": path}),
        *(("read", {"path": name}) for name in case.reads),
    ]
