"""A text stream in, one that shows no secret, and on a terminal no control character, of a repository out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from codenib.core.errors import InputError
from codenib.core.text.masking import mask_secrets
from codenib.core.text.printable import escape_controls


class ReaderGone(Exception):
    """Nobody reads our output any more: `codenib … | head`. No error, and nothing to say."""


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGone from error  # click would end such a command with 1, as a failure of ours
    except OSError as error:
        raise InputError(f"the output cannot be written: {error.strerror}") from error


class SafeOutput:
    """Every command's standard output. Colours pass; a pipe gets the text as it is, but for secrets."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._terminal = stream.isatty()

    def write(self, text: str) -> int:
        masked = mask_secrets(text)
        with _writing():
            return self._stream.write(escape_controls(masked, styled=True) if self._terminal else masked)

    def flush(self) -> None:
        with _writing():
            self._stream.flush()

    @property
    def inner(self) -> IO[str]:
        """The stream that is written to."""
        return self._stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
