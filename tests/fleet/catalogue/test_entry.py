"""Sources as people write them become entries, or are refused with the reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError
from codenib.fleet.catalogue.entry import EntryOptions, entry_of, scheme_of

PLAIN = EntryOptions()


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/team/app.git", "team/app"),
        ("https://example.org/team/app/", "team/app"),
        ("ssh://git@example.org:22/group/sub/app.git", "sub/app"),
        ("git@example.org:team/app.git", "team/app"),
        ("file:///srv/git/app.git", "git/app"),
    ],
)
def test_a_url_is_named_by_its_owner_and_name_and_mirrored(url: str, name: str) -> None:
    entry = entry_of(url, PLAIN)
    assert (entry.name, entry.source, entry.in_place) == (name, url, False)


@pytest.mark.parametrize(
    "source",
    [
        "ext::sh -c 'touch /tmp/x'",
        "ext::sh",
        "ftp://example.org/a/b",
        "https://user:secret@example.org/a/b",
        "https:///a/b",
        "ssh://-oProxyCommand=x/a/b",
        "https://example.org/a b",
        "https://example.org/",
        "https://example.org/../..",
        "no/such/folder",
    ],
)
def test_what_runs_programs_hides_secrets_or_has_no_name_is_refused(source: str) -> None:
    with pytest.raises(InputError):
        entry_of(source, PLAIN)


def test_a_clone_is_read_in_place_and_called_as_what_it_was_cloned_from(
    git_repo: Callable[..., GitRepo],
) -> None:
    repository = git_repo("work")
    assert entry_of(str(repository.path), PLAIN).name == "work"
    repository.git("remote", "add", "origin", "git@example.org:team/app.git")

    entry = entry_of(str(repository.path / "."), PLAIN)

    assert (entry.name, entry.source, entry.in_place) == ("team/app", str(repository.path), True)
    assert not entry_of(str(repository.path), EntryOptions(mirror=True)).in_place


@pytest.mark.parametrize("name", ["../x", "a//b", ".hidden", "a/.git", "a.git/b", "-x", "", "a b", "x" * 201])
def test_a_name_stays_below_the_folder_of_mirrors(name: str, git_repo: Callable[..., GitRepo]) -> None:
    with pytest.raises(InputError):
        entry_of("https://example.org/", PLAIN, name)


@pytest.mark.parametrize(
    "options",
    [
        EntryOptions(branches=("a b",)),
        EntryOptions(branches=("-x",)),
        EntryOptions(branches=("a/*/*",)),
        EntryOptions(branches=("a:b",)),
        EntryOptions(schedule="daily"),
        EntryOptions(tenant="../x"),
    ],
)
def test_options_that_no_entry_can_have_are_refused(options: EntryOptions) -> None:
    with pytest.raises(InputError):
        entry_of("https://example.org/a/b", options)


def test_a_path_with_a_colon_is_a_path_when_it_is_there(
    git_repo: Callable[..., GitRepo], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = git_repo("host:app")
    monkeypatch.chdir(repository.path.parent)
    assert scheme_of("host:app") == "file"
    assert scheme_of("host:other") == "ssh"
