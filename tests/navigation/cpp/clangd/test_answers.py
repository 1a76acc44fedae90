"""What clangd is asked, and which of its answers are facts."""

from __future__ import annotations

from collections.abc import Sequence

from codenib.core.text.c_tokens import Token, TokenKind
from codenib.navigation.cpp.clangd.answers import Definitions, TokenAnswer, nearby_definitions
from codenib.navigation.cpp.clangd.shards import ClangdPlace


def asked(line: int, text: str, home: int | None = None) -> TokenAnswer:
    """A name on a line; `home` is the line of what it means, without it it means nothing."""
    token = Token(line=line, column=0, end_line=line, end_column=len(text), text=text, kind=TokenKind.NAME)
    found: Definitions = () if home is None else ((ClangdPlace("/a.c", home, 0), len(text)),)
    symbols: Sequence[str] = () if home is None else ("1",)
    return TokenAnswer(
        token=token, follower="", is_base=False, style="", definitions=found, symbols=tuple(symbols)
    )


def nearest_line(tokens: list[TokenAnswer], at: int, text: str = "") -> int | None:
    found = nearby_definitions(tokens, text).get(at)
    return found[0][0].line if found else None


def test_a_name_without_a_meaning_takes_the_nearest_where_lines_above_count_twice() -> None:
    tokens = [asked(10, "name", 1), asked(14, "name"), asked(20, "name", 2)]
    assert nearest_line(tokens, 1) == 2
    tokens = [asked(10, "name", 1), asked(12, "name"), asked(20, "name", 2)]
    assert nearest_line(tokens, 1) == 1


def test_a_short_word_means_nothing_far_away() -> None:
    assert nearest_line([asked(0, "x"), asked(3, "x", 1)], 0) is None
    assert nearest_line([asked(0, "x"), asked(2, "x", 1)], 0) == 1
    assert nearest_line([asked(0, "much"), asked(3, "much", 1)], 0) == 1


def test_directives_and_other_words_say_nothing() -> None:
    text = "#define name 1\nname\n"
    assert nearby_definitions([asked(0, "name", 7), asked(1, "name"), asked(1, "other", 3)], text) == {}
