"""Texts of C and C++ files in, the words out that their macros take from where they are used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+\w+(?:\(([^)]*)\))?([^\n]*)", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")


def free_words(text: bytes) -> set[str]:
    """The words of macro bodies that are no parameters: names of locals among them are used by the macro.

    >>> sorted(free_words(b"#define ADD(x) (total += (x))"))
    ['total']
    """
    found: set[str] = set()
    for match in _DEFINE.finditer(text.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")):
        parameters = set(_WORD.findall(match[1] or b""))
        found |= {word.decode("ascii") for word in _WORD.findall(match[2]) if word not in parameters}
    return found


def free_words_of(root: Path, files: Iterable[str]) -> frozenset[str]:
    """Those of all these files; one that cannot be read has none."""
    found: set[str] = set()
    for path in files:
        try:
            found |= free_words((root / path).read_bytes())
        except OSError:
            continue
    return frozenset(found)
