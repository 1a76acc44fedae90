"""A disk that fails: the nth write below a folder raises an error of the system."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class FaultyDisk:
    """Counts the steps that write below `root`; step `at` fails with `code`, later ones too if `stays`."""

    def __init__(self, root: Path, at: int, code: int, *, stays: bool = False) -> None:
        self.steps = 0
        self._root = str(root)
        self._at = at
        self._code = code
        self._stays = stays

    @contextmanager
    def installed(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("mkdir", "rename", "replace", "link", "unlink"):
                patch.setattr(os, name, self._guard(getattr(os, name), lambda *_: True))
            opened = self._guard(io.open, lambda _, mode="r", *rest: set(mode) & set("wax+"))
            patch.setattr(io, "open", opened)
            patch.setattr(builtins, "open", opened)
            patch.setattr(os, "open", self._guard(os.open, lambda _, flags, *rest: flags & _WRITING))
            yield

    def _guard(self, call: Callable[..., Any], writes: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(path: Any, *args: Any, **options: Any) -> Any:
            inside = isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith(self._root)
            if inside and writes(path, *args):
                self.steps += 1
                if self.steps == self._at or (self._stays and self.steps > self._at):
                    raise OSError(self._code, os.strerror(self._code), os.fsdecode(path))
            return call(path, *args, **options)

        return guarded
