"""Bytes of a source in, the same text as UTF-8 out, where the source says in which encoding it is.

Everything that reads source reads UTF-8, so a line has the same number and the same characters everywhere. A
text that is valid UTF-8 stays as it is, whatever it declares; one that declares nothing does too.
"""

from __future__ import annotations

import codecs
import re

_HEAD = 400
# PEP 263's line, which editors read in other languages too; XML's declaration agrees with it.
_DECLARED = re.compile(rb"(?:[^\n]*\n)?[^\n]*?coding[:=][ \t]*[\"']?([-\w.]{2,40})")
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def as_utf8(data: bytes) -> bytes:
    """`data` in UTF-8 if a byte order mark or one of its first two lines names its encoding, else as it is.

    >>> as_utf8("# coding: latin-1\\ncafé".encode("latin-1")).decode()
    '# coding: latin-1\\ncafé'
    """
    if data.isascii():
        return data
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decoded(data, name) or data
    declared = _DECLARED.match(data, 0, _HEAD)
    if declared is None or _is_utf8(data):
        return data
    text = _decoded(data, declared[1].decode("ascii", "replace"))
    # An encoding that moves line ends would move every answer.
    return text if text is not None and text.count(b"\n") == data.count(b"\n") else data


def _decoded(data: bytes, encoding: str) -> bytes | None:
    try:
        return data.decode(encoding).encode()
    except (UnicodeError, LookupError):  # not that encoding after all, or none that Python has
        return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
