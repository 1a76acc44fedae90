"""Load numpy for a process that answers one question and ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from threading import Thread

_VARIABLE = "OPENBLAS_NUM_THREADS"


def load_numpy_beside() -> Thread | None:
    """Load numpy in a thread, while git looks at the files; None where it is loaded.

    Its linear algebra gets no further threads, unless the environment asks for some: they spin when they
    start, which is half of what loading numpy costs on two cores, and a question multiplies no matrices.
    """
    if "numpy" in sys.modules:
        return None
    thread = Thread(target=_load, name="load numpy")
    thread.start()
    return thread


def _load() -> None:
    asked = _VARIABLE in os.environ
    if not asked:
        os.environ[_VARIABLE] = "1"
    try:
        with suppress(ImportError):  # whoever needs it says what is wrong
            import numpy  # noqa: F401
    finally:
        if not asked:  # other programs that we start are not limited
            del os.environ[_VARIABLE]
