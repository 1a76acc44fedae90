"""A search through the filter finds what a naive scan of every line finds."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.views.conftest import Sources
from tests.views.trigram.naive import naive_search

from codenib.core.errors import InputError
from codenib.views.trigram.derive import TrigramDeriver
from codenib.views.trigram.read import TrigramView
from codenib.views.trigram.view import TrigramViewBuilder

WORDS = [
    "foo",
    "Bar",
    "kelvin",
    "\u212aELVIN",
    "\u017fet",
    "SET",
    "straße",
    "\u0130n",
    "ın",
    "é",
    "É",
    "\ufffd",
]
MARKS = [" ", "  ", "\t", "\r", "(", ")", "{", "}", "_", "-", ":", "x", "1", "\x1c", "\u2028"]

line_parts = st.sampled_from(
    [word.encode() for word in WORDS + MARKS] + [b"\xff", b"\xc3", b"\xe2\x84", b"\n"] * 2
)
contents = st.lists(line_parts, max_size=25).map(b"".join)
corpora = st.dictionaries(st.sampled_from(["a.py", "b.py", "b/c.py", "z.txt"]), contents, min_size=1)

atoms = st.one_of(
    st.sampled_from(WORDS + MARKS).map(lambda text: regex.escape(text, special_only=True)),
    st.sampled_from(
        [r"\w", r"\W", r"\s", r"\S", r"\d", r"\D", ".", r"\b", r"\B", "^", "$", r"\A", r"\Z", ""]
    ),
    st.sampled_from(
        ["[fb]", "[^f]", "[a-k]", "[^ \n]", r"[\s1]", r"[^\S]", r"[\W]", r"[\s\S]", "[^]x]", "[é1]"]
    ),
    st.sampled_from(
        [
            "(?=x)",
            "(?!o)",
            "(?<=o)",
            "(?<!\n)",
            "(?s:.)",
            "(?-m:^)",
            "(?-m:$)",
            "(?s:.*)",
            "{i}",
            "[[:alpha:]]",
        ]
    ),
    st.sampled_from([r"(o)\1", r"(?P<n>f)?(?(n)o|B)", "(?>o*)", "{1", "\n"]),
)


def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join),
        st.tuples(st.sampled_from(["(", "(?:", "(?i:", "(?>", "(?=", "(?!"]), inner).map(
            lambda pair: "".join(pair) + ")"
        ),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "*?", "++", "{0}", "{4,}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    )


patterns = st.recursive(atoms, grow, max_leaves=8)


def open_view(files: dict[str, bytes], folder: Path) -> TrigramView:
    builder = TrigramViewBuilder()
    sources = Sources().use([TrigramDeriver()])
    builder.build(sources.snapshot(files), sources, folder)
    return TrigramView.open(folder)


@settings(deadline=None, max_examples=600)
@given(corpora, patterns, st.booleans(), st.integers(0, 2))
@example({"a.py": b"foo\n\nbar"}, r"\s*^", False, 0)
@example({"a.py": b"x\n"}, "$", False, 0)
@example({"a.py": b"\nx"}, "x|\n", False, 0)
@example({"a.py": b"\nx"}, "[\n]x?|x", False, 0)
@example({"a.py": "\u212aelvin".encode()}, "kelvin", True, 0)
@example({"a.py": b"\xef\xbb\xbffoo"}, "^foo", False, 0)
def test_filter_and_verify_equal_a_naive_scan(
    files: dict[str, bytes], pattern: str, ignore_case: bool, context: int
) -> None:
    try:
        expected = naive_search(files, pattern, ignore_case=ignore_case, context=context)
    except (regex.error, TimeoutError):
        assume(False)
    with TemporaryDirectory() as folder:
        try:
            found = open_view(files, Path(folder)).search(pattern, ignore_case=ignore_case, context=context)
        except InputError as error:
            assert "line break" in error.message
            return
    assert list(found.items) == expected
    assert found.complete
    assert (found.total, found.files) == (len(expected), len({match.path for match in expected}))


@settings(deadline=None, max_examples=200)
@given(corpora, st.lists(st.sampled_from(WORDS + MARKS), min_size=1, max_size=3).map("".join), st.booleans())
def test_a_literal_search_takes_the_pattern_as_text(
    files: dict[str, bytes], text: str, ignore_case: bool
) -> None:
    expected = naive_search(files, regex.escape(text), ignore_case=ignore_case)
    with TemporaryDirectory() as folder:
        found = open_view(files, Path(folder)).search(text, ignore_case=ignore_case, literal=True)
    assert list(found.items) == expected


FILES = {
    "src/a.py": b"import os\n\nclass Loader:\n    def load(self):\n        return os.sep\n",
    "src/b.py": b"from a import Loader\nLoader().load()\n",
    "docs/c.md": b"The Loader loads.\r\nNothing else",
}


def test_a_match_says_where_it_is(tmp_path: Path) -> None:
    found = open_view(FILES, tmp_path).search(r"\bload\b", context=1)
    first = found.items[0]
    assert (first.path, first.line, first.column, first.end_column) == ("src/a.py", 4, 8, 12)
    assert (first.before, first.text, first.after) == (
        ("class Loader:",),
        "    def load(self):",
        ("        return os.sep",),
    )
    assert not found.scanned_all
    assert found.reason == ""


def test_the_limit_cuts_items_but_not_counts(tmp_path: Path) -> None:
    found = open_view(FILES, tmp_path).search("Loader", limit=1)
    assert [item.path for item in found.items] == ["docs/c.md"]
    assert (found.total, found.files, found.candidates, found.complete) == (4, 3, 3, True)


def test_paths_are_asked_before_text_is_read(tmp_path: Path) -> None:
    found = open_view(FILES, tmp_path).search("Loader", paths=lambda path: path.startswith("src/"))
    assert (found.total, found.files, found.candidates) == (3, 2, 2)


def test_a_pattern_without_trigrams_scans_all_and_says_so(tmp_path: Path) -> None:
    found = open_view(FILES, tmp_path).search("o.")
    assert found.scanned_all
    assert found.candidates == len(FILES)
    assert "every file" in found.reason


def test_a_carriage_return_stays_in_its_line(tmp_path: Path) -> None:
    view = open_view(FILES, tmp_path)
    assert view.search("loads.$").total == 0
    assert view.search("loads.\r$").items[0].text == "The Loader loads.\r"


@pytest.mark.parametrize(
    ("pattern", "position"), [("foo(", "position 4"), ("[a", "position 2"), ("a**", "position 2")]
)
def test_a_bad_pattern_is_an_input_error_with_its_position(
    tmp_path: Path, pattern: str, position: str
) -> None:
    with pytest.raises(InputError, match=position) as caught:
        open_view(FILES, tmp_path).search(pattern)
    assert "--literal" in caught.value.hint


@pytest.mark.parametrize(("pattern", "literal"), [("a\nb", True), (r"a\nb", False), ("(x|a\nb)", False)])
def test_a_line_break_in_a_pattern_is_an_input_error(tmp_path: Path, pattern: str, literal: bool) -> None:
    with pytest.raises(InputError, match="line break"):
        open_view(FILES, tmp_path).search(pattern, literal=literal)


def test_a_match_over_lines_has_them_all(tmp_path: Path) -> None:
    view = open_view(FILES, tmp_path)
    for pattern, literal in ((r"Loader:\n\s+def", False), ("Loader:\n    def", True)):
        found = view.search(pattern, literal=literal, multiline=True, context=1)
        (match,) = found.items
        assert (match.line, match.text) == (3, "class Loader:\n    def load(self):")
        assert (match.before, match.after) == (("",), ("        return os.sep",))
        assert match.text[match.column : match.end_column] == "Loader:\n    def"
        assert (found.candidates, dict(found.by_file)) == (1, {"src/a.py": 1})


def test_a_pattern_nested_too_deep_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="too large"):
        open_view(FILES, tmp_path).search("(" * 5000 + ")" * 5000)


@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(?=a)(a|aa)+$", "[[:alpha:]](a|aa)+$"])
def test_a_search_ends_in_time_and_says_that_it_is_not_complete(tmp_path: Path, pattern: str) -> None:
    view = open_view({"a": b"ab\naa\n", "b": b"a" * 60 + b"b\n", "c": b"aa\n"}, tmp_path)
    found = view.search(pattern, timeout_s=0.3)
    assert not found.complete
    assert [item.path for item in found.items] == ["a"]
    assert "1 of 3 files" in found.reason
