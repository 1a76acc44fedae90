"""What `fleet add` is given: lists of sources and folders of clones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError
from codenib.fleet.catalogue.entry import EntryOptions
from codenib.fleet.catalogue.sources import entries_of

PLAIN = EntryOptions()


def test_clones_below_a_folder_are_called_by_their_paths(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    inner = git_repo("org/team/app")
    git_repo("org/team/app/vendor/nested")  # inside of a repository: not looked at
    git_repo("org/lib.git", "--bare")
    git_repo("org/.hidden")
    (tmp_path / "org" / "notes").mkdir()
    (tmp_path / "org" / "link").symlink_to(inner.path)

    entries = entries_of([], PLAIN, org=str(tmp_path / "org"))

    assert [(entry.name, entry.in_place) for entry in entries] == [("lib", True), ("team/app", True)]


def test_a_file_has_a_source_and_perhaps_a_name_in_each_line(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    app = git_repo("app")
    file = tmp_path / "fleet.txt"
    file.write_text("# ours\nhttps://example.org/a/b\n\napp  team/app  # beside this file\n")

    entries = entries_of([], PLAIN, listed=str(file))

    assert [(entry.name, entry.source) for entry in entries] == [
        ("a/b", "https://example.org/a/b"),
        ("team/app", str(app.path)),
    ]
    file.write_text("https://example.org/a/b two names\n")
    with pytest.raises(InputError, match=r"fleet\.txt:1"):
        entries_of([], PLAIN, listed=str(file))


def test_two_sources_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="both be called a/b"):
        entries_of(["https://x.org/a/b", "https://y.org/a/b"], PLAIN)
    assert len(entries_of(["https://x.org/a/b", "https://x.org/a/b"], PLAIN)) == 1


def test_nothing_to_add_is_said(tmp_path: Path) -> None:
    for given in (
        {},
        {"org": str(tmp_path)},
        {"org": str(tmp_path / "no")},
        {"listed": str(tmp_path / "no")},
    ):
        with pytest.raises(InputError):
            entries_of([], PLAIN, **given)
    with pytest.raises(InputError, match="a name is for one"):
        entries_of(["https://x.org/a/b", "https://x.org/a/c"], PLAIN, name="x")
