"""Trees in, how many files differ out: what trees share is counted at each place, and read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codenib.snapshot.changes import count_changes

BLOB, OTHER = "a" * 40, "b" * 40


class Trees:
    """Trees by their ids, which are numbers here; counts what is read."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self.reads = 0

    def add(self, entries: dict[str, str]) -> str:
        oid = f"{len(self._data):040x}"
        rows = ((b"40000" if each in self._data else b"100644", name, each) for name, each in entries.items())
        self._data[oid] = b"".join(
            mode + b" " + name.encode() + b"\0" + bytes.fromhex(each) for mode, name, each in rows
        )
        return oid

    def read(self, ids: Sequence[str]) -> Iterator[bytes]:
        for each in ids:
            self.reads += 1
            yield self._data[each]


def test_files_that_came_went_and_changed_count_once_each() -> None:
    trees = Trees()
    same = trees.add({"x": BLOB, "y": BLOB})
    old = trees.add({"same": same, "gone": same, "changed": BLOB, "turned": BLOB})
    new = trees.add({"same": same, "came": BLOB, "changed": OTHER, "turned": same})
    assert count_changes([(old, new)], trees.read) == {(old, new): 2 + 1 + 1 + 3}


def test_a_tree_that_shares_its_parts_is_counted_without_being_listed() -> None:
    trees = Trees()
    bomb = trees.add({str(n): BLOB for n in range(10)})
    for _ in range(9):
        bomb = trees.add({str(n): bomb for n in range(10)})
    assert count_changes([("", bomb)], trees.read) == {("", bomb): 10**10}
    assert trees.reads == 10
