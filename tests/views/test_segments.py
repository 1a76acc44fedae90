"""Any sequence of deltas leaves exactly the target's files, in a bounded number of segments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codenib.core.errors import StateError
from codenib.core.protocols import Records
from codenib.core.source import BlobUnits, Delta, SourceFile
from codenib.views.segments import (
    MAX_FILES,
    MAX_SEGMENTS,
    Segment,
    advance_artifact,
    read_segments,
    write_artifact,
)

State = dict[str, str]


class NoRecords:
    """Records of nothing: segment writing itself does not look at content."""

    def fetch(self, deriver: str, files: Sequence[SourceFile]) -> Iterator[bytes]:
        return iter([b""] * len(files))

    def units(self, files: Sequence[SourceFile]) -> Iterator[BlobUnits]:
        return iter([BlobUnits("", 0)] * len(files))

    def blobs(self, files: Sequence[SourceFile]) -> Iterator[bytes]:
        return iter([b""] * len(files))


def write_list(files: Sequence[SourceFile], records: Records, out: Path, name: str) -> None:
    assert [file.path for file in files] == sorted(file.path for file in files)
    (out / f"{name}.list").write_text("\n".join(f"{file.path} {file.digest}" for file in files))


def delta(before: State, after: State) -> Delta:
    return Delta(
        "before",
        "after",
        tuple(SourceFile(path, after[path]) for path in sorted(after.keys() - before.keys())),
        tuple(
            SourceFile(path, after[path])
            for path in sorted(after)
            if before.get(path, "") not in ("", after[path])
        ),
        tuple(sorted(before.keys() - after.keys())),
    )


def advance(base: Path, before: State, after: State, out: Path) -> list[Segment]:
    out.mkdir()
    advance_artifact(base, delta(before, after), NoRecords(), out, write_list)
    return read_segments(out)


def build(state: State, out: Path) -> list[Segment]:
    out.mkdir()
    write_artifact([SourceFile(*item) for item in sorted(state.items())], NoRecords(), out, write_list)
    return read_segments(out)


def assert_holds(found: Sequence[Segment], state: State, folder: Path) -> None:
    live = [(file.path, file.digest) for segment in found for file in segment.live_files()]
    assert sorted(live) == sorted(state.items())
    for segment in found:
        assert segment.live_count > 0
        rows = [f"{file.path} {file.digest}" for file in segment.files]
        assert (folder / f"{segment.name}.list").read_text() == "\n".join(rows)
    parts = {path.name for path in folder.iterdir()}
    assert parts == {"view.json"} | {f"{s.name}.{part}" for s in found for part in ("files.json", "list")}


states = st.dictionaries(
    st.sampled_from([f"{folder}/{name}" for folder in "abcd" for name in "uvwxyz"]), st.sampled_from("1234")
)


@settings(deadline=None, max_examples=60)
@given(st.lists(states, min_size=2, max_size=12))
def test_live_files_follow_any_sequence_of_deltas(history: list[State]) -> None:
    with TemporaryDirectory() as folder:
        base = Path(folder) / "0"
        assert_holds(build(history[0], base), history[0], base)
        for step, (before, after) in enumerate(pairwise(history), start=1):
            out = Path(folder) / str(step)
            assert_holds(advance(base, before, after, out), after, out)
            base = out


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_many_small_edits_keep_few_segments(files: int, random: Random) -> None:
    with TemporaryDirectory() as folder:
        state = {f"f{number:03}": "0" for number in range(files)}
        base = Path(folder) / "start"
        build(state, base)
        for step in range(60):
            changed = random.sample(sorted(state), random.randint(0, min(2, len(state))))
            after = {**state, **{path: str(step) for path in changed}, f"new{step:03}": "0"}
            out = Path(folder) / str(step)
            found = advance(base, state, after, out)
            assert_holds(found, after, out)
            assert len(found) <= MAX_SEGMENTS + 1
            base, state = out, after


def test_an_edit_shares_the_large_segment_and_writes_only_itself(tmp_path: Path) -> None:
    state = {f"f{number:03}": "0" for number in range(100)}
    (large,) = build(state, tmp_path / "a")
    after = {**state, "f007": "1"}
    found = advance(tmp_path / "a", state, after, tmp_path / "b")
    assert [(segment.name == large.name, segment.live_count) for segment in found] == [(True, 99), (False, 1)]
    shared = [(tmp_path / side / f"{large.name}.list").stat().st_ino for side in "ab"]
    assert shared[0] == shared[1]


def test_an_edit_beside_many_full_segments_rewrites_none_of_the_others(tmp_path: Path) -> None:
    count = MAX_FILES * (MAX_SEGMENTS + 1) + 100
    state = {f"f{number:06}": "0" for number in range(count)}
    before = build(state, tmp_path / "a")
    found = advance(tmp_path / "a", state, {**state, "f000007": "1"}, tmp_path / "b")
    assert {segment.name for segment in before} < {segment.name for segment in found}
    assert found[-1].files == (SourceFile("f000007", "1"),)


def test_a_worn_segment_is_rewritten(tmp_path: Path) -> None:
    state = {f"f{number:03}": "0" for number in range(100)}
    build(state, tmp_path / "a")
    after = dict(list(state.items())[:70])
    (found,) = advance(tmp_path / "a", state, after, tmp_path / "b")
    assert not found.dead


def test_an_unknown_format_or_a_missing_file_asks_for_a_new_index(tmp_path: Path) -> None:
    with pytest.raises(StateError) as missing:
        read_segments(tmp_path)
    assert missing.value.hint == "codenib index --rebuild"
    (tmp_path / "view.json").write_text('{"format": 99, "segments": []}')
    with pytest.raises(StateError, match="format 99"):
        read_segments(tmp_path)
