"""What one token is for, as a value: tenant, repositories, views and limits. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from codenib.core.errors import InputError
from codenib.core.views import ViewKind

EVERYTHING = "*"


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """What a token may ask for. A limit that is None is the server's own.

    `repositories` are roots, or globs (`*` and `?`) of roots; one without a slash is of a folder's or a
    catalogue's name. No `views` are all views. Tokens of one `tenant` share its turns.
    """

    tenant: str = ""
    repositories: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    requests_per_s: float | None = None
    concurrent: int | None = None
    tokens_per_day: int | None = None

    def allows(self, root: Path) -> bool:
        """Whether it is for the repository at `root`."""
        return any(
            _matches(pattern, str(root)) or ("/" not in pattern and _matches(pattern, root.name))
            for pattern in self.repositories
        )

    def allows_name(self, name: str, tenant: str = "") -> bool:
        """Whether it is for the repository that a catalogue has by this name, for this tenant.

        >>> Grant(tenant="a", repositories=("web-*",)).allows_name("web-shop", "b")
        False
        """
        if tenant and tenant != self.tenant:
            return False
        return any(_matches(pattern, name) for pattern in self.repositories)

    @property
    def view_kinds(self) -> frozenset[ViewKind] | None:
        """The views that may answer; None for all."""
        return frozenset(map(ViewKind, self.views)) if self.views else None


def check_grant(grant: Grant) -> None:
    """Raise for what no token can mean."""
    hint = "codenib token create NAME --repo PATH"
    if not all(pattern.strip() for pattern in grant.repositories):
        raise InputError("a repository of a token has a path or a glob", hint=hint)
    known = [kind.value for kind in ViewKind]
    if unknown := sorted(set(grant.views) - set(known)):
        raise InputError(f"no view is called {unknown[0]!r}; there are {', '.join(known)}", hint=hint)
    limits: Iterable[tuple[str, float | None]] = (
        ("rate", grant.requests_per_s),
        ("number of concurrent requests", grant.concurrent),
        ("number of tokens a day", grant.tokens_per_day),
    )
    for what, value in limits:
        if value is not None and not value > 0:
            raise InputError(f"the {what} of a token is more than 0, not {value}", hint=hint)


def is_glob(text: str) -> bool:
    """
    >>> is_glob("/srv/*"), is_glob("/srv/a[1]")
    (True, False)
    """
    return "*" in text or "?" in text


def _matches(pattern: str, text: str) -> bool:
    """By `*` and `?` alone: brackets in a folder's name are no set of characters.

    >>> _matches("/srv/*", "/srv/a/b"), _matches("/srv/a[1]", "/srv/a1"), _matches("/srv/a[1]", "/srv/a[1]")
    (True, False, True)
    """
    return pattern == text or fnmatchcase(text, pattern.replace("[", "[[]"))
