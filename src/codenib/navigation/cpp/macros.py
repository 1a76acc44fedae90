"""Texts of C and C++ files in; the words that their macros take from where they are used, and what the
parameters of macros are, out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from codenib.core.text.c_tokens import Token, TokenKind, lex

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:\(([^)\n]*)\))?([^\n]*)", re.MULTILINE)
_DEFINES = re.compile(r"[ \t]*#[ \t]*define\b")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_NAME = re.compile(r"[A-Za-z_]\w*")


class MacroWords:
    """The macros of some files, and what words each takes from where it is used."""

    def __init__(self, root: Path, files: Iterable[str]) -> None:
        self._bodies: dict[str, set[str]] = defaultdict(set)
        for path in files:
            try:
                data = (root / path).read_bytes()
            except OSError:
                continue  # one that cannot be read has none
            for name, words in _bodies(data):
                self._bodies[name] |= words

    def used_in(self, text: str) -> frozenset[str]:
        """The words of the bodies of all macros that a text may expand: names of locals among them are
        used by the macro. Most macros are named in few files."""
        left = [word for word in set(_NAME.findall(text)) if word in self._bodies]
        expanded = set(left)
        found: set[str] = set()
        while left:
            words = self._bodies[left.pop()]
            found |= words
            left += [word for word in words if word in self._bodies and word not in expanded]
            expanded |= words
        return frozenset(found)


def _bodies(text: bytes) -> Iterator[tuple[str, set[str]]]:
    """Each macro of a text with the words of its body that are no parameters."""
    for match in _DEFINE.finditer(text.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")):
        parameters = set(_WORD.findall(match[2] or b""))
        words = {word.decode("ascii") for word in _WORD.findall(match[3]) if word not in parameters}
        yield match[1].decode("ascii"), words


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
