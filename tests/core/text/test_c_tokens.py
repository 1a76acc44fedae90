"""Tokens of C and C++."""

from __future__ import annotations

from codenib.core.text.c_tokens import TokenKind, lex


def words(text: str, kind: TokenKind, *, is_c: bool = False) -> list[str]:
    return [token.text for token in lex(text, is_c=is_c) if token.kind is kind]


def test_names_in_comments_and_strings_are_no_tokens() -> None:
    text = (
        'int a; // b \\\n c\n/* it\'s d */ char* e = "f"; auto g = R"x(h " i)x"; \'j\'; '
        "1'000_km; #error don't\n"
    )
    assert words(text, TokenKind.NAME) == ["a", "e", "g", "error", "don", "t"]
    assert words(text, TokenKind.KEYWORD) == ["auto"]


def test_what_is_included_is_a_header() -> None:
    assert words('  # include "a b.h"\n#include <c/d.h> // e\n', TokenKind.HEADER) == ['"a b.h"', "<c/d.h>"]


def test_keywords_of_cpp_are_names_in_c() -> None:
    assert words("int class = new + this;", TokenKind.NAME, is_c=True) == ["class", "new", "this"]
    assert words("int class = new + this;", TokenKind.NAME) == []


def test_columns_are_utf16_units() -> None:
    [place] = [token for token in lex('"é🙂" name', is_c=False) if token.text == "name"]
    assert (place.column, place.end_column) == (6, 10)


def test_a_type_of_the_language_is_no_name_in_cpp() -> None:
    for is_c, kind in ((False, TokenKind.OTHER), (True, TokenKind.NAME)):
        assert next(lex("wchar_t x;", is_c=is_c)).kind is kind
