"""The file of a journal: private, bounded, shared, and forgotten for good."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from codenib.core.errors import StateError
from codenib.learning.journal.consent import LEAST_BYTES
from codenib.learning.journal.entries import CallEntry, EditEntry, GivenPlace
from codenib.learning.journal.store import JournalStore

DAY = 86_400.0
TOKEN = "ghp_" + "a1" * 18


def call(at: float, query: str = "where are sessions signed", **more: object) -> CallEntry:
    return CallEntry(at, "s1", "tree", "search", {"query": query}, **more)  # type: ignore[arg-type]


def test_entries_come_back_in_the_order_of_time(tmp_path: Path) -> None:
    first = call(1.0, places=(GivenPlace("a.py", 3, 9, "f"),), snapshot="one")
    edit = EditEntry(2.0, "s1", "tree", "one", "two", None, None, paths=("a.py",), total=1)
    with JournalStore(tmp_path / "j.sqlite", max_days=100_000) as store:
        store.append([call(3.0)])
        store.append([edit, first])
        assert store.entries() == [first, edit, call(3.0)]
        assert store.entries(since=2.0, until=3.0) == [edit]
        last = store.last_call("tree")
        assert last is not None and last.snapshot == "one"
        assert store.last_call("another worktree") is None


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "journal" / "j.sqlite"
    with JournalStore(file) as store:
        store.append([call(1e12)])
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert {"j.sqlite", "j.sqlite-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}


def test_secrets_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key that no format tells")
    with JournalStore(tmp_path / "j.sqlite") as store:
        store.append([call(1e12, f"why is {TOKEN} refused"), call(1e12, "a key that no format tells")])
        questions = [entry.query for entry in store.entries() if isinstance(entry, CallEntry)]
    assert questions[0].startswith("why is ghp_[masked]*") and questions[0].endswith(" refused")
    assert questions[1] == "[key removed]"
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert TOKEN.encode() not in written and b"no format tells" not in written


def test_the_oldest_entries_go_when_it_is_full(tmp_path: Path) -> None:
    bound = 256 * 1024
    with JournalStore(tmp_path / "j.sqlite", max_bytes=bound) as store:
        for number in range(40):
            store.append([call(1e12 + number * 10 + each, "x" * 2000) for each in range(10)])
            assert store.size_bytes <= bound
        times = [entry.at for entry in store.entries()]
        assert times[-1] == 1e12 + 399
        assert 50 < len(times) < 130
        assert times == [1e12 + number for number in range(400 - len(times), 400)]


def test_a_full_journal_gives_its_space_back(tmp_path: Path) -> None:
    file = tmp_path / "j.sqlite"
    with JournalStore(file, max_bytes=LEAST_BYTES) as store:
        store.append([call(1e12 + number, "x" * 3000) for number in range(1000)])
    assert file.stat().st_size <= LEAST_BYTES


def test_forgetting_beside_a_reader_says_that_the_bytes_are_still_there(tmp_path: Path) -> None:
    file = tmp_path / "j.sqlite"
    with JournalStore(file) as store:
        store.append([call(1e12, "peculiar question")])
        reader = sqlite3.connect(file, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        store._database.run(lambda connection: connection.execute("PRAGMA busy_timeout = 1").fetchall())
        with pytest.raises(StateError, match="1 entries are removed, but another process reads the journal"):
            store.forget()
        reader.close()
        assert store.forget() == 0
        assert b"peculiar" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_entries_past_their_age_go(tmp_path: Path) -> None:
    with JournalStore(tmp_path / "j.sqlite", max_days=2) as store:
        store.append([call(10 * DAY)], now=10 * DAY)
        store.append([call(11 * DAY)], now=11 * DAY)
        store.append([call(12.5 * DAY)], now=12.5 * DAY)
        assert [entry.at for entry in store.entries()] == [11 * DAY, 12.5 * DAY]


def test_what_is_forgotten_is_in_no_file(tmp_path: Path) -> None:
    with JournalStore(tmp_path / "j.sqlite") as store:
        store.append([call(1e12, f"peculiar question {number}") for number in range(50)])
        store.append([call(2e12, "another matter")])
        assert store.forget(until=2e12) == 50
        assert len(store) == 1
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"peculiar" not in written
    assert b"another matter" in written


def test_processes_write_at_once_and_none_is_lost(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from codenib.learning.journal.store import JournalStore\n"
        "from codenib.learning.journal.entries import CallEntry\n"
        "for number in range(30):\n"
        "    with JournalStore(Path(sys.argv[1])) as store:\n"
        "        store.append([CallEntry(1e12 + number, sys.argv[2], 'tree', 'search', {})])\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "j.sqlite"), f"writer {number}"])
        for number in range(2)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with JournalStore(tmp_path / "j.sqlite") as store:
        sessions = [entry.session for entry in store.entries()]
    assert (sessions.count("writer 0"), sessions.count("writer 1")) == (30, 30)
