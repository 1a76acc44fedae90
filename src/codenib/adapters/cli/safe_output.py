"""A text stream in, one that shows no secret, and on a terminal no control character, of a repository out."""

from __future__ import annotations

from typing import IO, Any

from codenib.core.text.printable import escape_controls, mask_secrets


class SafeOutput:
    """Every command's standard output. Colours pass; a pipe gets the text as it is, but for secrets."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._terminal = stream.isatty()

    def write(self, text: str) -> int:
        masked = mask_secrets(text)
        return self._stream.write(escape_controls(masked, styled=True) if self._terminal else masked)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
