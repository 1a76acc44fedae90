"""Text of a repository in, a fence for it out: source must not pass for words of ours."""

from __future__ import annotations

import re

_TICKS = re.compile(r"`+")


def fence_of(text: str) -> str:
    """A fence that no line of the text can close.

    >>> fence_of("x = 1"), fence_of("a ```` b")
    ('```', '`````')
    """
    longest = max(map(len, _TICKS.findall(text)), default=0)
    return "`" * max(3, longest + 1)
