"""Two snapshots in, the delta out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from codenib.core.source import Delta, SourceSnapshot
from codenib.snapshot.blobs import blob_digest
from codenib.snapshot.delta import diff


class Contents:
    """Blobs of a test, in memory."""

    def __init__(self, *texts: str) -> None:
        self.by_digest = {blob_digest(text.encode()): text.encode() for text in texts}

    def read(self, digests: Sequence[str]) -> Iterator[bytes | None]:
        return (self.by_digest.get(digest) for digest in digests)


def snapshot(files: Mapping[str, str]) -> SourceSnapshot:
    """Files by their text."""
    digests = {path: blob_digest(text.encode()) for path, text in files.items()}
    return SourceSnapshot("test", None, False, digests)


def compare(old: Mapping[str, str], new: Mapping[str, str]) -> Delta:
    return diff(snapshot(old), snapshot(new), Contents(*old.values(), *new.values()))


def lines(*numbers: int) -> str:
    return "".join(f"line {number}\n" for number in numbers)


def test_added_changed_and_removed_files_are_told_apart() -> None:
    before, after = snapshot({"a": "1", "b": "2", "c": "3"}), snapshot({"a": "1", "b": "two", "d": "4"})
    delta = diff(before, after)
    assert (delta.base, delta.target) == (before.id, after.id)
    assert [(file.path, file.digest) for file in delta.added] == [("d", blob_digest(b"4"))]
    assert [(file.path, file.digest) for file in delta.changed] == [("b", blob_digest(b"two"))]
    assert (delta.removed, delta.renamed, len(delta)) == (("c",), (), 3)


def test_a_moved_file_is_a_rename_and_stays_in_both_lists() -> None:
    delta = compare({"a/x.py": "x"}, {"b/y.py": "x"})
    assert delta.renamed == (("a/x.py", "b/y.py"),)
    assert (delta.removed, [file.path for file in delta.added]) == (("a/x.py",), ["b/y.py"])


def test_equal_files_keep_their_name_before_their_place() -> None:
    old = {"a/one.py": "same", "a/two.py": "same"}
    new = {"b/two.py": "same", "a/three.py": "same", "b/one.py": "same"}
    assert compare(old, new).renamed == (("a/one.py", "b/one.py"), ("a/two.py", "b/two.py"))


def test_among_equal_names_the_nearest_wins() -> None:
    old = {"pkg/a/__init__.py": "", "other/__init__.py": ""}
    new = {"pkg/b/__init__.py": "", "others/__init__.py": ""}
    assert compare(old, new).renamed == (
        ("other/__init__.py", "others/__init__.py"),
        ("pkg/a/__init__.py", "pkg/b/__init__.py"),
    )


def test_thousands_of_equal_files_are_paired_in_order() -> None:
    old = {f"old/{number:05}/__init__.py": "" for number in range(3_000)}
    new = {f"new/{number:05}/__init__.py": "" for number in range(3_000)}
    assert compare(old, new).renamed == tuple(zip(old, new, strict=True))


def test_a_file_that_was_moved_and_edited_is_a_rename_when_half_is_left() -> None:
    old = {"a.py": lines(*range(10))}
    assert compare(old, {"b.py": lines(*range(5), *range(50, 55))}).renamed == (("a.py", "b.py"),)
    assert compare(old, {"b.py": lines(*range(4), *range(50, 56))}).renamed == ()
    assert diff(snapshot(old), snapshot({"b.py": lines(*range(9))})).renamed == ()


def test_the_most_similar_pair_is_taken_first() -> None:
    old = {"a.py": lines(*range(10)), "b.py": lines(*range(3, 13))}
    new = {"c.py": lines(*range(3, 12)), "d.py": lines(*range(1, 9))}
    assert compare(old, new).renamed == (("a.py", "d.py"), ("b.py", "c.py"))


def test_similarity_is_bounded() -> None:
    long = "x\n" * 600_000
    assert compare({"a": long}, {"b": long + "y\n"}).renamed == ()
    old = {f"a{number}": lines(number, 1000, 1001) for number in range(101)}
    new = {f"b{number}": lines(number, 1000, 1001, 5000) for number in range(100)}
    assert compare(old, new).renamed == ()
    del old["a0"]
    assert len(compare(old, new).renamed) == 100


def test_a_blob_that_cannot_be_read_is_no_rename() -> None:
    old, new = snapshot({"a": lines(1, 2, 3)}), snapshot({"b": lines(1, 2)})
    assert diff(old, new, Contents()).renamed == ()


PATHS = st.builds("/".join, st.lists(st.sampled_from("abc"), min_size=1, max_size=3))
TEXTS = st.lists(st.integers(0, 4), max_size=4).map(lambda numbers: lines(*numbers))
FILES = st.dictionaries(PATHS, TEXTS, max_size=12)


@given(FILES, FILES)
def test_a_delta_turns_base_into_target(old: dict[str, str], new: dict[str, str]) -> None:
    base, target = snapshot(old), snapshot(new)
    delta = compare(old, new)
    files = {path: digest for path, digest in base.files.items() if path not in delta.removed}
    files.update((file.path, file.digest) for file in (*delta.added, *delta.changed))
    assert files == target.files
    assert {file.path for file in delta.changed} <= base.files.keys()
    assert not {file.path for file in delta.added} & base.files.keys()
    assert set(delta.removed) <= base.files.keys()


@given(FILES, FILES)
def test_renames_are_one_to_one_and_between_removed_and_added(
    old: dict[str, str], new: dict[str, str]
) -> None:
    delta = compare(old, new)
    sources, goals = [pair[0] for pair in delta.renamed], [pair[1] for pair in delta.renamed]
    assert len(set(sources)) == len(sources)
    assert len(set(goals)) == len(goals)
    assert set(sources) <= set(delta.removed)
    assert set(goals) <= {file.path for file in delta.added}
    assert delta == compare(dict(reversed(old.items())), dict(reversed(new.items())))
    unpaired_old = {snapshot(old).files[path] for path in set(delta.removed) - set(sources)}
    unpaired_new = {file.digest for file in delta.added if file.path not in goals}
    assert not unpaired_old & unpaired_new  # every equal pair that can be made is made
