"""The provider's life with a server that does as it is told: start, settle, sync, crash, hang, stop."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.navigation.live.conftest import FAKE, MakeFake, Watched

from codenib.core.errors import InputError, ProviderError
from codenib.core.navigation import Location, Position
from codenib.navigation.live.session import LiveRequest, Timeouts
from codenib.navigation.live.text import ENCODINGS
from codenib.navigation.live.worktree import Changes

HELLO = Position("b.fake", 1, 4)
DEFINITION = (Location("a.fake", 1, 4, 1, 9),)
REFERENCES = (*DEFINITION, Location("a.fake", 2, 0, 2, 5), Location("b.fake", 1, 3, 1, 8))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_columns_are_code_points_whatever_the_server_counts(fake: MakeFake, encoding: str) -> None:
    provider = fake({"encoding": encoding})
    assert provider.references(HELLO).locations == REFERENCES


def test_locations_outside_the_root_are_counted_apart(fake: MakeFake) -> None:
    found = fake().definition(HELLO)
    assert found.locations == DEFINITION
    assert found.outside == 1
    assert found.settled


def test_symbols_of_a_file_come_with_their_ranges(fake: MakeFake) -> None:
    (symbol,) = fake().document_symbols("a.fake")
    assert (symbol.name, symbol.kind, symbol.selection) == ("s0", "function", DEFINITION[0])


def test_an_edit_on_disk_is_seen_by_the_next_request(fake: MakeFake, root: Path) -> None:
    provider = fake()
    assert provider.definition(HELLO).locations == DEFINITION
    (root / "b.fake").write_text("\nhello\n")
    assert provider.references(Position("b.fake", 2, 0)).locations[-1] == Location("b.fake", 2, 0, 2, 5)


def test_an_edit_of_an_open_file_reaches_requests_about_others(fake: MakeFake, root: Path) -> None:
    provider = fake()
    provider.definition(Position("a.fake", 1, 4))
    (root / "a.fake").write_text("\n\ndef hello\n")
    assert provider.definition(HELLO).locations == (Location("a.fake", 3, 4, 3, 9),)


def test_the_server_hears_of_files_that_come_change_and_go(
    fake: MakeFake, root: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    provider = fake({"log": str(log)})
    provider.definition(HELLO)
    (root / "c.fake").write_text("hello")
    (root / "a.fake").write_text("def hello")
    assert provider.references(HELLO).locations[-1] == Location("c.fake", 1, 0, 1, 5)
    (root / "c.fake").unlink()
    assert Location("c.fake", 1, 0, 1, 5) not in provider.references(HELLO).locations
    told = [message["params"]["changes"] for message in sent(log, "workspace/didChangeWatchedFiles")]
    names = [[(Path(event["uri"]).name, event["type"]) for event in changes] for changes in told]
    assert names == [[("c.fake", 1), ("a.fake", 2)], [("c.fake", 3)]]


def test_changed_files_are_opened_for_a_server_that_needs_it(
    fake: MakeFake, root: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    provider = fake({"log": str(log)}, server=replace(FAKE, opens_changed=True))
    provider.definition(HELLO)
    (root / "a.fake").write_text("def hello\n")
    provider.definition(HELLO)
    opened = [message["params"]["textDocument"] for message in sent(log, "textDocument/didOpen")]
    assert [Path(item["uri"]).name for item in opened] == ["b.fake", "a.fake"]


def test_without_watching_the_caller_reports_changes(fake: MakeFake, root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    provider = fake({"log": str(log)}, watch=False)
    provider.definition(HELLO)
    (root / "a.fake").write_text("def hello\n")
    provider.definition(HELLO)
    assert not sent(log, "workspace/didChangeWatchedFiles")
    provider.changed(Changes(changed=("a.fake",)))
    provider.definition(HELLO)
    assert len(sent(log, "workspace/didChangeWatchedFiles")) == 1


def test_no_answer_counts_before_the_server_has_loaded(fake: MakeFake, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    provider = fake({"gate": str(gate)})
    provider.start()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(provider.definition, HELLO)
        gate.write_bytes(b"")
        assert asked.result(60).locations == DEFINITION


def test_an_answer_of_a_server_that_never_loads_says_so(fake: MakeFake, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    found = fake({"gate": str(gate)}, times=Timeouts(settle_s=0.05)).definition(HELLO)
    assert (found.locations, found.settled) == ((), False)


@pytest.mark.parametrize(("growing", "rounds", "stable"), [(0, 2, True), (3, 4, True), (20, 8, False)])
def test_rounds_go_on_until_two_agree_but_not_for_ever(
    fake: MakeFake, root: Path, growing: int, rounds: int, stable: bool
) -> None:
    (root / "a.fake").write_text("def hello\n" + "hello\n" * 30)
    result = fake({"growing": growing}).warm_up([LiveRequest("references", HELLO)])
    assert (result.rounds, result.stable) == (rounds, stable)


def test_an_answer_that_the_server_takes_back_is_asked_again(fake: MakeFake) -> None:
    assert fake({"refuse": [-32801, "content modified", 5]}).definition(HELLO).locations == DEFINITION


def test_an_error_that_means_nothing_here_is_an_empty_answer(fake: MakeFake) -> None:
    assert fake({"refuse": [0, "nothing here", 2]}).definition(HELLO).locations == ()


def test_any_other_error_is_an_error(fake: MakeFake) -> None:
    with pytest.raises(ProviderError, match="internal confusion"):
        fake({"refuse": [-32603, "internal confusion", 9]}).definition(HELLO)


def test_after_a_crash_the_answer_is_the_same(fake: MakeFake, tmp_path: Path) -> None:
    plan = {"crash": {"on": "textDocument/definition", "times": 2, "count": str(tmp_path / "count")}}
    assert fake(plan).definition(HELLO).locations == DEFINITION


def test_a_server_killed_between_requests_is_started_again(fake: MakeFake) -> None:
    provider = fake()
    provider.definition(HELLO)
    first = provider.pid
    assert first is not None
    os.kill(first, 9)
    assert provider.definition(HELLO).locations == DEFINITION
    assert provider.pid not in (None, first)


@pytest.mark.parametrize("method", ["initialize", "textDocument/definition"])
def test_three_crashes_are_an_error_with_the_last_words(fake: MakeFake, tmp_path: Path, method: str) -> None:
    plan = {"crash": {"on": method, "times": 3, "count": str(tmp_path / "count")}}
    provider = fake(plan)
    with pytest.raises(ProviderError, match=r"crashed 3 times(.|\n)*out of cheese") as error:
        provider.definition(HELLO)
    assert error.value.hint
    assert provider.definition(HELLO).locations == DEFINITION  # the next caller may try once more


def test_a_time_out_is_an_error_and_a_hung_server_is_replaced(fake: MakeFake) -> None:
    provider = fake(
        {"hang": "textDocument/references", "deaf": True}, times=Timeouts(answer_s=2.0, cancel_s=0.1)
    )
    provider.definition(HELLO)
    first = provider.pid
    with pytest.raises(ProviderError, match="did not answer textDocument/references within 2 s"):
        provider.references(HELLO)
    assert provider.pid is None
    assert provider.definition(HELLO).locations == DEFINITION
    assert provider.pid != first


def test_four_threads_ask_at_once(fake: MakeFake) -> None:
    provider = fake()
    with ThreadPoolExecutor(4) as pool:
        asks = [provider.references if number % 2 else provider.definition for number in range(40)]
        found = [asked.result() for asked in [pool.submit(ask, HELLO) for ask in asks]]
    assert [answer.locations for answer in found] == [DEFINITION, REFERENCES] * 20


def test_four_threads_survive_a_crash_together(fake: MakeFake, tmp_path: Path) -> None:
    plan = {"crash": {"on": "textDocument/references", "times": 2, "count": str(tmp_path / "count")}}
    provider = fake(plan)
    provider.definition(HELLO)
    with ThreadPoolExecutor(4) as pool:
        assert [found.locations for found in pool.map(provider.references, [HELLO] * 4)] == [REFERENCES] * 4


def test_after_close_the_server_and_its_children_are_gone(fake: MakeFake, tmp_path: Path) -> None:
    provider = fake({"child": str(tmp_path / "child")})
    provider.definition(HELLO)
    running = Watched(provider.pid)
    assert int((tmp_path / "child").read_text()) in running.pids
    provider.close()
    assert running.all_end()
    with pytest.raises(ProviderError, match="closed"):
        provider.definition(HELLO)


def test_close_does_not_wait_for_a_server_that_loads(fake: MakeFake, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    provider = fake({"gate": str(gate)})
    provider.start()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(provider.definition, HELLO)
        provider.close()
        with pytest.raises(ProviderError, match="closed"):
            asked.result(60)


def test_an_idle_server_is_stopped_and_starts_again_when_asked(fake: MakeFake) -> None:
    provider = fake(times=Timeouts(idle_s=0.2))
    provider.definition(HELLO)
    assert provider.wait_stopped(60)
    assert provider.pid is None
    assert provider.definition(HELLO).locations == DEFINITION


def test_requests_of_the_server_are_answered_and_edits_refused(fake: MakeFake, tmp_path: Path) -> None:
    log = tmp_path / "log"
    asks = [
        ["workspace/configuration", {"items": [{"section": "fake.deep"}, {"section": "other"}]}],
        ["workspace/applyEdit", {"edit": {}}],
        ["client/registerCapability", {"registrations": []}],
        ["window/showDocument", {"uri": "file:///x"}],
        ["fake/unheardOf", {}],
        ["workspace/workspaceFolders", None],
    ]
    server = replace(FAKE, settings={"fake": {"deep": {"limit": 3}}})
    provider = fake({"log": str(log), "asks": asks}, server=server)
    provider.definition(HELLO)
    provider.close()
    replies = [m for m in messages(log) if str(m.get("id", "")).startswith("fake-")]
    assert [reply.get("result", reply.get("error", {}).get("code")) for reply in replies] == [
        [{"limit": 3}, None],
        {"applied": False, "failureReason": "this client only reads"},
        None,
        {"success": False},
        -32601,
        [{"uri": provider.root.as_uri(), "name": "root"}],
    ]


@pytest.mark.parametrize(
    ("position", "message"),
    [
        (Position("b.fake", 9, 0), "has 2 lines"),
        (Position("b.fake", 1, 99), "has 11 columns"),
        (Position("gone.fake", 1, 0), "not a file"),
        (Position("../a.fake", 1, 0), "below the root"),
        (Position("a.txt", 1, 0), "does not read"),
    ],
)
def test_a_position_that_is_not_there_is_the_callers_error(
    fake: MakeFake, position: Position, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        fake().definition(position)


def test_a_file_that_makes_the_server_run_programs_needs_trust(fake: MakeFake, root: Path) -> None:
    server = replace(FAKE, refuses=frozenset({"evil.toml"}))
    (root / "evil.toml").write_text("")
    with pytest.raises(ProviderError, match="not trusted"):
        fake(server=server, trusted=False).definition(HELLO)
    assert fake(server=server).definition(HELLO).locations == DEFINITION


def test_nothing_is_left_running_when_no_request_was_made(fake: MakeFake) -> None:
    before = threading.active_count()
    fake().close()
    assert threading.active_count() == before


def messages(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def sent(log: Path, method: str) -> list[dict[str, Any]]:
    return [message for message in messages(log) if message.get("method") == method]
