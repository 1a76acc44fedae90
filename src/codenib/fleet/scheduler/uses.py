"""What servers of this home were asked for, and what opening that cost: remembered over their starts.

Paths, counts and costs alone: nothing of what was asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from codenib.core.errors import UNDECODABLE
from codenib.serving.installation import home_file, read_home_file, write_home_file

_FILE = "serve-uses.json"
_HALF_LIFE_S = 7 * 86_400.0  # what nobody asks for any more is not opened at a start
_FORGOTTEN = 0.01


class RepositoryUse(msgspec.Struct, frozen=True):
    """Uses as of a moment, each of which halves in a week; seconds of opening, and bytes of what is open."""

    at: float
    uses: float
    reopen_s: float
    size_bytes: float

    def uses_at(self, now: float) -> float:
        """How much it was used lately.

        >>> RepositoryUse(0.0, 8.0, 0.1, 1.0).uses_at(14 * 86_400.0)
        2.0
        """
        return self.uses * math.pow(0.5, max(now - self.at, 0.0) / _HALF_LIFE_S)


def read_uses() -> dict[str, RepositoryUse]:
    """What is remembered, by the path of each repository; nothing where that is missing or damaged."""
    try:
        return read_home_file(home_file(_FILE), dict[str, RepositoryUse])
    except (OSError, *UNDECODABLE):
        return {}


def write_uses(rows: Mapping[str, RepositoryUse]) -> None:
    """Remember these. A full disk costs a slower first answer after the next start."""
    newest = max((row.at for row in rows.values()), default=0.0)
    lasting = {key: row for key, row in rows.items() if row.uses_at(newest) > _FORGOTTEN}
    with suppress(OSError):
        write_home_file(home_file(_FILE), lasting)
