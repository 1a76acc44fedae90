"""A server's command in, JSON-RPC over its standard streams out: requests, notifications, its own requests.

Three threads serve a connection: one reads messages, one writes them, one keeps the end of standard error.
So no caller ever blocks on a pipe, and a server that hangs costs a time-out, not a deadlock.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from queue import SimpleQueue
from typing import IO

import msgspec

from codenib.core.errors import ProviderError

METHOD_NOT_FOUND = -32601
_NULL = msgspec.Raw(b"null")
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,12})[ \t]*$", re.IGNORECASE | re.MULTILINE)
_MAX_HEADER = 1 << 16
_STDERR_BYTES = 1 << 14
_SHUTDOWN_S = 2.0
_LAST_WORDS_S = 0.5
_ENDED = "it was ended"


class FrameError(ValueError):
    """The bytes are no message of the protocol."""


class Frames:
    """Bytes in any pieces in, the bodies of whole messages out."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._need = -1  # the length of the body that is being read; -1 while reading a header

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that `data` completes.

        >>> frames = Frames()
        >>> frames.feed(b"Content-Length: 2\\r\\n\\r\\n{"), frames.feed(b"}Content")
        ([], [b'{}'])
        """
        self._buffer += data
        bodies = []
        while self._need >= 0 or self._header():
            if len(self._buffer) < self._need:
                break
            bodies.append(bytes(self._buffer[: self._need]))
            del self._buffer[: self._need]
            self._need = -1
        return bodies

    def _header(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _MAX_HEADER:
                raise FrameError(f"no header within {_MAX_HEADER} bytes: {bytes(self._buffer[:80])!r}")
            return False
        header = bytes(self._buffer[:end]).replace(b"\r\n", b"\n")
        found = _LENGTH.search(header)
        if found is None:
            raise FrameError(f"a header without a length: {header[:80]!r}")
        del self._buffer[: end + 4]
        self._need = int(found[1])
        return True


def frame(message: object) -> bytes:
    """A message with its header."""
    body = msgspec.json.encode(message)
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class ErrorBody(msgspec.Struct):
    code: int = 0
    message: str = ""


class ServerMessage(msgspec.Struct):
    """Any message; the parts that only their reader understands stay as they came."""

    id: int | str | None = None
    method: str | None = None
    params: msgspec.Raw = _NULL
    result: msgspec.Raw = _NULL
    error: ErrorBody | None = None


def decode(body: bytes) -> ServerMessage:
    """The message of a body."""
    try:
        return msgspec.json.decode(body, type=ServerMessage)
    except msgspec.MsgspecError:
        # Servers on Node write half of a surrogate pair as an escape, which strict JSON readers refuse.
        plain = json.dumps(json.loads(body), ensure_ascii=False).encode("utf-8", "replace")
        return msgspec.json.decode(plain, type=ServerMessage)


class ServerDied(ProviderError):
    """The server's process ended, or it wrote what is no message; `pid` is the process."""

    def __init__(self, message: str, *, hint: str = "", pid: int) -> None:
        super().__init__(message, hint=hint)
        self.pid = pid


class ServerSlow(ProviderError):
    """A request took longer than its time-out; `hung` when the server did not even take the cancellation."""

    def __init__(self, message: str, *, hint: str = "", pid: int, hung: bool) -> None:
        super().__init__(message, hint=hint)
        self.pid = pid
        self.hung = hung


class ServerRefused(ProviderError):
    """The server answered a request with an error."""

    def __init__(self, message: str, *, hint: str = "", code: int, reason: str) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.reason = reason


class ServerListener:
    """What the server says on its own; called on the reading thread, so it must not block."""

    def notified(self, method: str, params: msgspec.Raw) -> None:
        """A notification came."""

    def asked(self, method: str, params: msgspec.Raw) -> object:
        """The answer to a request of the server; NotImplementedError for one that is not known."""
        raise NotImplementedError

    def ended(self) -> None:
        """No more messages will come."""


class Connection:
    """A running server. Any number of threads may ask at once."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        listener: ServerListener,
    ) -> None:
        self.name = name
        self._listener = listener
        self._waiting: dict[int, Future[msgspec.Raw]] = {}
        self._next = 0
        self._lock = threading.Lock()
        self._dead = ""  # why, once it is
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._errors = bytearray()
        try:
            # A session of its own, so that whatever the server starts can be ended with it.
            self._process = subprocess.Popen(
                list(command),
                cwd=folder,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise ProviderError(f"{name} cannot be started: {error}", hint="codenib tools") from error
        self._finalizer = weakref.finalize(self, _end_group, self._process)  # runs at exit too
        self._threads = [
            threading.Thread(target=work, name=f"{name} {what}", daemon=True)
            for what, work in (("reader", self._read), ("writer", self._write), ("errors", self._keep_errors))
        ]
        for thread in reversed(self._threads):  # the reader last: it waits for the others at the end
            thread.start()

    @property
    def pid(self) -> int:
        """The process, which also leads its process group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether requests can be answered."""
        return not self._dead

    def stderr_tail(self) -> str:
        """The end of what the server wrote to standard error."""
        return bytes(self._errors).decode("utf-8", "replace").strip()

    def request(self, method: str, params: object, timeout_s: float, cancel_s: float = 5.0) -> msgspec.Raw:
        """The result; ServerDied, ServerSlow or ServerRefused otherwise."""
        number, future = self._send(method, params)
        try:
            return future.result(timeout_s)
        except FutureTimeout:
            pass
        self.notify("$/cancelRequest", {"id": number})
        hung = False
        try:
            return future.result(cancel_s)  # it may have finished just now
        except FutureTimeout:
            hung = True
        except ServerRefused:
            pass
        finally:
            with self._lock:
                self._waiting.pop(number, None)
        what = f"{self.name} did not answer {method} within {timeout_s:g} s"
        raise ServerSlow(what, hint="codenib doctor", pid=self.pid, hung=hung)

    def notify(self, method: str, params: object) -> None:
        """Send a notification; to a dead server it is lost, and the next request says so."""
        self._outbox.put(frame({"jsonrpc": "2.0", "method": method, "params": params}))

    def died(self) -> ServerDied:
        """The error that says why it ended, with the end of standard error."""
        tail = self.stderr_tail()
        what = f"{self.name} stopped: {self._dead or _ENDED}"
        return ServerDied(f"{what}\n{tail}" if tail else what, hint="codenib doctor", pid=self.pid)

    def close(self, *, gently: bool = True) -> None:
        """End the server and everything that it started; it is gone when this returns."""
        if gently and self.alive:
            with contextlib.suppress(ProviderError):
                self.request("shutdown", None, _SHUTDOWN_S, cancel_s=0)
                self.notify("exit", None)
                self._threads[0].join(_SHUTDOWN_S)  # its standard output ends with it
        self._end(_ENDED)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(_SHUTDOWN_S)

    def _send(self, method: str, params: object) -> tuple[int, Future[msgspec.Raw]]:
        future: Future[msgspec.Raw] = Future()
        with self._lock:
            if self._dead:
                raise self.died()
            self._next += 1
            number = self._next
            self._waiting[number] = future
            self._outbox.put(frame({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        return number, future

    def _end(self, why: str) -> None:
        with self._lock:
            first = not self._dead
            self._dead = self._dead or why
            waiting = list(self._waiting.values())
            self._waiting.clear()
        self._outbox.put(None)
        if first and why != _ENDED:
            self._threads[2].join(_LAST_WORDS_S)  # the reason is in what it wrote last
        self._finalizer()
        if first and why != _ENDED:
            self._dead = f"{why} (exit code {self._process.returncode})"
        for future in waiting:
            future.set_exception(self.died())
        if first:
            self._listener.ended()

    def _read(self) -> None:
        frames = Frames()
        why = "its output ended"
        try:
            while data := _read_some(self._process.stdout):
                for body in frames.feed(data):
                    self._handle(decode(body))
        except (FrameError, msgspec.MsgspecError, json.JSONDecodeError) as error:
            why = f"it wrote what is no message: {error}"
        self._end(why)
        _close(self._process.stdout)

    def _handle(self, message: ServerMessage) -> None:
        if message.method is None:
            self._answered(message)
        elif message.id is None:
            self._listener.notified(message.method, message.params)
        else:
            reply: dict[str, object] = {"jsonrpc": "2.0", "id": message.id}
            try:
                reply["result"] = self._listener.asked(message.method, message.params)
            except NotImplementedError:
                reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"{message.method} is not supported"}
            self._outbox.put(frame(reply))

    def _answered(self, message: ServerMessage) -> None:
        with self._lock:
            future = self._waiting.pop(message.id, None) if isinstance(message.id, int) else None
        if future is None:
            return
        if message.error is None:
            future.set_result(message.result)
            return
        code, reason = message.error.code, message.error.message
        text = f"{self.name} refused: {reason} (code {code})"
        future.set_exception(ServerRefused(text, hint="codenib doctor", code=code, reason=reason))

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError):  # a broken pipe: the reading thread sees the end too, and says so
            while data := self._outbox.get():
                view = memoryview(data)
                while view:
                    view = view[pipe.write(view) or 0 :]
        _close(pipe)

    def _keep_errors(self) -> None:
        while data := _read_some(self._process.stderr):
            self._errors += data
            del self._errors[:-_STDERR_BYTES]
        _close(self._process.stderr)


def _read_some(pipe: IO[bytes] | None) -> bytes:
    try:
        return os.read(pipe.fileno(), 1 << 16) if pipe is not None else b""
    except (OSError, ValueError):
        return b""


def _close(pipe: IO[bytes] | None) -> None:
    with contextlib.suppress(OSError):
        if pipe is not None:
            pipe.close()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the whole process group, before the leader is waited for: until then its number is not reused."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_SHUTDOWN_S)
