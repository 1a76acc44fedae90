"""Bearer tokens: made once and shown once; on disk only their hash, with the repositories they are for."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, StateError
from codenib.fleet.tenants.grant import Grant, check_grant
from codenib.serving.installation import home_file, home_file_lock, read_home_file, write_home_file

_PREFIX = "cnb"


class TokenRow(Grant, frozen=True, kw_only=True):
    """A token without its secret, and what it is for. One for `metrics` reads numbers of the whole server."""

    id: str
    name: str
    hash: str
    created: int
    metrics: bool = False


class AccessTokens:
    """The tokens of this home. A change of the file is seen at once, so a revoked token is dead at once."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or home_file("tokens.json")
        self._state: tuple[int, int, int] | None = None
        self._rows: dict[str, TokenRow] = {}

    def create(
        self,
        name: str,
        repositories: Sequence[str] = (),
        grant: Grant | None = None,
        *,
        metrics: bool = False,
    ) -> tuple[TokenRow, str]:
        """A new token and its text, which is nowhere kept; `grant` says more than `repositories` can."""
        grant = grant or Grant(repositories=tuple(repositories))
        if not name.strip():
            raise InputError("a token has a name", hint="codenib token create NAME")
        if not grant.repositories and not metrics:
            raise InputError("a token is for repositories", hint="codenib token create NAME --repo PATH")
        check_grant(grant)
        number, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        text = f"{_PREFIX}_{number}_{secret}"
        row = TokenRow(
            id=number,
            name=name,
            hash=_hash(text),
            created=int(time.time()),
            metrics=metrics,
            **msgspec.structs.asdict(grant),
        )
        with home_file_lock(self._file):
            self._save([*self.rows(), row])
        return row, text

    def revoke(self, number: str) -> TokenRow:
        """Forget a token, by its id or its name."""
        with home_file_lock(self._file):
            rows = self.rows()
            gone = [row for row in rows if number in (row.id, row.name)]
            if len(gone) != 1:
                what = "no token" if not gone else f"{len(gone)} tokens"
                raise InputError(f"{what} with the id or name {number!r}", hint="codenib token list")
            self._save([row for row in rows if row is not gone[0]])
        return gone[0]

    def rows(self) -> list[TokenRow]:
        """All tokens, oldest first."""
        self._load()
        return list(self._rows.values())

    def by_id(self, number: str) -> TokenRow | None:
        """The token with this id, unless it was revoked."""
        self._load()
        return self._rows.get(number)

    def find(self, text: str) -> TokenRow | None:
        """The token with this text, compared in constant time."""
        self._load()
        prefix, _, rest = text.partition("_")
        row = self._rows.get(rest.partition("_")[0]) if prefix == _PREFIX else None
        known = row.hash if row is not None else _hash("")
        same = hmac.compare_digest(_hash(text), known)
        return row if same and row is not None else None

    def _load(self) -> None:
        try:
            found = self._file.stat()
        except FileNotFoundError:
            self._state, self._rows = None, {}
            return
        state = (found.st_mtime_ns, found.st_size, found.st_ino)
        if state == self._state:
            return
        try:
            rows = read_home_file(self._file, list[TokenRow])
        except UNDECODABLE as error:
            raise StateError(f"{self._file} is damaged: {error}", hint=f"rm {self._file}") from error
        self._state, self._rows = state, {row.id: row for row in rows}

    def _save(self, rows: Sequence[TokenRow]) -> None:
        write_home_file(self._file, rows)
        self._state = None


def _hash(text: str) -> str:
    # The secret has 256 random bits, so a slow hash would add nothing.
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
