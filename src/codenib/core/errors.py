"""One error tree, by who can act on it.

CodenibError
├── InputError      the caller can fix it            exit 2
├── StateError      re-indexing fixes it             exit 3
│   └── StoreFault  the disk failed on the way       exit 3
├── ProviderError   an outside program failed        exit 4
├── CallCancelled   nobody waits for the answer any more (`core/calls/`)
└── CannotMaintain  internal: rebuild that part instead
"""

from __future__ import annotations

import errno
import os

#: The name in package indexes. `codenib` there is another product, whose import name is also ours.
DISTRIBUTION = "codenib-views"
VERSION = "0.1.0"
#: What readers of JSON and MessagePack raise for bytes that are no such thing. msgspec's own errors are
#: ValueErrors, but it raises others for broken UTF-8 and for what nests too deep.
UNDECODABLE = (ValueError, RecursionError)
REINSTALL_HINT = f"pip install --force-reinstall WHEEL, the file of {DISTRIBUTION} that you installed"


def extra_hint(extra: str) -> str:
    """The command that installs the libraries of one of our extras.

    >>> extra_hint("onnx")
    "pip install 'codenib-views[onnx]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


_LONGEST, _SHOWN = 2000, 200  # characters; engines' own last lines are long, and fit


class CodenibError(Exception):
    """What went wrong and where, with the one command that helps as `hint`."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        # What was asked stands in the message: nobody reads a name of 100,000 characters, or types it again.
        self.message = message if len(message) <= _LONGEST else f"{message[:_SHOWN]} … {message[-_SHOWN:]}"
        self.hint = hint if len(hint) <= _LONGEST else ""


class InputError(CodenibError):
    """The request cannot be answered as asked: a wrong path, revision, pattern or option."""

    exit_code = 2


class StateError(CodenibError):
    """What is stored cannot serve: missing, of another schema, or damaged. Re-indexing repairs it."""

    exit_code = 3


class StoreFault(StateError):
    """A write or read of the store failed (full, read-only, an I/O error, a damaged row that was dropped).

    It says nothing of the source, so nothing is published from it; what was published before still serves.
    """


_MOVE = "export CODENIB_HOME=a folder that you can write"
_FAULT_HINTS = {
    errno.ENOSPC: f"codenib gc, or {_MOVE}",
    errno.EDQUOT: f"codenib gc, or {_MOVE}",
    errno.EROFS: _MOVE,
    errno.EACCES: _MOVE,
    errno.EPERM: _MOVE,
    errno.ENOTDIR: _MOVE,
    errno.EEXIST: _MOVE,
    errno.EISDIR: _MOVE,
    errno.EMFILE: "ulimit -n 4096",
    errno.ENFILE: "ulimit -n 4096",
}
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE)


def fault_of(error: OSError) -> StoreFault:
    """What the system refused as an error of our tree, with what helps.

    >>> fault_of(OSError(errno.ENOSPC, "No space left on device", "/home/x")).message
    '/home/x: No space left on device'
    """
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    what = error.strerror or str(error) or type(error).__name__
    return StoreFault(f"{where}{what}", hint=_FAULT_HINTS.get(error.errno or 0, "codenib doctor"))


def is_disk_fault(error: OSError, root: str) -> bool:
    """Whether an error is the disk's or that of the store at `root`, not of some other program or file."""
    if error.errno is None:  # numpy's short write
        return "requested and" in str(error)
    return error.errno in _DISK or str(error.filename or "").startswith(root)


class ProviderError(CodenibError):
    """A program that we run (git, zoekt) failed or is missing."""

    exit_code = 4


class CannotMaintain(CodenibError):
    """A maintainer declines rather than guess; the compiler then rebuilds that view."""
