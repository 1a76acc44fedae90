"""A server's program in, JSON-RPC over its standard streams out: requests, notifications, its own requests.

One thread reads messages and one writes them, so no caller ever blocks on a pipe, and a server that hangs
costs a time-out, not a deadlock.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from queue import SimpleQueue

import msgspec

from codenib.core.errors import ProviderError
from codenib.navigation.engines.messages import FrameError, Frames, ServerMessage, decode, frame
from codenib.navigation.engines.process import ChildProcess, Program, close, read_some

METHOD_NOT_FOUND = -32601
_SHUTDOWN_S = 2.0
_LAST_LINES_S = 0.5
_ENDED = "it was ended"


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


class _Batch:
    """Answers of requests that were sent together."""

    def __init__(self, count: int) -> None:
        self.results: list[msgspec.Raw | None] = [None] * count
        self.failure: Exception | None = None
        self._left = count
        self._answered = threading.Condition()

    def put(self, at: int, result: msgspec.Raw | None, failure: Exception | None = None) -> None:
        """One answer; a failure ends them all."""
        self.results[at] = result
        self._left -= 1
        if failure is not None or self._left <= 0:
            with self._answered:
                self.failure = self.failure or failure
                self._answered.notify_all()

    def wait(self, silence_s: float) -> bool:
        """Wait for all, or until nothing more is answered for so long."""
        with self._answered:
            while self._left > 0 and self.failure is None:
                before = self._left
                if not self._answered.wait(silence_s) and self._left == before:
                    return False
        return True


class _BatchedAnswer:
    """One of a batch, for who waits as for a future."""

    __slots__ = ("_at", "_batch")

    def __init__(self, batch: _Batch, at: int) -> None:
        self._batch = batch
        self._at = at

    def set_result(self, result: msgspec.Raw) -> None:
        self._batch.put(self._at, result)

    def set_exception(self, error: Exception) -> None:
        self._batch.put(self._at, None, None if isinstance(error, ServerRefused) else error)


class Connection:
    """A running server. Any number of threads may ask at once."""

    def __init__(self, program: Program, listener: ServerListener) -> None:
        self.name = program.name
        self._listener = listener
        self._waiting: dict[int, Future[msgspec.Raw] | _BatchedAnswer] = {}
        self._next = 0
        self._lock = threading.Lock()
        self._dead = ""  # why, once it is
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._child = ChildProcess(program)
        self._writer = threading.Thread(target=self._write, name=f"{self.name} writer", daemon=True)
        self._reader = threading.Thread(target=self._read, name=f"{self.name} reader", daemon=True)
        self._writer.start()
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process, which also leads its process group."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether requests can be answered."""
        return not self._dead

    @property
    def owes(self) -> bool:
        """Whether a request is not answered yet."""
        return bool(self._waiting)

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
        raise self._slow(method, timeout_s, hung=hung)

    def request_all(
        self, requests: Sequence[tuple[str, object]], silence_s: float
    ) -> list[msgspec.Raw | None]:
        """The result of each request, all sent at once; None where the server refuses.

        ServerSlow when nothing more is answered for `silence_s`.
        """
        if not requests:
            return []
        batch = _Batch(len(requests))
        with self._lock:
            if self._dead:
                raise self.died()
            frames = []
            for at, (method, params) in enumerate(requests):
                self._next += 1
                self._waiting[self._next] = _BatchedAnswer(batch, at)
                frames.append(frame({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}))
            self._outbox.put(b"".join(frames))
        if not batch.wait(silence_s):
            raise self._slow(requests[0][0], silence_s, hung=True)
        if batch.failure is not None:
            raise batch.failure
        return batch.results

    def notify(self, method: str, params: object) -> None:
        """Send a notification; to a dead server it is lost, and the next request says so."""
        self._outbox.put(frame({"jsonrpc": "2.0", "method": method, "params": params}))

    def died(self) -> ServerDied:
        """The error that says why it ended, with the end of standard error."""
        what = f"{self.name} stopped: {self._dead or _ENDED}"
        return ServerDied("\n".join([what, *self._child.last_lines()]), hint="codenib doctor", pid=self.pid)

    def close(self, *, gently: bool = True, shutdown_s: float = _SHUTDOWN_S) -> None:
        """End the server and everything that it started; it is gone when this returns."""
        if gently and self.alive:
            with contextlib.suppress(ProviderError):
                self.request("shutdown", None, shutdown_s, cancel_s=0)
                self.notify("exit", None)
                self._reader.join(shutdown_s)  # its standard output ends with it
        self._end(_ENDED)
        for thread in (self._reader, self._writer):
            if thread is not threading.current_thread():
                thread.join(_SHUTDOWN_S)

    def _slow(self, method: str, limit_s: float, *, hung: bool) -> ServerSlow:
        what = f"{self.name} did not answer {method} within {limit_s:g} s"
        return ServerSlow(what, hint="codenib doctor", pid=self.pid, hung=hung)

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
            self._child.last_lines(_LAST_LINES_S)  # the reason is in what it wrote last
        self._child.end()
        if first and why != _ENDED:
            self._dead = f"{why} (exit code {self._child.exit_code})"
        for future in waiting:
            future.set_exception(self.died())
        if first:
            self._listener.ended()

    def _read(self) -> None:
        frames = Frames()
        why = "its output ended"
        try:
            while data := read_some(self._child.stdout):
                for body in frames.feed(data):
                    self._handle(decode(body))
        except FrameError as error:
            why = f"it wrote what is no message: {error}"
        self._end(why)
        close(self._child.stdout)

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
        pipe = self._child.stdin
        with contextlib.suppress(OSError):  # a broken pipe: the reading thread sees the end too, and says so
            while data := self._outbox.get():
                view = memoryview(data)
                while view:
                    view = view[os.write(pipe.fileno(), view) :]
        close(pipe)
