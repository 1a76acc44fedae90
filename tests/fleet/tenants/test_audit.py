"""The audit log: private, bounded, readable after a kill, and without texts where that is wanted."""

from __future__ import annotations

from pathlib import Path

from codenib.fleet.tenants.audit import AuditLog, AuditRow, read_audit


def _row(number: int, asked: str = "") -> AuditRow:
    return AuditRow(time=float(number), request=f"{number:08}", outcome="answered", asked=asked)


def test_the_log_is_bounded_and_the_newest_rows_stay_in_order(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit", file_bytes=1000, files=3)
    for number in range(100):
        log.write(_row(number))
    log.close()
    files = sorted((tmp_path / "audit").iterdir())
    assert [file.name for file in files] == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    assert all(file.stat().st_size <= 1000 for file in files)
    times = [row.time for row in read_audit(tmp_path / "audit")]
    assert times == [float(each) for each in range(100 - len(times), 100)]
    assert len(times) > 20


def test_a_log_goes_on_where_the_last_server_ended_even_in_the_middle_of_a_line(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log.write(_row(1))
    log.close()
    with log.file.open("ab") as out:
        out.write(b'{"time":2.0,"requ\n')
    again = AuditLog(tmp_path)
    again.write(_row(3))
    again.close()
    assert [row.time for row in read_audit(tmp_path)] == [1.0, 3.0]


def test_only_its_user_may_read_the_log(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit", "hash")
    log.write(_row(1, "where is the key"))
    log.close()
    assert (tmp_path / "audit").stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in (tmp_path / "audit").iterdir())


def test_a_hashed_question_is_equal_to_itself_and_not_readable(tmp_path: Path) -> None:
    asked = []
    for _ in range(2):  # the key outlives the server
        log = AuditLog(tmp_path, "hash")
        log.write(_row(1, "where is the key"))
        log.write(_row(2, "something else"))
        log.close()
    asked = [row.asked for row in read_audit(tmp_path)]
    assert asked[0] == asked[2] != asked[1]
    assert "key" not in (tmp_path / "audit.jsonl").read_text()
    other = AuditLog(tmp_path / "other", "hash")
    other.write(_row(1, "where is the key"))
    other.close()
    assert [row.asked for row in read_audit(tmp_path / "other")] != asked[
        :1
    ]  # keyed: no dictionary of guesses


def test_a_question_can_be_left_out(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, "none")
    log.write(_row(1, "where is the key"))
    log.close()
    assert [row.asked for row in read_audit(tmp_path)] == [""]
