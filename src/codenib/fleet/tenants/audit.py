"""Calls in, lines of an audit log out: who asked what, when, of which repository, and how it ended.

JSON lines in a private folder, in a few files of bounded size. What was asked is written as it is, or as a
keyed hash: equal questions have equal hashes, and who has the log without the key can try no guesses.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import msgspec

from codenib.core.errors import UNDECODABLE
from codenib.serving.installation import home_file

#: What is written of a question: its text, a hash of it, or nothing.
AuditText = Literal["text", "hash", "none"]
_FILE_BYTES = 16_000_000
_FILES = 5
_TEXT = 2000  # characters of a question


class AuditRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request. `outcome` is `answered`, `failed` (an error of the tool), `refused` or `cancelled`."""

    time: float
    request: str
    outcome: str
    status: int = 0
    tenant: str = ""
    token: str = ""
    method: str = ""
    tool: str = ""
    repository: str = ""
    asked: str = ""
    arrived_s: float = 0.0  # after the first request of the process, by a clock that never jumps
    waited_ms: float = 0.0  # for its turn
    served_ms: float = 0.0  # that its turn took
    ms: float = 0.0
    tokens: int = 0
    more: int = 0  # refusals of this token that came within a second of the one before, and have no row
    plan: str = ""  # `cheaper` where the server was too busy for the plan that was asked for


class AuditLog:
    """Writes rows to `folder`/audit.jsonl; older ones are in audit.jsonl.1 and so on, the oldest go."""

    def __init__(
        self,
        folder: Path | None = None,
        text: AuditText = "text",
        *,
        file_bytes: int = _FILE_BYTES,
        files: int = _FILES,
    ) -> None:
        self._folder = folder or home_file("audit")
        self._text = text
        self._most = file_bytes
        self._files = files
        self._lock = threading.Lock()
        self._number: int | None = None
        self._size = 0
        self._key = b""

    @property
    def file(self) -> Path:
        """The file that is written now."""
        return self._folder / "audit.jsonl"

    def write(self, row: AuditRow) -> None:
        """Add a row; `OSError` where it cannot be written."""
        line = msgspec.json.encode(msgspec.structs.replace(row, asked=self._asked(row.asked))) + b"\n"
        with self._lock:
            if self._number is not None and self._size + len(line) > self._most:
                self._rotate()
            if self._number is None:
                self._open()
            assert self._number is not None
            self._size += os.write(self._number, line)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._number is not None:
                os.close(self._number)
                self._number = None

    def _asked(self, asked: str) -> str:
        if self._text == "none" or not asked:
            return ""
        if self._text == "text":
            return asked[:_TEXT]
        if not self._key:
            self._key = self._own_key()
        return blake2b(asked.encode("utf-8", "replace"), key=self._key, digest_size=16).hexdigest()

    def _own_key(self) -> bytes:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._folder / "key"
        try:
            number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return file.read_bytes()
        with os.fdopen(number, "wb") as out:
            key = secrets.token_bytes(32)
            out.write(key)
        return key

    def _open(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._number = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(self._number).st_size
        if self._size > self._most:
            self._rotate()
            self._open()

    def _rotate(self) -> None:
        assert self._number is not None
        os.close(self._number)
        self._number = None
        for at in range(self._files - 1, 0, -1):
            older = self._folder / f"audit.jsonl.{at}"
            newer = self._folder / f"audit.jsonl.{at - 1}" if at > 1 else self.file
            if newer.exists():
                newer.replace(older)


def read_audit(folder: Path | None = None) -> Iterator[AuditRow]:
    """All rows that there are, the oldest first; a line that a kill cut short is left out."""
    place = folder or home_file("audit")
    older = sorted(place.glob("audit.jsonl.*"), key=lambda file: -int(file.suffix[1:]))
    for file in (*older, place / "audit.jsonl"):
        if file.exists():
            yield from read_rows(file)


def read_rows(file: Path) -> Iterator[AuditRow]:
    """The rows of one file."""
    with file.open("rb") as lines:
        for line in lines:
            try:
                yield msgspec.json.decode(line, type=AuditRow)
            except UNDECODABLE:
                continue
