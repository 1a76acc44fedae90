"""What a pattern needs of a text, told as readable formulas."""

from __future__ import annotations

import pytest

from codenib.views.trigram.literals import Need, need_of
from codenib.views.trigram.syntax import bound_to_lines, parse, text_node


def formula(need: Need) -> str:
    grams = sorted(gram.to_bytes(3, "big").decode("latin-1") for gram in need.grams)
    groups = ["(" + "|".join(sorted(map(formula, group))) + ")" for group in need.either]
    return " ".join(grams + groups)


def needed(pattern: str, *, ignore_case: bool = False) -> str:
    syntax = parse(pattern, ignore_case=ignore_case)
    return "no tree" if syntax is None else formula(need_of(syntax.root))


@pytest.mark.parametrize(
    ("pattern", "formula"),
    [
        ("abcd", "abc bcd"),
        ("ABcd", "abc bcd"),
        ("ab", ""),
        (r"abc\.def", ".de abc bc. c.d def"),
        ("^abc$", "abc"),
        (r"\babc\b", "abc"),
        ("abc.def", "abc def"),
        ("abc.*def", "abc def"),
        ("abc|def", "(abc|def)"),
        ("abcx|abcy", "abc (bcx|bcy)"),
        ("abc|d", ""),
        ("a(bc|de)f", "(abc bcf|ade def)"),
        ("ab[cd]", "(abc|abd)"),
        ("ab[a-h]", "(aba|abb|abc|abd|abe|abf|abg|abh)"),
        ("ab[a-z]cde", "cde"),
        ("ab[^c]def", "def"),
        ("abc?", ""),
        ("abcd?", "abc"),
        ("abc+", "abc"),
        ("(abc)*", ""),
        ("(abc)+", "abc"),
        ("(abc){2}", "abc bca cab"),
        ("a{3}", "aaa"),
        ("x(ab){2,}y", "aba aby bab xab"),
        ("(?=abc)xyz", "xyz"),
        ("(?<!abc)xyz", "xyz"),
        (r"(abc)\1", "abc"),
        ("(?>abc)def", "abc bcd cde def"),
        ("a++bcd", "abc bcd"),
        ("é12", "Ã©1 ©12"),
        ("", ""),
    ],
)
def test_needs_of_patterns(pattern: str, formula: str) -> None:
    assert sorted(needed(pattern).split()) == sorted(formula.split())


def test_case_is_folded_in_any_way_it_is_asked_for() -> None:
    assert needed("ABC", ignore_case=True) == needed("(?i)aBc") == needed("(?i:AbC)") == "abc"
    assert needed("\u212aab", ignore_case=True) == needed("kab")
    assert needed("\u212aab") == needed("kab")


def test_a_character_with_other_forms_breaks_a_literal() -> None:
    assert needed("abcéxyz", ignore_case=True) == "abc xyz"
    assert needed("abc(?i:é)xyz") == "abc xyz"
    assert needed("abc\ufffdxyz") == "abc xyz"
    assert formula(need_of(text_node("abc\udc80xyz", ignore_case=False))) == "abc xyz"


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:abc){e<=1}",
        "abc{i}",
        "[[:alpha:]]bc",
        "[[a]bcd",
        "[a||b]cde",
        "(?x) abc",
        r"\p{Lu}abc",
        "a(?i)bcd",
    ],
)
def test_what_the_dialects_read_differently_has_no_tree(pattern: str) -> None:
    assert needed(pattern) == "no tree"


def test_braces_of_code_are_text() -> None:
    assert needed("foo {bar}") == formula(need_of(text_node("foo {bar}", ignore_case=False)))


def test_many_alternatives_stay_flat() -> None:
    words = [f"word_{number:03x}" for number in range(3000)]
    syntax = parse("|".join(words), ignore_case=False)
    assert syntax is not None
    assert len(need_of(syntax.root).either[0]) == len(words)


@pytest.mark.parametrize(
    ("pattern", "bound"),
    [
        (r"a\s+b", r"a[^\S\n]+b"),
        (r"[^x]*", r"[^\nx]*"),
        (r"[^]x]", r"[^\n\]x]"),
        (r"\\s", r"\\s"),
        (r"[\W]\W[ab]", r"[^\w\n][^\w\n][ab]"),
        (r"\[^x\]", r"\[^x\]"),
    ],
)
def test_bound_patterns_match_no_line_break(pattern: str, bound: str) -> None:
    assert bound_to_lines(pattern) == bound
