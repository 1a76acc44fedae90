"""What a query says about where to look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.planner.signals import Frame, Structural, read_signals

TRACES = {
    "python": (
        'Traceback:\n  File "/srv/django/db/models/query.py", line 70, in __iter__\n    for row in rows:\n',
        Frame("/srv/django/db/models/query.py", 70, "__iter__"),
    ),
    "ipython": (
        "File ~/lib/seaborn/_core/plot.py:820, in Plotter._setup(self)",
        Frame("/lib/seaborn/_core/plot.py", 820, "_setup"),
    ),
    "javascript": (
        "TypeError: x\n    at Router.handle (/app/lib/router/index.js:284:7)",
        Frame("/app/lib/router/index.js", 284, "handle"),
    ),
    "go": (
        "goroutine 1 [running]:\nmain.(*Server).Run(0xc000)\n\t/src/cmd/server.go:42 +0x1d",
        Frame("/src/cmd/server.go", 42, "Run"),
    ),
    "rust": ("   5: fd::walk::scan\n             at ./src/walk.rs:101:9", Frame("src/walk.rs", 101, "scan")),
    "c++": (
        "#1 0x4a2b in json::parse(char const*) src/parser.cc:88:3",
        Frame("src/parser.cc", 88, "parse"),
    ),
    "compiler": ("include/fmt/core.h:120:5: error: no match", Frame("include/fmt/core.h", 120, "")),
}


@pytest.mark.parametrize("language", TRACES)
def test_frames_of_every_language_are_read(language: str) -> None:
    text, frame = TRACES[language]
    assert frame in read_signals(text).frames


def test_names_paths_and_errors_of_an_issue_are_read() -> None:
    signals = read_signals(
        "Session.get_adapter fails\n### Steps\n- [x] searched\nSee `mount_all` in requests/adapters.py, "
        'it says "no adapter found".\n\nValueError: missing schema here'
    )
    assert signals.title == "Session.get_adapter fails"
    assert {"get_adapter", "mount_all"} <= set(signals.identifiers)
    assert "Session.get_adapter" in signals.dotted
    assert signals.paths == ("requests/adapters.py",)
    assert signals.quoted == ("no adapter found",)
    assert "ValueError: missing schema here" in signals.errors
    assert signals.template
    assert signals.names_code


def test_prose_names_no_code() -> None:
    signals = read_signals("It doesn't work, e.g. when the user's settings and/or profile are empty.")
    assert not signals.names_code
    assert signals.quoted == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who calls parse_header?", Structural("callers", "parse_header")),
        ("callers of the method Session.send", Structural("callers", "Session.send")),
        ("what does `build` call?", Structural("callees", "build")),
        ("where is Cart used", Structural("references", "Cart")),
        ("where is the function `resolve()` defined?", Structural("definition", "resolve")),
        ("which classes implement Provider", Structural("subtypes", "Provider")),
        ("where are cookies parsed", None),
        ("who calls it\n" + "a long story " * 40, None),
    ],
)
def test_structural_questions_are_understood(question: str, expected: Structural | None) -> None:
    assert read_signals(question).structural == expected


@pytest.mark.parametrize(
    ("query", "regex"),
    [
        (r"def \w+_handler", True),
        ("foo.*bar", True),
        ("how are cookies parsed?", False),
        ("a (very) good one", False),
    ],
)
def test_regex_syntax_is_seen(query: str, regex: bool) -> None:
    assert read_signals(query).regex is regex


def test_a_question_about_tests_says_so_and_an_issue_that_mentions_them_does_not() -> None:
    assert read_signals("which tests cover the router").about_tests
    assert not read_signals("Test runner hangs\nIt never ends.").about_tests


@given(st.text(max_size=3000))
def test_any_text_is_read(text: str) -> None:
    signals = read_signals(text)
    assert signals == read_signals(text)
    assert all(frame.line >= 0 for frame in signals.frames)
