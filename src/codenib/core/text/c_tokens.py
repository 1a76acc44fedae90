"""The text of a C or C++ file in; its tokens with their places out. Comments are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache


class TokenKind(Enum):
    NAME = "name"
    KEYWORD = "keyword"  # one where clangd can answer
    HEADER = "header"  # what stands in an include directive, with its quotes or brackets
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Token:
    """One token; lines and columns from 0, columns in UTF-16 units, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    kind: TokenKind


# Keywords where clangd can answer: a deduced type, the overridden method, an overloaded operator.
_ASKABLE = frozenset(["auto", "decltype", "delete", "final", "new", "operator", "override", "this"])
_OF_C = frozenset(
    re.findall(
        r"\w+",
        """asm break case char const continue default defined do double else enum extern float for goto if
        inline int long register return short signed sizeof static struct switch typedef union unsigned
        void volatile while""",
    )
)
_OF_CPP = _OF_C | frozenset(
    re.findall(
        r"\w+",
        """bool catch char16_t char32_t char8_t class co_await co_return co_yield concept const_cast consteval
        constexpr constinit dynamic_cast explicit export false friend mutable namespace nullptr private
        protected public reinterpret_cast requires static_cast template throw true try typeid typename using
        virtual wchar_t""",
    )
)
_LEX = r"""(?P<comment>//(?:\\\r?\n|[^\n])*|/\*(?s:.*?)(?:\*/|\Z))
    |(?P<include>^[ \t]*\#[ \t]*(?:include_next|include|import)[ \t]*)(?P<header><[^>\n]*>|"[^"\n]*")
    |(?P<directive>^[ \t]*\#[ \t]*[a-z_]+)
    |(?P<raw>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\((?s:.*?)\)(?P=fence)")
    |(?P<string>(?:u8|[uUL])?"(?:\\(?s:.)|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\(?s:.)|[^'\\\n])*')
    |(?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9a-zA-Z]|[\w.])*)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign><=>|->\*|<<=|>>=|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|\#\#|[^\s\w])
    """


@cache
def _lexer() -> re.Pattern[str]:
    """Compiled when it is first needed: that takes as long as to import twenty modules."""
    return re.compile(_LEX, re.VERBOSE | re.MULTILINE)


def names_in(text: str) -> Iterator[tuple[int, int]]:
    """Where each name that is no keyword of C begins and ends: all but comments, strings and directives."""
    for match in _lexer().finditer(text):
        if match.lastgroup == "name" and match[0] not in _OF_C:
            yield match.span()


def lex(text: str, *, is_c: bool) -> Iterator[Token]:
    """Every token of `text` but comments and the words of directives; `is_c` when `new` is a plain name."""
    keywords = _OF_C if is_c else _OF_CPP
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    wide = text.isascii() is False and max(text) > "\uffff"
    line = 0
    for match in _lexer().finditer(text):
        group = match.lastgroup
        if group in ("comment", "directive"):
            continue
        begin, end = match.span("header" if group == "header" else 0)
        line = _line_of(starts, line, begin)
        last = _line_of(starts, line, max(begin, end - 1)) if group in ("raw", "string") else line
        column, end_column = begin - starts[line], end - starts[last]
        if wide:
            column = _utf16(text, starts[line], begin)
            end_column = _utf16(text, starts[last], end)
        word = text[begin:end]
        yield Token(
            line=line,
            column=column,
            end_line=last,
            end_column=end_column,
            text=word,
            kind=_kind(group, word, keywords),
        )


def _kind(group: str | None, word: str, keywords: frozenset[str]) -> TokenKind:
    if group == "header":
        return TokenKind.HEADER
    if group != "name" or word in keywords:
        return TokenKind.OTHER
    return TokenKind.KEYWORD if word in _ASKABLE and keywords is _OF_CPP else TokenKind.NAME


def _line_of(starts: list[int], line: int, offset: int) -> int:
    while line + 1 < len(starts) and starts[line + 1] <= offset:
        line += 1
    return line


def _utf16(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode("utf-16-le", "surrogatepass")) // 2
