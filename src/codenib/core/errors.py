"""One error tree, by who can act on it.

CodenibError
├── InputError      the caller can fix it            exit 2
├── StateError      re-indexing fixes it             exit 3
│   └── StoreFault  the disk failed on the way       exit 3
├── ProviderError   an outside program failed        exit 4
└── CannotMaintain  internal: rebuild that part instead
"""

from __future__ import annotations

#: The name in package indexes. `codenib` there is another product, whose import name is also ours.
DISTRIBUTION = "codenib-views"
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


class ProviderError(CodenibError):
    """A program that we run (git, zoekt) failed or is missing."""

    exit_code = 4


class CannotMaintain(CodenibError):
    """A maintainer declines rather than guess; the compiler then rebuilds that view."""
