"""Spans that were sent in, whether a span was sent before out: what keeps a session from paying twice."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE, InputError
from codenib.manifest.files import replace_file


class Ledger:
    """The lines that a session was sent, by path and blob digest: an edited file is new again.

    >>> ledger = Ledger()
    >>> ledger.add("a.py", "d1", [1, 2, 3])
    >>> ledger.has("a.py", "d1", [2, 3]), ledger.has("a.py", "d2", [2, 3])
    (True, False)

    A ledger may build on `earlier` ones, which it does not change: it then holds what was sent since.
    """

    def __init__(self, earlier: Iterable[Ledger] = ()) -> None:
        self._lines: dict[tuple[str, str], set[int]] = {}
        self._earlier = tuple(earlier)

    def add(self, path: str, digest: str, lines: Iterable[int]) -> None:
        """Remember lines of a file as sent."""
        self._lines.setdefault((path, digest), set()).update(lines)

    def has(self, path: str, digest: str, lines: Iterable[int]) -> bool:
        """Whether all these lines were sent, of the file as it is now."""
        key = path, digest
        sent = [each._lines[key] for each in (self, *self._earlier) if key in each._lines]
        return set().union(*sent).issuperset(lines) if sent else not list(lines)

    def __len__(self) -> int:
        """How many lines were sent."""
        return sum(map(len, self._lines.values()))

    def save(self, file: Path) -> None:
        """Keep it for the next process."""
        rows = [(path, digest, sorted(lines)) for (path, digest), lines in sorted(self._lines.items())]
        replace_file(file, msgspec.json.encode(rows))

    @classmethod
    def load(cls, file: Path) -> Ledger:
        """What `save` wrote; an empty ledger when there is no such file."""
        ledger = cls()
        try:
            rows = msgspec.json.decode(file.read_bytes(), type=list[tuple[str, str, list[int]]])
        except FileNotFoundError:
            return ledger
        except (OSError, *UNDECODABLE) as error:
            raise InputError(f"{file} is not a ledger: {error}", hint="codenib explore --help") from error
        for path, digest, lines in rows:
            ledger.add(path, digest, lines)
        return ledger
