"""Texts of C and C++ files in; the words that their macros take from where they are used, and what the
parameters of macros are, out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from codenib.navigation.cpp.tokens import Token, TokenKind, lex

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+\w+(?:\(([^)\n]*)\))?([^\n]*)", re.MULTILINE)
_DEFINES = re.compile(r"[ \t]*#[ \t]*define\b")
_WORD = re.compile(rb"[A-Za-z_]\w*")


def free_words(text: bytes) -> set[str]:
    """The words of macro bodies that are no parameters: names of locals among them are used by the macro.

    >>> sorted(free_words(b"#define ADD(x) (total += (x))"))
    ['total']
    """
    found: set[str] = set()
    for match in _DEFINE.finditer(text.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")):
        parameters = set(_WORD.findall(match[1] or b""))
        found |= {word.decode("ascii") for word in _WORD.findall(match[2]) if word not in parameters}
    return found


def free_words_of(root: Path, files: Iterable[str]) -> frozenset[str]:
    """Those of all these files; one that cannot be read has none."""
    found: set[str] = set()
    for path in files:
        try:
            found |= free_words((root / path).read_bytes())
        except OSError:
            continue
    return frozenset(found)


def directive_lines(text: str) -> dict[int, int]:
    """The lines of the preprocessor's directives, each with the first line of its directive.

    >>> directive_lines("int x;\\n#define A \\\\\\n  1\\n#undef A")
    {1: 1, 2: 1, 3: 3}
    """
    found: dict[int, int] = {}
    goes_on = False
    for at, line in enumerate(text.split("\n")):
        if goes_on or line.lstrip().startswith("#"):
            found[at] = found[at - 1] if goes_on else at
            goes_on = line.rstrip("\r").endswith("\\")
        else:
            goes_on = False
    return found


def macro_parameters(text: str, *, is_c: bool) -> dict[tuple[int, int], Token]:
    """Every place in a macro where one of its parameters stands, with the parameter in its list.

    The compiler replaces parameters in the tokens of a body, whatever their names mean elsewhere.
    """
    lines = text.split("\n")
    defining = {line: first for line, first in directive_lines(text).items() if _DEFINES.match(lines[first])}
    if not defining:
        return {}
    macros: dict[int, list[Token]] = defaultdict(list)
    for token in lex(text, is_c=is_c):
        if token.line in defining:
            macros[defining[token.line]].append(token)
    found = {}
    for tokens in macros.values():
        if len(tokens) < 3 or tokens[1].text != "(" or tokens[1].column != tokens[0].end_column:
            continue  # the parenthesis of parameters stands right after the name
        end = next((at for at, token in enumerate(tokens) if token.text == ")"), len(tokens))
        names = {token.text: token for token in tokens[2:end] if token.kind is TokenKind.NAME}
        found.update(
            {(each.line, each.column): names[each.text] for each in tokens[2:] if each.text in names}
        )
    return found
