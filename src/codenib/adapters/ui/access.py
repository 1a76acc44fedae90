"""A token in, a cookie out; then a cookie in, what its visitor may see out.

`codenib ui` opens an address with a token that works once. `codenib serve` takes the tokens of `codenib
token` and asks at each request whether the token is still there: a revoked one ends its pages at once.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from pathlib import Path

from codenib.adapters.mcp.transport.tokens import AccessTokens, TokenRow

_MOST_SESSIONS = 1000  # the oldest goes; each is a token that somebody had

#: Whether the repository at a root may be looked at.
Allows = Callable[[Path], bool]


class PageAccess:
    """Who may look: without `tokens`, whoever had the one-time token; with `anyone` there is no check."""

    def __init__(self, tokens: AccessTokens | None = None, *, anyone: bool = False) -> None:
        self._tokens = tokens
        self._anyone = anyone
        self._unused: str | None = None
        self._sessions: dict[str, str] = {}  # hash of a cookie's value → id of its token, empty for ours

    def one_time_token(self) -> str:
        """A token for the address that is opened; the one before it is worth nothing from now on."""
        self._unused = secrets.token_urlsafe(32)
        return self._unused

    def enter(self, token: str) -> str | None:
        """The value of a new visitor's cookie; None where the token is worth nothing, or was used."""
        if self._unused is not None and hmac.compare_digest(token.encode(), self._unused.encode()):
            self._unused = None
            return self._begin("")
        row = self._tokens.find(token) if self._tokens is not None else None
        if row is None or row.views or row.tokens_per_day is not None:
            return (
                None  # pages count no tokens and show every view: they are not for a token with such limits
            )
        return self._begin(row.id)

    def visitor(self, cookie: str) -> Allows | None:
        """What the visitor with this cookie may see; None for nobody we know."""
        if self._anyone:
            return lambda root: True
        session = self._sessions.get(_hash(cookie)) if cookie else None
        if session is None:
            return None
        if not session:
            return lambda root: True
        row = self.token_of(cookie)
        return row.allows if row is not None else None

    def token_of(self, cookie: str) -> TokenRow | None:
        """The token that the visitor with this cookie had; None where it is gone or there was none."""
        session = self._sessions.get(_hash(cookie)) if cookie else None
        return self._tokens.by_id(session) if session and self._tokens is not None else None

    def _begin(self, token: str) -> str:
        value = secrets.token_urlsafe(32)
        while len(self._sessions) >= _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[_hash(value)] = token
        return value


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
