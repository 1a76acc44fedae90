"""Push events: whose secret is right, and which repositories they are about."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from codenib.core.errors import InputError
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import EntryOptions, entry_of
from codenib.fleet.catalogue.webhook import WebhookRefused, pushed_entries

SECRET = "a secret"


def _catalogue() -> Catalogue:
    sources = ("git@example.org:team/app.git", "https://example.org/team/lib")
    return Catalogue.open().add([entry_of(source, EntryOptions()) for source in sources])


def _signed(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


@pytest.mark.parametrize(
    ("event", "names"),
    [
        ({"repository": {"clone_url": "https://example.org/Team/App.git"}}, ["team/app"]),
        ({"project": {"git_ssh_url": "git@example.org:team/lib.git", "id": 3}}, ["team/lib"]),
        ({"repository": {"clone_url": "https://elsewhere.org/team/app.git"}}, []),
        ({"repository": "team/app"}, []),
        ([], []),
    ],
)
def test_an_event_names_a_repository_by_any_of_its_addresses(event: object, names: list[str]) -> None:
    body = json.dumps(event).encode()
    for headers in (
        {"X-Hub-Signature-256": f"sha256={_signed(body)}"},
        {"x-gitea-signature": _signed(body)},
        {"X-Gitlab-Token": SECRET},
    ):
        assert [entry.name for entry in pushed_entries(_catalogue(), body, headers, SECRET)] == names


def test_an_event_without_the_secret_is_refused() -> None:
    body = b'{"repository": {"clone_url": "https://example.org/team/app.git"}}'
    signed = {"X-Hub-Signature-256": f"sha256={_signed(body)}"}
    for headers, given in (
        ({}, body),
        ({"X-Gitlab-Token": ""}, body),
        ({"X-Hub-Signature-256": f"sha256={_signed(body, 'other')}"}, body),
        (signed, body + b" "),
    ):
        with pytest.raises(WebhookRefused):
            pushed_entries(_catalogue(), given, headers, SECRET)
    with pytest.raises(InputError, match="no secret"):
        pushed_entries(_catalogue(), body, {"X-Gitlab-Token": ""}, "")


def test_a_body_that_is_no_json_is_refused() -> None:
    with pytest.raises(InputError, match="no JSON"):
        pushed_entries(_catalogue(), b"payload=%7B", {"X-Gitlab-Token": SECRET}, SECRET)
