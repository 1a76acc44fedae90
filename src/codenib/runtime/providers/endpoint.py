"""A model's name and options in, where and how it is asked out; and what its refusals mean."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from codenib.runtime.providers.keys import KEY_VARIABLES, find_key
from codenib.runtime.providers.retries import Broken, RetryLimits, retry_after

_AGAIN = (408, 409, 429)  # statuses that another attempt may change


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an API. Without a `base_url` it is the provider's own server."""

    provider: str
    model: str
    base_url: str | None
    key: str = field(repr=False)
    key_variable: str
    stream: bool
    retries: RetryLimits


def resolve_endpoint(
    provider: str,
    model: str,
    *,
    base_url: str | None = None,
    key_variable: str | None = None,
    stream: bool = True,
    retries: RetryLimits | None = None,
) -> Endpoint:
    """The endpoint of a model. `base_url` defaults to $PROVIDER_BASE_URL, the key to the provider's own."""
    url = base_url or os.environ.get(f"{provider.upper()}_BASE_URL") or None
    return Endpoint(
        provider=provider,
        model=model,
        base_url=url,
        key=find_key(provider, key_variable, needed=url is None),
        key_variable=key_variable or KEY_VARIABLES[provider][0],
        stream=stream,
        retries=retries or RetryLimits(),
    )


def broken_status(endpoint: Endpoint, status: int, message: str, headers: Mapping[str, str]) -> Broken:
    """What an HTTP status means for the next attempt, with the command that helps when none does."""
    why = f"{endpoint.provider} answered {status}: {message}"
    if status in _AGAIN or status >= 500:
        spent = "insufficient_quota" in message or "credit balance" in message
        return Broken(why, again=not spent, after_s=retry_after(headers), hint="try again later")
    if status in (401, 403):
        return Broken(why, again=False, hint=f"export {endpoint.key_variable}=…")
    if status == 404:
        return Broken(why, again=False, hint=f"--model: is {endpoint.model!r} right?")
    if status in (400, 413) and any(
        word in message for word in ("context", "too long", "too large", "maximum")
    ):
        return Broken(why, again=False, hint="--history-tokens 48000, or --policy compact")
    return Broken(why, again=False, hint="codenib agent --help")
