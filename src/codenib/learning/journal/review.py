"""A repository in, what its owner sees of its journal out: state, entries, and what can be forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import CodenibError
from codenib.learning.journal.consent import (
    Consent,
    consent_file,
    consent_files,
    journal_file,
    read_consent,
)
from codenib.learning.journal.entries import JournalEntry
from codenib.learning.journal.recorder import record_edits_since
from codenib.learning.journal.store import JournalStore
from codenib.snapshot.repository import locate


@dataclass(frozen=True, slots=True)
class JournalState:
    """Of one repository: what was said about recording, and what is recorded.

    `damaged` says that its file was and began anew, so that earlier entries are lost.
    """

    repository: str
    consent: Consent | None
    entries: int
    size_bytes: int
    damaged: bool = False


def journal_state(path: str | Path, *, tenant: str = "") -> JournalState:
    """What is recorded of the repository at `path`, or of a tenant's calls for it."""
    repository = locate(Path(path))
    consent = read_consent(consent_file(repository, tenant))
    return _state(str(repository.root), consent, journal_file(repository, tenant))


def journal_entries(
    path: str | Path, *, since: float | None = None, until: float | None = None, tenant: str = ""
) -> list[JournalEntry]:
    """The entries of a repository, or of a tenant for it, oldest first.

    Where recording is on, the files that changed since the last call are looked up first.
    """
    repository = locate(Path(path))
    file = journal_file(repository, tenant)
    if not file.exists():
        return []
    consent = read_consent(consent_file(repository, tenant))
    with JournalStore(file) as store:
        if consent is not None and consent.on:
            with suppress(CodenibError):  # what is recorded is there all the same
                record_edits_since(repository, store)
        return store.entries(since=since, until=until)


def forget_entries(
    path: str | Path, *, since: float | None = None, until: float | None = None, tenant: str = ""
) -> int:
    """Remove entries of a repository for good; how many. A journal that is off and empty leaves no file."""
    repository = locate(Path(path))
    return _forget(consent_file(repository, tenant), journal_file(repository, tenant), since, until)


def forget_everything(*, since: float | None = None, until: float | None = None) -> int:
    """The same for every repository and tenant of this home, also of folders that are gone."""
    files = consent_files()
    return sum(_forget(file, file.with_suffix(".sqlite"), since, until) for file in files)


def _forget(consent: Path, file: Path, since: float | None, until: float | None) -> int:
    removed, left = 0, 0
    if file.exists():
        with JournalStore(file) as store:
            removed, left = store.forget(since=since, until=until), len(store)
    given = None
    with suppress(CodenibError):
        given = read_consent(consent)
    if not left and (given is None or not given.on):
        _unlink([file, *(Path(f"{file}{end}") for end in ("-wal", "-shm", "-journal", ".lock")), consent])
    return removed


def _unlink(files: Sequence[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _state(repository: str, consent: Consent | None, file: Path) -> JournalState:
    if not file.exists():
        return JournalState(repository, consent, 0, 0)
    with JournalStore(file) as store:
        return JournalState(repository, consent, len(store), store.size_bytes, store.was_damaged)
