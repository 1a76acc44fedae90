"""PairTokens are counted as tiktoken counts cl100k_base."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codenib.serving.context.tokens import TOKENIZER, count

# Counted with tiktoken 0.14.
COUNTED = [
    ("", 0),
    ("hello world", 2),
    ("def total_price(self):\n    return sum(self.prices)\n", 12),
    ("    \n\n\tx\r\n  ", 4),
    ("HTTPServer.getInetAddress_v6 = 0xDEADBEEF12345678", 16),
    ("na\xefve caf\xe9 \u2014 \u6f22\u5b57\u304b\u306a \U0001f389\U0001f3f3\ufe0f\u200d\U0001f308", 23),
    ("don't can'T we'LL", 7),
    ("<|endoftext|>", 7),
    ("aB3x" * 50 + "q" * 200, 251),
    ("\u2028\x0b\x85\xa0 end  ", 8),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_counts_are_those_of_tiktoken(text: str, tokens: int) -> None:
    assert (TOKENIZER, count(text)) == ("cl100k_base", tokens)


def test_a_long_word_is_counted_in_no_more_than_a_moment() -> None:
    started = time.process_time()
    assert count("aB3xQ" * 20_000) > 20_000
    assert time.process_time() - started < 5


# Whether a character is a letter is known of those that both versions of Unicode have.
known = st.text(st.characters(codec="utf-8", exclude_categories=["Cn"]))
word = st.sampled_from(["\n", "  ", "\t", "'s", "foo_bar", "123456", "{\n", "/"])


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(known, word)))
def test_counts_are_those_of_another_implementation(parts: list[str]) -> None:
    other = _other()
    text = "".join(parts)
    assert count(text) == other.count(text)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r")), max_size=8))
def test_lines_that_are_not_blank_count_apart(lines: list[str]) -> None:
    filled = [f"x{line}\n" for line in lines]
    assert count("".join(filled)) == sum(count(line) for line in filled)


def _other() -> Any:
    """The tokenizer of rs-bpe, where it is installed."""
    return pytest.importorskip("rs_bpe.bpe").openai.cl100k_base()
