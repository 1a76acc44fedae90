"""Calls of MCP sessions in, entries of the repository's journal out, never in the way of a call.

A call puts a few values into a queue; a thread makes entries of them, compares snapshots and writes. Nothing
that goes wrong there reaches an answer: a journal that cannot be written loses entries, which are counted.
"""

from __future__ import annotations

import logging
import os
import queue
import re
import secrets
import threading
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import msgspec

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import CodenibError
from codenib.learning.journal.consent import Consent, consent_file, journal_file, read_consent
from codenib.learning.journal.edits import edit_between, published_files
from codenib.learning.journal.entries import (
    MOST_ARGUMENTS,
    MOST_NAME,
    MOST_PLACES,
    MOST_TEXT,
    AnsweringPlan,
    CallEntry,
    GivenPlace,
    JournalEntry,
)
from codenib.learning.journal.store import JournalStore, mask_entry_text
from codenib.manifest.store import Store
from codenib.snapshot.repository import Repository, locate
from codenib.snapshot.secrets import is_secret

_log = logging.getLogger("codenib")
_WAITING = 1000  # calls that may wait to be written; further ones are dropped and counted
_CLOSE_S = 5.0
# Between a call and its writing: the reply that is being sent has the interpreter for itself meanwhile.
_LATER_S = 0.1
#: Arguments that name files; the name of one that holds secrets is not written down.
_PATHS = frozenset({"path", "paths", "like"})
_SECRETS_FILE = "[secrets file]"
_LINES = re.compile(r":[\d:-]*\Z")


def new_session() -> str:
    """A name for the calls that belong together."""
    return f"{int(time.time()):x}-{secrets.token_hex(3)}"


class SessionRecorder:
    """Records the calls of one client, or over HTTP of all clients of one tenant.

    Whether it may is looked up at each call, which takes one `stat`.
    """

    def __init__(
        self, repository: str | Path | Repository, *, over_http: bool = False, tenant: str = ""
    ) -> None:
        self._repository = repository if isinstance(repository, Repository) else locate(Path(repository))
        self._over_http = over_http
        self._tenant = tenant
        self._file = consent_file(self._repository, tenant)
        self._state: tuple[int, int] | None = None
        self._consent: Consent | None = None
        self.session = new_session()
        self.lost = 0
        self._queue: queue.Queue[_Noted | None] = queue.Queue(_WAITING)
        self._writer: threading.Thread | None = None
        self._closing = threading.Event()

    @property
    def _may_record(self) -> Consent | None:
        """The consent that covers these calls; None where there is none."""
        given = self.consent
        if given is None or not given.on or given.tenant != self._tenant:
            return None
        return given if given.over_http or not self._over_http else None

    @property
    def consent(self) -> Consent | None:
        """What was said last about this repository; read again when its file changed."""
        try:
            info = os.stat(self._file)  # noqa: PTH116 - the one system call of a session that records nothing
            state = (info.st_mtime_ns, info.st_ino)
        except OSError:
            self._state = self._consent = None
            return None
        if state != self._state:
            try:
                self._consent = read_consent(self._file)
            except (CodenibError, OSError):
                self._consent = None  # nobody can say that there was one
            self._state = state
        return self._consent

    def note(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        facts: Mapping[str, Any],
        given: int,
        failed: bool,
        *,
        session: str = "",
    ) -> None:
        """Record a call, if that was allowed: its arguments, its reply's facts, how many of the items it had.

        Takes microseconds and raises nothing. `session` is one's own where there are several.
        """
        if self._may_record is None:
            return
        if self._writer is None:
            self._writer = threading.Thread(target=self._write_all, name="journal", daemon=True)
            self._writer.start()
        try:
            noted = _Noted(
                time.time(), session or self.session, tool, arguments, facts, given=given, failed=failed
            )
            self._queue.put_nowait(noted)
        except queue.Full:
            self.lost += 1

    def close(self) -> None:
        """Write what waits, and which files changed since the last call."""
        if self._writer is None:
            return
        self._closing.set()
        try:
            self._queue.put(None, timeout=_CLOSE_S)
        except queue.Full:
            return
        self._writer.join(_CLOSE_S)

    def _write_all(self) -> None:
        noted: _Noted | None
        while (noted := self._queue.get()) is not None:
            batch, last = [noted], False
            self._closing.wait(_LATER_S)
            while not self._queue.empty():
                if (further := self._queue.get()) is None:
                    last = True
                    break
                batch.append(further)
            self._attempt(batch)
            if last:
                break
        self._attempt([])

    def _attempt(self, batch: Sequence[_Noted]) -> None:
        """Write a batch, or without one what changed since; what fails is lost, counted and logged."""
        try:
            self._write(batch)
        except Exception as error:  # noqa: BLE001 - an answer never depends on its journal
            self.lost += len(batch)
            _log.warning("the journal could not be written: %s", error)

    def _write(self, batch: Sequence[_Noted]) -> None:
        consent = self._may_record
        if consent is None:
            return
        with JournalStore(
            journal_file(self._repository, self._tenant),
            max_bytes=consent.max_bytes,
            max_days=consent.max_days,
        ) as store:
            if not batch:
                record_edits_since(self._repository, store)
                return
            store.append(self._entries(batch, store.last_call(self._repository.worktree_key)))

    def _entries(self, batch: Sequence[_Noted], last: CallEntry | None) -> list[JournalEntry]:
        entries: list[JournalEntry] = []
        stored = Store(self._repository.key)
        for noted in batch:
            call = noted.entry(self._repository.worktree_key)
            if call.snapshot and last is not None and last.snapshot != call.snapshot:
                files = published_files(stored, call.snapshot)
                if files is not None:
                    entries.append(edit_between(last, (call.snapshot, call.commit), files, stored, call.at))
            if call.snapshot:
                last = call
            entries.append(call)
        return entries


def record_edits_since(repository: Repository, store: JournalStore) -> None:
    """Add which files changed between a worktree's last call and now."""
    last = store.last_call(repository.worktree_key)
    if last is None:
        return
    stored = Store(repository.key)
    now = IndexCompiler(repository, stored).take()
    if now.id != last.snapshot:
        store.append([edit_between(last, (now.id, now.commit), now.files, stored, time.time())])


class _Noted(msgspec.Struct, frozen=True):
    """A call as the server knows it; nothing of it is changed later."""

    at: float
    session: str
    tool: str
    arguments: Mapping[str, Any]
    facts: Mapping[str, Any]
    given: int
    failed: bool

    def entry(self, worktree: str) -> CallEntry:
        facts = msgspec.to_builtins(self.facts)
        snapshot = facts.get("snapshot") or {}
        items = [each for each in facts.get("items", ())[: self.given] if isinstance(each, dict)]
        places = [_place(item) for item in items if item.get("path") and not is_secret(item["path"])]
        return CallEntry(
            self.at,
            self.session,
            worktree,
            tool=self.tool,
            arguments=_arguments(self.arguments),
            snapshot=snapshot.get("id", ""),
            commit=snapshot.get("commit"),
            dirty=bool(snapshot.get("dirty")),
            places=tuple(places[:MOST_PLACES]),
            left_out=max(len(places) - MOST_PLACES, 0),
            total=int(facts.get("total") or 0),
            plan=msgspec.convert(facts.get("plan") or {}, AnsweringPlan),
            tokens=int(facts.get("tokens") or 0),
            seconds=float(facts.get("seconds") or 0.0),
            failed=self.failed,
        )


def _place(item: Mapping[str, Any]) -> GivenPlace:
    line = int(item.get("line") or 0)
    return GivenPlace(
        str(item["path"]),
        line,
        end_line=int(item.get("end_line") or line),
        symbol=str(item.get("symbol") or ""),
        form=str(item.get("form") or ""),
        score=item.get("score"),
    )


def _arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as an entry has them; what a client sends in place of one is text."""
    named = ((name, value) for name, value in given.items() if value is not None)
    return {_cut(name)[:MOST_NAME]: _recorded(name, value) for name, value in islice(named, MOST_ARGUMENTS)}


def _recorded(name: str, value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return value
    tell = _cut_path if name in _PATHS else _cut
    if not isinstance(value, list | tuple):
        return tell(value)
    texts = [tell(each) for each in value[:MOST_PLACES]]
    fitting = bisect_right(list(accumulate(map(len, texts))), MOST_TEXT)
    return texts[: max(fitting, 1)]


def _cut(value: Any) -> str:
    """The beginning of a text, masked before: what is left of a token that is cut is not known as one."""
    return mask_entry_text(str(value))[:MOST_TEXT]


def _cut_path(value: Any) -> str:
    return _SECRETS_FILE if is_secret(_LINES.sub("", str(value))) else _cut(value)
