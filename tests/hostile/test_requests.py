"""No single request stops the others: queries, globs, patterns, depths and nesting of a stranger's choice.

Each case ran for minutes, or took all memory, before it had a bound; here it is killed after 20 s of work.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.hostile.limited import run_limited

from codenib.core.errors import InputError
from codenib.core.text.globs import path_filter
from codenib.views.trigram.pattern import compile_pattern

#: Repeated to 20,000 characters, these made one pattern or another of the planner quadratic or cubic.
UNITS = (
    "A", "a.", "a", "a/", "a@", "a#", "a->", "a::", "1: ", "1", "at ", "at a (", "#1 in a ", "(", "a(",
    ")\\n", "a()\\n a", "\\n", "_", "Aa", "a_", "a.py", "a.py:", "a/b.py", "..", "<", "`", "'", "error ",
    "Error", "a.Error", "File '", "- [ ] ", " ", "-", "@", "a:1: ", "é", "who calls ", "a.com/", "<!--", "![",
)  # fmt: skip


def test_a_query_is_read_in_linear_time() -> None:
    run_limited(
        "from codenib.planner.signals import read_signals\n"
        "from codenib.views.lexical.query import query_terms\n"
        f"for unit in {UNITS!r}:\n"
        "    for tail in ('', '/', '!'):\n"
        "        text = 'x ' + unit * (20_000 // len(unit)) + tail\n"
        "        read_signals(text)\n"
        "        query_terms(text)\n"
    )


@pytest.mark.parametrize("glob", ["**?" * 10, "*a" * 40, "**/" * 60 + "x", "*" * 900, "**/*" * 30 + "/x"])
def test_a_glob_of_many_wildcards_is_matched_or_refused(glob: str) -> None:
    run_limited(
        "from codenib.core.text.globs import path_filter\n"
        "from codenib.core.errors import InputError\n"
        "try:\n"
        f"    accepts = path_filter([{glob!r}])\n"
        "except InputError:\n"
        "    raise SystemExit\n"
        "for path in ('a/' * 100 + 'a' * 2000, 'a' * 4000):\n"
        "    accepts(path)\n"
    )


@pytest.mark.parametrize(
    "globs",
    [
        ["{a,b}" * 12],
        ["x" * 5000],
        [f"{'*a' * 40}{number}" for number in range(100)],
        [f"{'{a,b,c}' * 5}{number}" for number in range(100)],
    ],
)
def test_globs_that_stand_for_too_much_are_an_input_error(globs: list[str]) -> None:
    with pytest.raises(InputError):
        path_filter(globs)


@pytest.mark.parametrize(
    "pattern", ["(?:(?:a{1000}){1000}){1000}", "a{999999999}", "((((a{90}){90}){90}){90}){90}"]
)
def test_a_pattern_that_is_too_large_is_refused_before_it_is_compiled(pattern: str) -> None:
    run_limited(
        "from codenib.views.trigram.pattern import compile_pattern\n"
        "from codenib.core.errors import InputError\n"
        "try:\n"
        f"    compile_pattern({pattern!r})\n"
        "except InputError:\n"
        "    raise SystemExit\n"
        "raise SystemExit('it was compiled')\n"
    )


def test_a_slow_pattern_leaves_other_threads_alone() -> None:
    """It holds no lock of the interpreter while it searches: this thread counts meanwhile."""
    run_limited(
        "import threading\n"
        "from codenib.views.trigram.matching.matcher import Deadline\n"
        "from codenib.views.trigram.pattern import compile_pattern\n"
        "pattern, done = compile_pattern('(a|aa)+$'), threading.Event()\n"
        "def search():\n"
        "    try:\n"
        "        list(pattern.lines('a' * 200 + 'b', Deadline(2)))\n"
        "    except TimeoutError:\n"
        "        done.set()\n"
        "thread = threading.Thread(target=search)\n"
        "thread.start()\n"
        "turns = 0\n"
        "while not done.wait(0.01):\n"
        "    turns += 1\n"
        "thread.join()\n"
        "assert turns > 20, turns\n"
    )


def test_patterns_of_everyday_size_compile() -> None:
    for pattern in (r"\w{1,100}", r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", r"^.{0,200}$", "a{,3}b{2,}"):
        assert compile_pattern(pattern)


def test_a_depth_of_a_billion_takes_as_long_as_the_graph_is_deep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "none"))
    repo = GitRepo(tmp_path / "own")
    repo.commit({"a.py": "def low():\n    pass\n\n\ndef high():\n    low()\n"})
    line = ["-C", str(repo.path), "callers", "low", "--depth", "1000000000"]
    run_limited(f"from codenib.adapters.cli.main import cli\ncli({line!r})")


@pytest.mark.parametrize(
    ("language", "opening", "closing"),
    [
        ("javascript", "x(function(){\n", "})\n"),
        ("javascript", "function f(){\n", "}\n"),
        ("rust", "mod m {\n", "}\n"),
        ("cpp", "struct S {\n", "};\n"),
        ("java", "class A {\n", "}\n"),
        ("python", "(", ")"),
    ],
)
def test_units_of_deep_nesting_come_in_bounded_time(language: str, opening: str, closing: str) -> None:
    run_limited(
        "from codenib.units.extract import extract\n"
        f"data = ({opening!r} * 3000 + {closing!r} * 3000).encode()\n"
        f"extract(data, {language!r})\n"
    )
