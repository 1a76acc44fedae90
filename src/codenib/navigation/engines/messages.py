"""Bytes of a language server's output in, messages of JSON-RPC out, and back."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import msgspec

from codenib.core.errors import UNDECODABLE

_NULL = msgspec.Raw(b"null")
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,12})[ \t]*$", re.IGNORECASE | re.MULTILINE)
_MAX_HEADER = 1 << 16


class FrameError(ValueError):
    """The bytes are no message of the protocol."""


class Frames:
    """Bytes in any pieces in, the bodies of whole messages out."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._need = -1  # the length of the body that is being read; -1 while reading a header

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that `data` completes.

        >>> frames = Frames()
        >>> frames.feed(b"Content-Length: 2\\r\\n\\r\\n{"), frames.feed(b"}Content")
        ([], [b'{}'])
        """
        self._buffer += data
        bodies = []
        while self._need >= 0 or self._header():
            if len(self._buffer) < self._need:
                break
            bodies.append(bytes(self._buffer[: self._need]))
            del self._buffer[: self._need]
            self._need = -1
        return bodies

    def _header(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _MAX_HEADER:
                raise FrameError(f"no header within {_MAX_HEADER} bytes: {bytes(self._buffer[:80])!r}")
            return False
        header = bytes(self._buffer[:end]).replace(b"\r\n", b"\n")
        found = _LENGTH.search(header)
        if found is None:
            raise FrameError(f"a header without a length: {header[:80]!r}")
        del self._buffer[: end + 4]
        self._need = int(found[1])
        return True


def frame(message: object) -> bytes:
    """A message with its header."""
    body = msgspec.json.encode(message)
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class ErrorBody(msgspec.Struct):
    code: int = 0
    message: str = ""


class ServerMessage(msgspec.Struct):
    """Any message; the parts that only their reader understands stay as they came."""

    id: int | str | None = None
    method: str | None = None
    params: msgspec.Raw = _NULL
    result: msgspec.Raw = _NULL
    error: ErrorBody | None = None


def decode(body: bytes) -> ServerMessage:
    """The message of a body; FrameError when it is none."""
    with suppress(*UNDECODABLE):
        return msgspec.json.decode(body, type=ServerMessage)
    try:
        # Servers on Node write half of a surrogate pair as an escape, which strict JSON readers refuse.
        plain = json.dumps(json.loads(body), ensure_ascii=False).encode("utf-8", "replace")
        return msgspec.json.decode(plain, type=ServerMessage)
    except UNDECODABLE as error:
        raise FrameError(str(error)) from error
