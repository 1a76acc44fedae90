"""Build, maintain and compare the lexical view."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.views.conftest import delta_between
from tests.views.lexical.conftest import parsed_sources

from codenib.serving.search.lexical import rank
from codenib.views.lexical.query import query_terms
from codenib.views.lexical.read import LexicalView
from codenib.views.lexical.view import LexicalViewBuilder

WORDS = st.sampled_from(
    [
        "alpha",
        "beta_gamma",
        "deltaEpsilon",
        "\ndef zeta():\n    return eta\n",
        "\nclass Theta:\n    x = 1\n",
        "\n#[test]\nfn iota() {}\n",
        "ß",
    ]
)
FILES = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "src/c.rs", "src/d.md", "tests/test_e.py", "f.txt", "g.bin"]),
    st.one_of(st.lists(WORDS, max_size=8).map(" ".join), st.just("\0binary alpha")),
    max_size=7,
)


def answers(folder: Path) -> list[tuple[str, int, int, float]]:
    """Everything that one query gives, scores and all."""
    view = LexicalView(folder)
    ranked = rank(
        view, view.score(query_terms("alpha beta gamma epsilon zeta theta eta")), level="unit", k=100
    )
    spans = [view.document(number).span for number in ranked.numbers]
    return [
        (span.path, span.start_line, span.end_line, score)
        for span, score in zip(spans, ranked.scores, strict=True)
    ]


@settings(max_examples=40, deadline=None)
@given(st.lists(FILES, min_size=2, max_size=6))
def test_maintained_view_equals_rebuilt_view(history: list[dict[str, str]]) -> None:
    builder, sources = LexicalViewBuilder(), parsed_sources()
    snapshots = [sources.of_text(files) for files in history]
    with TemporaryDirectory() as folder:
        maintained = Path(folder) / "0"
        maintained.mkdir()
        builder.build(snapshots[0], sources, maintained)
        for step, (before, after) in enumerate(pairwise(snapshots), 1):
            target, rebuilt = Path(folder) / f"{step}", Path(folder) / f"{step}-rebuilt"
            target.mkdir()
            rebuilt.mkdir()
            facts = builder.maintain(maintained, delta_between(before, after), sources, target)
            assert facts == builder.build(after, sources, rebuilt)
            assert list(builder.differences(target, rebuilt)) == []
            assert answers(target) == answers(rebuilt)
            maintained = target


def test_differences_name_the_file_and_what_differs(tmp_path: Path) -> None:
    builder, sources = LexicalViewBuilder(), parsed_sources()
    folders = []
    for name, files in {
        "left": {"same.py": "x = 1\n", "words.py": "alpha = 1\n", "gone.py": "y = 2\n"},
        "right": {"same.py": "x = 1\n", "words.py": "omega = 1\n", "new.py": "z = 3\n"},
    }.items():
        out = tmp_path / name
        out.mkdir()
        builder.build(sources.of_text(files), sources, out)
        folders.append(out)
    assert list(builder.differences(*folders)) == [
        "gone.py: only in the first",
        "new.py: only in the second",
        "words.py: content not equal",
    ]


def test_skipped_blobs_have_no_units_and_are_counted_by_reason(tmp_path: Path) -> None:
    sources = parsed_sources()
    facts = LexicalViewBuilder().build(
        sources.of_text({"a.py": "alpha = 1\n", "b.png": "\0"}), sources, tmp_path
    )
    assert facts.counts["files"] == 1
    assert facts.counts["skipped: binary"] == 1
