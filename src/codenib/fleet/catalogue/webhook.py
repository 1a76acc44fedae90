"""A push event of a git server in, the repositories of the fleet that it is about out.

The server's endpoint hands on the body and the headers; `pushed_entries` checks the secret and finds the
entries, and `sync_all` brings them up. Nothing of the event but the repository's addresses is used: what
moved is asked of the source, so that a forged or repeated event costs one exchange at most.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from codenib.core.errors import UNDECODABLE, InputError
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import RepositoryEntry

#: Bytes of a body that are looked at: events list commits, and GitHub sends 25 MB at most.
MOST_BYTES = 25 << 20
#: Where a keyed digest of the body is (GitHub; Gitea, Forgejo, Gogs), or the secret itself (GitLab).
_SIGNATURES = ("x-hub-signature-256", "x-gitea-signature", "x-forgejo-signature", "x-gogs-signature")
_PLAIN = "x-gitlab-token"
#: Fields of an event's `repository` or `project` that hold an address.
_ADDRESSES = (
    *("clone_url", "ssh_url", "git_url", "html_url", "git_http_url", "git_ssh_url", "http_url", "web_url"),
    "url",
)


class WebhookRefused(InputError):
    """The sender does not know the secret."""


def pushed_entries(
    catalogue: Catalogue, body: bytes, headers: Mapping[str, str], secret: str
) -> tuple[RepositoryEntry, ...]:
    """The entries whose source is the repository of a push event; none for one that the fleet does not have.

    `headers` may be in any case. A `WebhookRefused` says nothing but that the secret is wrong.
    """
    _check_secret(body, {name.lower(): value for name, value in headers.items()}, secret)
    try:
        event = msgspec.json.decode(body)
    except UNDECODABLE:
        raise InputError(
            "the event is no JSON", hint="choose JSON as the content type of the webhook"
        ) from None
    pushed = {address_of(address) for address in _addresses(event)} - {""}
    return tuple(entry for entry in catalogue.entries if address_of(entry.source) in pushed)


def address_of(source: str) -> str:
    """Host and path, by which the same repository is known under each of its URLs; "" for a local path.

    >>> address_of("git@Example.org:team/App.git") == address_of("https://x@example.org:443/team/app/")
    True
    """
    if "://" in source:
        try:
            parts = urlsplit(source)
        except ValueError:
            return ""
        host, path = parts.hostname or "", parts.path
    elif ":" in source and not source.startswith(("/", ".")):
        host, _, path = source.partition("@")[2].partition(":") if "@" in source else source.partition(":")
    else:
        return ""
    path = path.strip("/").removesuffix(".git").lower()
    return f"{host.lower()}/{path}" if host and path else ""


def _check_secret(body: bytes, headers: Mapping[str, str], secret: str) -> None:
    if not secret:
        raise InputError("no secret is set, so no event is accepted", hint="set the webhook's secret")
    wanted = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    for name in _SIGNATURES:
        given = headers.get(name, "").removeprefix("sha256=")
        if given and hmac.compare_digest(given.encode(), wanted.encode()):
            return
    if hmac.compare_digest(headers.get(_PLAIN, "").encode(), secret.encode()):
        return
    raise WebhookRefused("the webhook's secret is wrong")


def _addresses(event: Any) -> Iterator[str]:
    if isinstance(event, dict):
        for part in ("repository", "project"):
            fields = event.get(part)
            if isinstance(fields, dict):
                yield from (fields[name] for name in _ADDRESSES if isinstance(fields.get(name), str))
