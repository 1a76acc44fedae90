"""The trigram view as the compiler sees it: built, maintained, compared."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.views.conftest import Sources, delta_between

from codenib.core.errors import StateError
from codenib.core.protocols import ViewMaintainer
from codenib.core.views import ViewKind
from codenib.views.trigram.derive import TrigramDeriver
from codenib.views.trigram.read import TrigramView
from codenib.views.trigram.view import TrigramViewBuilder

BUILDER: ViewMaintainer = TrigramViewBuilder()

contents = st.lists(
    st.sampled_from([b"load", b"Loader", b" ", b"\n", "é".encode(), b"\xff", b"x"]), max_size=8
)
states = st.dictionaries(st.sampled_from([f"{name}.py" for name in "abcdefghij"]), contents.map(b"".join))


def build(files: dict[str, bytes], sources: Sources, out: Path, skipped: tuple[str, ...] = ()) -> TrigramView:
    out.mkdir()
    sources.use([TrigramDeriver()])
    BUILDER.build(sources.snapshot(files, skipped), sources, out)
    return TrigramView.open(out)


@settings(deadline=None, max_examples=40)
@given(st.lists(states, min_size=2, max_size=8))
def test_maintained_view_equals_rebuilt_view(history: list[dict[str, bytes]]) -> None:
    sources = Sources()
    with TemporaryDirectory() as name:
        folder = Path(name)
        build(history[0], sources, folder / "0")
        before = sources.snapshot(history[0])
        for step, files in enumerate(history[1:], start=1):
            after = sources.snapshot(files)
            maintained, rebuilt = folder / str(step), folder / f"{step}-rebuilt"
            maintained.mkdir()
            facts = BUILDER.maintain(
                folder / str(step - 1), delta_between(before, after), sources, maintained
            )
            theirs = build(files, sources, rebuilt).search("load", ignore_case=True)
            assert list(BUILDER.differences(maintained, rebuilt)) == []
            assert TrigramView.open(maintained).search("load", ignore_case=True) == theirs
            filled = [data for data in files.values() if data]
            assert facts.counts == {"files": len(filled), "bytes": sum(map(len, filled))}
            before = after


def test_a_skipped_blob_is_not_searchable(sources: Sources, tmp_path: Path) -> None:
    view = build({"a.py": b"load\n", "b.bin": b"load\0\n"}, sources, tmp_path / "a", skipped=("b.bin",))
    assert [match.path for match in view.search("load").items] == ["a.py"]
    assert view.search("").files == 1


def test_facts_name_what_can_be_asked(sources: Sources, tmp_path: Path) -> None:
    sources.use([TrigramDeriver()])
    facts = BUILDER.build(sources.snapshot({"a.py": b"load\n", "e.py": b""}), sources, tmp_path)
    assert facts.capabilities == ("substring", "regex")
    assert facts.counts == {"files": 1, "bytes": 5}
    assert BUILDER.kind is ViewKind.TRIGRAM


def test_differences_are_readable(sources: Sources, tmp_path: Path) -> None:
    build({"a.py": b"one\n", "b.py": b"two\n"}, sources, tmp_path / "left")
    build({"a.py": b"three\n", "c.py": b"two\n"}, sources, tmp_path / "right")
    lines = list(BUILDER.differences(tmp_path / "left", tmp_path / "right"))
    assert lines[0].startswith("a.py: digest ")
    assert lines[1:] == [
        "a.py: text of 4 against 6 bytes",
        "a.py: 1 against 3 trigrams, 4 differ",
        "b.py: only in the first",
        "c.py: only in the second",
    ]


def test_an_empty_snapshot_has_a_view(sources: Sources, tmp_path: Path) -> None:
    assert build({}, sources, tmp_path / "none").search("x").total == 0
    assert build({"a": b"", "b": b""}, sources, tmp_path / "empty").search("x").total == 0


@pytest.mark.parametrize("part", ["text", "offsets.npy", "grams.npy", "posts.npy", "files.json"])
@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_damaged_part_is_a_state_error(sources: Sources, tmp_path: Path, part: str, damage: str) -> None:
    build({"a.py": b"load all\n"}, sources, tmp_path / "a")
    (path,) = (tmp_path / "a").glob(f"*.{part}")
    data = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(data[:-3])
    with pytest.raises(StateError) as caught:
        TrigramView.open(tmp_path / "a")
    assert caught.value.hint == "codenib index --rebuild"
