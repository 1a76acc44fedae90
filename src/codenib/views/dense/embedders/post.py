"""JSON posted to an HTTP endpoint: a body in, the reply's bytes out, with patience for busy servers.

The key is sent in one header and appears nowhere else: not in an error, not in a `repr`, not at a redirect.
"""

from __future__ import annotations

import email.utils
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, ProviderError

EMBED_KEYS = ("CODENIB_EMBED_KEY", "OPENAI_API_KEY")  # ours, then what other programs read
LONGEST_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to keep trying: the wait doubles from `first_s` to `longest_s`; a server may ask for more."""

    attempts: int = 6
    first_s: float = 0.5
    longest_s: float = 20.0
    longest_asked_s: float = 120.0
    timeout_s: float = 60.0


DEFAULT_RETRIES = RetryPolicy()


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    retry_after: str
    body: bytes


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another address."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Poster:
    """Posts to `url`. `address` is that without its query, fit for messages."""

    url: str
    address: str
    key: str = field(default="", repr=False)
    key_variable: str = EMBED_KEYS[0]  # named where the key is not accepted
    patience: RetryPolicy = DEFAULT_RETRIES
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time

    def post(self, body: bytes, *, first: bool = False) -> bytes:
        """The reply's body, after waiting where the server is busy, slow or lost.

        A server that was never there is no reason to wait: the `first` post fails at once on it.
        """
        attempt = 0
        while True:
            attempt += 1
            asked = ""
            try:
                reply = self._send(body)
            except (OSError, http.client.HTTPException) as error:
                failure = self._unreachable(error)
                again = not first or _timed_out(error)
            else:
                if reply.status == 200:
                    return reply.body
                failure = self._refused(reply)
                again = reply.status in (408, 429) or reply.status >= 500
                asked = reply.retry_after
            wait_s = self._wait_s(attempt, asked)
            if not again or attempt >= self.patience.attempts or wait_s > self.patience.longest_asked_s:
                raise failure
            self.sleep(wait_s)

    def _send(self, body: bytes) -> _Reply:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "codenib"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")
        opener = urllib.request.build_opener(_NoRedirect)
        try:
            with opener.open(request, timeout=self.patience.timeout_s) as answer:
                return _Reply(answer.status, "", answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return _Reply(error.code, error.headers.get("Retry-After", ""), error.read())

    def _wait_s(self, attempt: int, asked: str) -> float:
        doubled = min(self.patience.first_s * 2.0 ** (attempt - 1), self.patience.longest_s)
        return max(doubled, _asked_s(asked, self.now()))

    def _unreachable(self, error: Exception) -> ProviderError:
        reason = getattr(error, "reason", None) or str(error) or type(error).__name__
        return ProviderError(
            f"no answer from {self.address}: {self._clean(str(reason))}",
            hint=f"curl {self.address}",
        )

    def _refused(self, reply: _Reply) -> ProviderError:
        said = f"{self.address} answered {reply.status}"
        if reply.status in (401, 403):  # some servers repeat the key in what they say, so that is not shown
            return ProviderError(
                f"{said}: the key is missing or not accepted", hint=f"export {self.key_variable}=KEY"
            )
        message = self._clean(_error_message(reply.body))
        return ProviderError(f"{said}: {message}" if message else said, hint=f"curl {self.address}")

    def _clean(self, text: str) -> str:
        text = text.replace(self.key, "***") if self.key else text
        return " ".join(text.split())[:LONGEST_MESSAGE]


def choose_key(environment: dict[str, str], url: str, variables: tuple[str, str] = EMBED_KEYS) -> str:
    """The key of the environment. OpenAI's goes only over TLS or to this machine, ours wherever told."""
    ours, openai = variables
    parts = urllib.parse.urlsplit(url)
    private = parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")
    name = ours if environment.get(ours) or not private else openai
    key = environment.get(name, "").strip()
    # http.client would repeat such a key in its own error.
    if not key.isascii() or not key.isprintable():
        raise InputError(f"{name} holds characters that no key has", hint=f"export {name}=KEY")
    return key


def post_addresses(base_url: str, ending: str, hint: str, key_variable: str) -> tuple[str, str]:
    """The address below `base_url` to post to, and the same without its query, fit for messages."""
    try:
        parts = urllib.parse.urlsplit(base_url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InputError("not the URL of an endpoint", hint=hint) from error
    if parts.scheme not in ("http", "https") or not host:
        raise InputError("an endpoint needs a URL with http or https and a host", hint=hint)
    if parts.username or parts.password:
        raise InputError(f"the URL of {host} holds a password", hint=f"export {key_variable}=KEY")
    path = parts.path.rstrip("/").removesuffix(ending) + ending
    netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    address = urllib.parse.urlunsplit((parts.scheme, netloc, path, "", ""))
    return urllib.parse.urlunsplit((parts.scheme, netloc, path, parts.query, "")), address


def _timed_out(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError)


def _asked_s(header: str, now: float) -> float:
    """Seconds of a Retry-After header, which gives a number or a date; 0 for neither."""
    header = header.strip()
    if header.replace(".", "", 1).isdecimal():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - now)
    except ValueError:
        return 0.0


def _error_message(body: bytes) -> str:
    """`error.message` where the body has one, else its beginning."""
    try:
        value = msgspec.json.decode(body)
    except UNDECODABLE:
        return body[:LONGEST_MESSAGE].decode(errors="replace")
    error = value.get("error", value) if isinstance(value, dict) else value
    return str(error.get("message", error) if isinstance(error, dict) else error)
