"""A real S3 server (versitygw) on a free port, and a proxy before it that does what networks do."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parents[3] / ".tools" / "bin"
BUCKET = "fleet"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "testsecret", "AWS_REGION": "us-east-1"}


def program() -> str | None:
    """Where the server is, if `make tools` installed it."""
    return shutil.which("versitygw", path=f"{TOOLS}{os.pathsep}{os.environ.get('PATH', '')}")


@contextmanager
def s3_server(folder: Path) -> Iterator[int]:
    """A running server with one bucket; its port."""
    command = program()
    assert command is not None
    (folder / BUCKET).mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    secrets = {"ROOT_ACCESS_KEY_ID": "test", "ROOT_SECRET_ACCESS_KEY": "testsecret"}
    server = subprocess.Popen(
        [command, "--port", f"127.0.0.1:{port}", "--quiet", "--keep-alive", "posix", str(folder)],
        env={**os.environ, **secrets}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while server.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
        yield port
    finally:
        server.kill()
        server.wait()


def environment(port: int) -> dict[str, str]:
    """What points `s3://fleet` to a port of this machine."""
    return {**KEYS, "AWS_ENDPOINT": f"http://127.0.0.1:{port}", "AWS_ALLOW_HTTP": "true"}


#: Whether a fault is done to a request, by method and path; it is asked once for each.
When = Callable[[str, str], bool]


class FaultProxy:
    """Hands requests on to a server, and does a fault to some: what `when` chooses of the next `times`.

    `error`: 503 instead of the request; `reset`: the connection closes instead; `lost`: the server does it,
    and the connection closes without an answer; `slow`: the body comes in drops; `cut`: half of it comes.
    """

    def __init__(self, port: int) -> None:
        self._lock = threading.Lock()
        self._fault, self._times = "", 0
        self._when: When = lambda method, path: True
        self.done = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, port))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.port: int = self._server.server_address[1]

    def inject(self, fault: str, times: int, when: When = lambda method, path: True) -> None:
        """Do a fault to the next requests that `when` chooses."""
        with self._lock:
            self._fault, self._times, self._when, self.done = fault, times, when, 0

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, method: str, path: str) -> str:
        """The fault to do to a request; empty for none."""
        with self._lock:
            if not self._times or not self._when(method, path):
                return ""
            self._times -= 1
            self.done += 1
            return self._fault


def _handler(proxy: FaultProxy, port: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            fault = proxy.take(self.command, self.path)
            if fault == "error":
                self._answer(503, {"content-type": "application/xml"}, b"<Error/>")
                return
            if fault != "reset":
                status, headers, data = _forwarded(port, self.command, self.path, dict(self.headers), body)
                if fault != "lost":
                    self._answer(status, headers, data, fault)
                    return
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

        do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _pass  # noqa: N815

        def _answer(self, status: int, headers: dict[str, str], data: bytes, fault: str = "") -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                    self.send_header(name, value)
            length = headers.get("Content-Length", str(len(data))) if self.command == "HEAD" else len(data)
            self.send_header("content-length", str(length))
            self.end_headers()
            self.close_connection = self.close_connection or fault == "cut"
            for piece in _pieces(b"" if self.command == "HEAD" else data, fault):
                self.wfile.write(piece)
                self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    return Handler


def _pieces(data: bytes, fault: str) -> list[bytes]:
    """What is sent of a body, and how."""
    if fault == "slow":
        step = max(len(data) // 20, 1)
        return [data[start : start + step] for start in range(0, len(data), step)]
    return [data[: len(data) // 2] if fault == "cut" else data]


def _forwarded(
    port: int, method: str, path: str, headers: dict[str, str], body: bytes
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    try:
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()
