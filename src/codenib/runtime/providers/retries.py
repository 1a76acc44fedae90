"""One request in, its reply out, sent again while that may help. The libraries' own retries are off."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from codenib.runtime.context.messages import Reply, Usage
from codenib.runtime.providers.keys import hide
from codenib.runtime.providers.provider import ModelError, RunListener

_LONGEST_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """How long to keep trying: the wait doubles from `first_s` to `longest_s`; a server may ask for more."""

    attempts: int = 6
    first_s: float = 1.0
    longest_s: float = 30.0
    longest_asked_s: float = 120.0
    timeout_s: float = 600.0
    sleep: Callable[[float], None] = time.sleep


class Broken(Exception):
    """An attempt that failed: why, whether another may succeed, and what it had reported until then."""

    def __init__(
        self,
        why: str,
        *,
        again: bool,
        after_s: float | None = None,
        hint: str = "",
        wasted: Usage | None = None,
    ) -> None:
        super().__init__(why)
        self.why = hide(why)[:_LONGEST_MESSAGE]
        self.again = again
        self.after_s = after_s
        self.hint = hint
        self.wasted = wasted or Usage()


def send(once: Callable[[], Reply], retries: RetryLimits, listener: RunListener) -> Reply:
    """The reply of the first attempt that succeeds, with what those before it had cost."""
    wasted = Usage()
    started = time.perf_counter()
    for attempt in range(1, retries.attempts + 1):
        try:
            reply = once()
        except Broken as error:
            wasted = wasted + error.wasted
            if not error.again or attempt == retries.attempts:
                tries = f" after {attempt} attempts" if attempt > 1 else ""
                raise ModelError(f"{error.why}{tries}", hint=error.hint, wasted=wasted) from error
            wait_s = _wait(attempt, error.after_s, retries)
            listener.retry(error.why, wait_s)
            retries.sleep(wait_s)
        else:
            seconds = time.perf_counter() - started
            return msgspec.structs.replace(reply, wasted=wasted, seconds=seconds)
    raise AssertionError("unreachable")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait; given in milliseconds, seconds or as a date.

    >>> retry_after({"retry-after": "7"})
    7.0
    """
    milliseconds, seconds = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    try:
        return float(milliseconds) / 1000 if milliseconds else float(seconds)
    except ValueError:
        pass
    try:
        return max(email.utils.parsedate_to_datetime(seconds).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError):
        return None


def _wait(attempt: int, asked_s: float | None, retries: RetryLimits) -> float:
    own = min(retries.first_s * 2 ** (attempt - 1), retries.longest_s)
    return own if asked_s is None else min(max(asked_s, 0.0), retries.longest_asked_s)
