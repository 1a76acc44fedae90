from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codenib.manifest.files import (
    EarlierForm,
    disk_usage,
    drop_partial,
    replace_file,
    sync_tree,
    with_checksum,
    without_checksum,
)


def test_a_replaced_file_has_the_new_bytes_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "state.json"
    replace_file(path, b"old")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_reader_that_opened_the_old_file_still_reads_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    replace_file(path, b"old" * 1000)
    with path.open("rb") as reader:
        replace_file(path, b"new")
        assert reader.read() == b"old" * 1000


def test_threads_that_replace_one_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    contents = [bytes([65 + number]) * 5000 for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda data: replace_file(path, data), contents))
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_replacement_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "taken"
    (path / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="taken"):
        replace_file(path, b"a file cannot replace a folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]


def test_what_a_killed_writer_left_is_dropped(tmp_path: Path) -> None:
    (tmp_path / ".state.json.999999999-abcd.tmp").write_bytes(b"half")
    (tmp_path / "state.json").write_bytes(b"whole")
    drop_partial(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]


def test_a_hard_linked_file_counts_once(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * 100)
    os.link(tmp_path / "one", tmp_path / "two")
    sync_tree(tmp_path)
    assert disk_usage(tmp_path) == 100


def test_what_another_writer_is_about_to_rename_stays(tmp_path: Path) -> None:
    partial = tmp_path / f".state.json.{os.getpid()}-abcd.tmp"
    partial.write_bytes(b"half")
    drop_partial(tmp_path)
    assert partial.exists()


def test_a_file_without_a_checksum_is_of_an_earlier_form_and_a_damaged_one_is_not() -> None:
    text = b'{"schema":1,"views":{}}'
    with pytest.raises(EarlierForm):
        without_checksum(text)
    whole = with_checksum(text)
    assert without_checksum(whole) == text
    for at in range(len(whole)):
        for bit in range(8):
            damaged = whole[:at] + bytes([whole[at] ^ (1 << bit)]) + whole[at + 1 :]
            with pytest.raises(ValueError, match="not that of the content"):
                without_checksum(damaged)
