"""Messages over pipes: framing, time-outs, dead and deaf servers, requests of the server."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.navigation.live.conftest import fake_command

from codenib.core.errors import ProviderError
from codenib.navigation.engines.messages import FrameError, Frames, decode, frame
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.rpc import (
    Connection,
    ServerDied,
    ServerListener,
    ServerRefused,
    ServerSlow,
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers(-9, 9))), st.data())
def test_any_split_of_the_bytes_gives_the_same_messages(
    messages: list[dict[str, object]], data: st.DataObject
) -> None:
    stream = b"".join(map(frame, messages))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    frames = Frames()
    bodies = [
        body
        for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)
        for body in frames.feed(stream[start:end])
    ]
    assert [json.loads(body) for body in bodies] == messages


@pytest.mark.parametrize(
    "header",
    [
        "Content-Length: 2\r\n\r\n",
        "content-type: x\r\ncontent-length:2\r\n\r\n",
        "CONTENT-LENGTH:  2 \r\nA: b\r\n\r\n",
    ],
)
def test_headers_come_in_any_case_and_order(header: str) -> None:
    assert Frames().feed(header.encode() + b"{}") == [b"{}"]


@pytest.mark.parametrize("noise", [b"Content-Type: x\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"x" * 70_000])
def test_what_is_no_header_is_an_error(noise: bytes) -> None:
    with pytest.raises(FrameError):
        Frames().feed(noise)


def test_half_of_a_surrogate_pair_is_read() -> None:
    message = decode(b'{"id": 1, "result": "a\\ud800b"}')
    assert msgspec.json.decode(message.result) == "a?b"


def test_an_error_of_the_server_is_raised_with_its_code(tmp_path: Path) -> None:
    with_server = connect(tmp_path, {"refuse": [7, "not today", 1]})
    with pytest.raises(ServerRefused, match="not today") as error:
        with_server.request("textDocument/definition", {}, 30)
    assert error.value.code == 7
    with_server.close()


def test_a_dead_server_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    plan = {"crash": {"on": "x", "times": 1, "count": str(tmp_path / "count")}}
    connection = connect(tmp_path, plan)
    with pytest.raises(ServerDied, match=r"exit code 3\)\nFATAL: out of cheese"):
        connection.request("x", {}, 30)
    with pytest.raises(ServerDied, match="out of cheese"):
        connection.request("y", {}, 30)
    connection.close()


def test_a_server_that_hangs_costs_the_time_out(tmp_path: Path) -> None:
    connection = connect(tmp_path, {"hang": "x"})
    with pytest.raises(ServerSlow, match="did not answer x") as error:
        connection.request("x", {}, 0.05, cancel_s=0.05)
    assert error.value.hung
    assert connection.request("y", {}, 30) == msgspec.Raw(b"null")
    connection.close()


def test_a_server_that_reads_nothing_does_not_block_the_caller(tmp_path: Path) -> None:
    connection = connect(tmp_path, {"hang": "x", "deaf": True})
    for method in ("x", "y"):
        with pytest.raises(ServerSlow):
            connection.request(method, {"text": "x" * 10_000_000}, 0.05, cancel_s=0)
    connection.close(gently=False)
    with pytest.raises(ProcessLookupError):
        os.kill(connection.pid, 0)


def test_a_program_that_is_not_there_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="cannot be started") as error:
        connection(tmp_path, str(tmp_path / "ghost"))
    assert error.value.hint


def test_a_program_that_writes_something_else_is_an_error(tmp_path: Path) -> None:
    echo = connection(tmp_path, "echo", "hello\r\n\r\n")
    with pytest.raises(ServerDied, match=r"no message|output ended"):
        echo.request("x", {}, 30)
    echo.close()


def test_many_threads_each_get_their_own_answer(tmp_path: Path) -> None:
    (tmp_path / "a.fake").write_text("".join(f"def w{number}\n" for number in range(40)))
    connection = connect(tmp_path, {})
    connection.request("initialize", {"rootPath": str(tmp_path)}, 30)

    def ask(line: int) -> int:
        params = {
            "textDocument": {"uri": (tmp_path / "a.fake").as_uri()},
            "position": {"line": line, "character": 5},
        }
        found = msgspec.json.decode(connection.request("textDocument/definition", params, 30))
        return int(found[0]["range"]["start"]["line"])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(40))) == list(range(40))
    connection.close()


def connect(folder: Path, plan: Mapping[str, object]) -> Connection:
    return connection(folder, *fake_command(plan))


def connection(folder: Path, *command: str) -> Connection:
    return Connection(Program("fake", command, "codenib tools", folder), ServerListener())
