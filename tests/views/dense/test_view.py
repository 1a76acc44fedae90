"""Build, maintain and compare the dense view."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.views.conftest import delta_between
from tests.views.dense.conftest import ParsedSources, build_store, dense_builder
from tests.views.dense.hashing import DIMENSION, HashEmbedder, MemoryCache

from codenib.core.errors import CannotMaintain, ProviderError
from codenib.views.dense.profile import DocumentSet, Family
from codenib.views.dense.store import CodeVectorStore

BODIES = st.sampled_from(
    [
        "def alpha(beta):\n    return gamma(beta)\n",
        "class Delta:\n    def epsilon(self):\n        return alpha\n\n    def zeta(self):\n        pass\n",
        "def eta():\n    return 'theta iota kappa'\n",
        "x = 1\n",
        "\n\n",
        "def größe():\n    return 'ß'\n",
        "# Lambda\n\nProse.\n",
        "\0binary",
    ]
)
FILES = st.dictionaries(
    st.sampled_from([*"abcdefgh", "src/i", "src/j", "tests/test_k"]).map(lambda name: f"{name}.py"),
    st.lists(BODIES, max_size=4).map("\n".join),
    max_size=9,
)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["write", "remove", "rename"]),
        st.integers(0, 11),
        st.lists(BODIES, max_size=3).map("\n".join),
    ),
    max_size=2,
)
QUERIES = ("alpha beta", "delta epsilon zeta", "theta", "nothing of the kind")


def facts(store: CodeVectorStore) -> list[object]:
    """Everything: rows, vectors bit for bit, ordered answers with their scores."""
    queries = HashEmbedder().embed_queries(QUERIES)
    found = [store.search(query, 7) for query in queries]
    return [
        [store.row(number) for number in range(len(store))],
        [store.vector(number).tobytes() for number in range(len(store))],
        [(near.rows.tolist(), near.scores.tobytes()) for near in found],
        [store.scores(query).tobytes() for query in queries],
        store.paths,
        store.marks.tolist(),
        store.unit_marks.tolist(),
        list(store.facts()),
    ]


def edited(files: dict[str, str], edits: list[tuple[str, int, str]]) -> dict[str, str]:
    """The files after a few edits of single ones."""
    files = dict(files)
    for verb, number, text in edits:
        path = sorted(files)[number % len(files)] if files else "a.py"
        if verb == "write":
            files[path] = text
        elif old := files.pop(path, None):
            files.update({f"moved/{path}": old} if verb == "rename" else {})
    return files


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, str]]:
    """A branch that is edited file by file, then switched to some other and back."""
    history = [draw(FILES)]
    for edits in draw(st.lists(EDITS, max_size=5)):
        history.append(edited(history[-1], edits))
    return [*history, *draw(st.lists(FILES, max_size=2)), history[0]]


@settings(max_examples=60, deadline=None)
@given(
    histories(),
    st.sampled_from([Family.FLAT, Family.FLAT, Family.IVF, Family.HNSW]),
    st.sampled_from([*DocumentSet]),
)
def test_maintained_view_equals_rebuilt_view(
    history: list[dict[str, str]], family: Family, documents: DocumentSet
) -> None:
    sources = ParsedSources()
    maintainer = dense_builder(family=family, documents=documents)
    snapshots = [sources.of_text(files) for files in history]
    with TemporaryDirectory() as folder:
        maintained = Path(folder) / "0"
        maintained.mkdir()
        maintainer.build(snapshots[0], sources, maintained)
        for step, (before, after) in enumerate(pairwise(snapshots), 1):
            target, rebuilt = Path(folder) / f"{step}", Path(folder) / f"{step}-rebuilt"
            target.mkdir()
            rebuilt.mkdir()
            rebuilder = dense_builder(family=family, documents=documents)
            said = maintainer.maintain(maintained, delta_between(before, after), sources, target)
            assert said == rebuilder.build(after, sources, rebuilt)
            assert list(maintainer.differences(target, rebuilt)) == []
            assert facts(CodeVectorStore(target)) == facts(CodeVectorStore(rebuilt))
            maintained = target


MANY = {f"m{number:02}.py": f"def f{number}():\n    return {number}\n" for number in range(40)}


@pytest.mark.parametrize("family", list(Family))
def test_an_update_embeds_only_new_texts_without_any_cache(tmp_path: Path, family: Family) -> None:
    embedder, sources = HashEmbedder(), ParsedSources()
    before = sources.of_text(MANY)
    after = sources.of_text(
        {**MANY, "m03.py": "def changed():\n    return 3\n", "new.py": "def n():\n    pass\n"}
    )
    for name in ("base", "next"):
        (tmp_path / name).mkdir()
    dense_builder(embedder, family=family).build(before, sources, tmp_path / "base")
    embedder.embedded.clear()
    builder = dense_builder(embedder, MemoryCache(), family)  # as after the loss of the cache
    builder.maintain(tmp_path / "base", delta_between(before, after), sources, tmp_path / "next")
    assert [text.split("\n")[0] for text in embedder.embedded] == ["m03.py:changed", "new.py:n"]


def test_an_update_shares_the_vectors_that_it_keeps(tmp_path: Path) -> None:
    sources, builder = ParsedSources(), dense_builder()
    before, after = sources.of_text(MANY), sources.of_text({**MANY, "m03.py": "def g():\n    pass\n"})
    for name in ("base", "next"):
        (tmp_path / name).mkdir()
    builder.build(before, sources, tmp_path / "base")
    builder.maintain(tmp_path / "base", delta_between(before, after), sources, tmp_path / "next")
    (large,) = (tmp_path / "base").glob("*.vectors.npy")
    assert (tmp_path / "next" / large.name).samefile(large)


def test_a_delta_over_the_threshold_is_written_as_one_segment(tmp_path: Path) -> None:
    sources, builder = ParsedSources(), dense_builder()
    before = sources.of_text(MANY)
    after = sources.of_text({**MANY, **{f"n{index}.py": "def g():\n    pass\n" for index in range(30)}})
    for name in ("base", "next"):
        (tmp_path / name).mkdir()
    builder.build(before, sources, tmp_path / "base")
    builder.maintain(tmp_path / "base", delta_between(before, after), sources, tmp_path / "next")
    assert len(list((tmp_path / "next").glob("*.vectors.npy"))) == 1


@pytest.mark.parametrize("other", ["identity", "family", "documents"])
def test_vectors_of_another_embedder_or_setting_are_never_maintained(tmp_path: Path, other: str) -> None:
    sources = ParsedSources()
    snapshot = sources.of_text(MANY)
    build_store(MANY, tmp_path / "base", dense_builder())
    builder = dense_builder(
        HashEmbedder("another" if other == "identity" else "hashing"),
        family=Family.IVF if other == "family" else Family.FLAT,
        documents=DocumentSet.L0 if other == "documents" else DocumentSet.L2,
    )
    out = tmp_path / "next"
    out.mkdir()
    with pytest.raises(CannotMaintain):
        builder.maintain(tmp_path / "base", delta_between(snapshot, snapshot), sources, out)


def test_an_interrupted_build_resumes_from_the_cache(tmp_path: Path) -> None:
    files = {f"{number}.py": f"def f{number}():\n    return {number}\n" for number in range(600)}
    cache = MemoryCache()
    with pytest.raises(ProviderError):
        build_store(files, tmp_path / "first", dense_builder(HashEmbedder(limit=550), cache))
    kept = len(cache.rows)
    assert 0 < kept < 600
    second = HashEmbedder()
    build_store(files, tmp_path / "second", dense_builder(second, cache))
    assert len(second.embedded) == 600 - kept


def test_counts_say_documents_dimension_and_files_with_documents(tmp_path: Path) -> None:
    sources = ParsedSources()
    said = dense_builder().build(
        sources.of_text({"a.py": "def f():\n    pass\n", "b.md": "# B\n", "c.py": "\0"}), sources, tmp_path
    )
    assert said.counts == {"files": 1, "documents": 1, "dimension": DIMENSION}
    assert said.capabilities == ("ranked:semantic",)


def test_differences_name_the_file_and_what_differs(tmp_path: Path) -> None:
    same = {"same.py": "def f():\n    pass\n"}
    left = {**same, "text.py": "def g():\n    return 1\n", "gone.py": "def h():\n    pass\n"}
    right = {**same, "text.py": "def g():\n    return 2\n", "new.py": "def h():\n    pass\n"}
    builder = dense_builder()
    build_store(left, tmp_path / "left", builder)
    build_store(right, tmp_path / "right", builder)
    assert list(builder.differences(tmp_path / "left", tmp_path / "right")) == [
        "gone.py: only in the first",
        "new.py: only in the second",
        "text.py: documents not equal",
    ]
    build_store(left, tmp_path / "other", dense_builder(HashEmbedder("another")))
    assert "same.py: vectors not equal" in builder.differences(tmp_path / "left", tmp_path / "other")
