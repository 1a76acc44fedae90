"""A repository in, whether its owner lets agents' calls be recorded, since when and within which bounds, out.

Off unless somebody said `codenib journal on` for this repository. The answer is a small file beside the
journal, so that a server that runs notices a change with one look at the file's state. A tenant of a server
has a consent and a journal of its own, which the owner of the machine switches on for it alone.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, StateError
from codenib.serving.installation import home_file, home_file_lock, read_home_file, write_home_file
from codenib.snapshot.repository import Repository, locate

#: What a journal has, in the words that whoever consents reads; recorded with the consent.
RECORDED = (
    "what agents ask over `codenib mcp`: tool, arguments, time",
    "what they are given: places and ranks, plan, tokens; no source text",
    "which of these places they read next",
    "which files changed between their calls, by path",
)
OVER_HTTP = (
    "the same of what is asked over `codenib serve` without a tenant: calls of one client are a session"
)
MAX_BYTES = 32 * 1024 * 1024
MAX_DAYS = 180
LEAST_BYTES = 256 * 1024


class Consent(msgspec.Struct, frozen=True):
    """What was said about one repository, when (seconds since 1970), and the bounds of its journal.

    `over_http`: calls to `codenib serve` too. `tenant`: only those of this tenant's tokens.
    """

    repository: str
    on: bool
    at: float
    recorded: tuple[str, ...] = RECORDED
    max_bytes: int = MAX_BYTES
    max_days: int = MAX_DAYS
    over_http: bool = False
    tenant: str = ""


def consent_file(repository: Repository, tenant: str = "") -> Path:
    """Where the consent of a repository, or of a tenant for it, is; all its worktrees share it."""
    return home_file("journal") / f"{_name(repository, tenant)}.json"


def journal_file(repository: Repository, tenant: str = "") -> Path:
    """Where the entries of a repository are; those of a tenant lie in a file of their own."""
    return home_file("journal") / f"{_name(repository, tenant)}.sqlite"


def consent_files() -> list[Path]:
    """The consents of all repositories of this home."""
    return sorted(home_file("journal").glob("*.json"))


def read_consent(file: Path) -> Consent | None:
    """What was said; None where nobody said anything."""
    try:
        return read_home_file(file, Consent)
    except FileNotFoundError:
        return None
    except UNDECODABLE as error:
        raise StateError(f"{file} is damaged: {error}", hint="codenib journal on") from error


def give_consent(
    path: str | Path,
    *,
    max_bytes: int = MAX_BYTES,
    max_days: int = MAX_DAYS,
    over_http: bool = False,
    tenant: str = "",
    now: float | None = None,
) -> Consent:
    """Record from now on what agents ask of the repository at `path`, or what those of a tenant ask."""
    if max_bytes < LEAST_BYTES or max_days < 1:
        raise InputError(
            f"a journal has at least {LEAST_BYTES // 1024} KiB and a day", hint="codenib journal on"
        )
    repository = locate(Path(path))
    recorded: tuple[str, ...] = RECORDED
    if tenant:
        first = f"what agents of tenant {tenant} ask over `codenib serve`: tool, arguments, time"
        recorded = (first, *RECORDED[1:])
    elif over_http:
        recorded = (*RECORDED, OVER_HTTP)
    consent = Consent(
        str(repository.root),
        True,
        _moment(now),
        recorded=recorded,
        max_bytes=max_bytes,
        max_days=max_days,
        over_http=bool(over_http or tenant),
        tenant=tenant,
    )
    _write(consent_file(repository, tenant), consent)
    return consent


def withdraw_consent(path: str | Path, *, tenant: str = "", now: float | None = None) -> Consent:
    """Record nothing more of it; what is recorded stays until it is forgotten."""
    repository = locate(Path(path))
    file = consent_file(repository, tenant)
    given = read_consent(file) or Consent(str(repository.root), False, _moment(now), tenant=tenant)
    consent = msgspec.structs.replace(given, on=False, at=_moment(now))
    _write(file, consent)
    return consent


def _name(repository: Repository, tenant: str) -> str:
    """A tenant's name may be anything, so that its files have a digest of it."""
    return (
        f"{repository.key}-{hashlib.sha256(tenant.encode()).hexdigest()[:16]}" if tenant else repository.key
    )


def _moment(now: float | None) -> float:
    return time.time() if now is None else now


def _write(file: Path, consent: Consent) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with home_file_lock(file):
        write_home_file(file, consent)
