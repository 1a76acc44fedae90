"""Errors and remarks for a terminal in, the same for a client that has tools and no shell out."""

from __future__ import annotations

import logging
import re

from codenib.core.errors import CodenibError

#: Command lines that a hint names, and the tool's words for the same question; the first that fits.
_TOOLS = tuple(
    (re.compile(command), words)
    for command, words in (
        (r"codenib def ([^\s:]+):(\d+)(?::\d+)?", r"path=\1 line=\2 with the name"),
        (r"codenib def (.+)", r"definition name=\1"),
        (r"codenib (?:read|units) (.+)", r"read \1"),
        (r"codenib symbols (.+)", r"search \1"),
        (r"codenib history (.+)", r"history \1"),
        (r"codenib (explore|map) .*--max-tokens (\d+)", r"\1 max_tokens=\2"),
        (r"codenib search '(.+)'", r"search \1"),
        (r"codenib map", "search a part of the name"),
        (r"--paths '(.+)'", r'paths=["\1"]'),
        (r"codenib index --views graph.*", "references, or search: they need no graph"),
        (r"codenib index --views zoekt", "grep"),
        (r"codenib regex --multiline, or (.+)", r"grep multiline=true, or \1"),
        (r"codenib regex --literal, or (.+)", r"grep, and \1"),
        (r"codenib impact (\w.*)", r"impact name=\1"),
        (r"git diff \| codenib impact --diff -", "impact diff=the output of git diff"),
        (r"codenib outline (.+)", r"outline \1"),
        (r"codenib refs (.+)", r"references at \1"),
        (r"codenib index --views dense.*", "search: by words it works without"),
        (r"codenib tools.*", "search, or definition and references by name alone"),
    )
)
_SHELL = re.compile(r"\b(?:codenib|pip|git|export|rm|sysctl|npm)\s|(?:^|\s)--\w")
_NAMED_COMMAND = re.compile(
    r" ?\(codenib [^)]*\)|[;,]? ?(?:try: )?codenib (?:index|update|tools|doctor|trust)\b[^;]*"
)
_log = logging.getLogger("codenib")


def error_for_tools(error: CodenibError) -> tuple[str, str]:
    """Message and hint, which names a tool; what only a person can run goes to the server's log."""
    hint = hint_for_tools(error.hint)
    if hint != error.hint:
        _log.info("%s; for a person: %s", error.message, error.hint)
    return note_for_tools(error.message), hint


def hint_for_tools(hint: str) -> str:
    """
    >>> hint_for_tools("codenib read src/app.py:7"), hint_for_tools("codenib index --rebuild")
    ('read src/app.py:7', 'status, which says what is ready')
    >>> hint_for_tools("narrow the question")
    'narrow the question'
    """
    for command, words in _TOOLS:
        if match := command.fullmatch(hint):
            return match.expand(words)
    return "status, which says what is ready" if _SHELL.search(hint) else hint


def note_for_tools(note: str) -> str:
    """
    >>> note_for_tools("by words alone: vectors are being built; codenib index waits for that")
    'by words alone: vectors are being built'
    >>> note_for_tools("no fresh graph (codenib index --views graph); by name")
    'no fresh graph; by name'
    """
    return _NAMED_COMMAND.sub("", note).replace("codenib def ", "definition ")
