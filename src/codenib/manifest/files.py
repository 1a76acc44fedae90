"""Durable files: a reader sees the old bytes or the new ones, and a kill at any instant loses neither."""

from __future__ import annotations

import os
import re
import secrets
import zlib
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import msgspec

from codenib.core.errors import UNDECODABLE, fault_of
from codenib.system.files import sync_folder

ParamsT = ParamSpec("ParamsT")
ValueT = TypeVar("ValueT")


def reports_faults(
    method: Callable[ParamsT, ValueT],
) -> Callable[ParamsT, ValueT]:
    """A function that reads and writes the store: what the system refuses on the way is a `StoreFault`."""

    @wraps(method)
    def guarded(*args: ParamsT.args, **options: ParamsT.kwargs) -> ValueT:
        try:
            return method(*args, **options)
        except OSError as error:
            raise fault_of(error) from error

    return guarded


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` beside `path`, flush it to the disk, and rename it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with partial.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


_FIELD = b'{"checksum":"%08x"'
_LIKE_FIELD = re.compile(rb'."[^"]{8}":"[^"]{8}"', re.DOTALL)  # also with a damaged byte


def with_checksum(text: bytes) -> bytes:
    """A JSON object with a checksum of the rest as its first field."""
    rest = text[1:]
    return _FIELD % zlib.crc32(rest) + (b"" if rest == b"}" else b",") + rest


class EarlierForm(ValueError):
    """A file that a version without checksums wrote."""


def without_checksum(data: bytes) -> bytes:
    """The JSON object that was given to `with_checksum`; a ValueError when it is not that any more.

    That is `EarlierForm` for a whole JSON object whose first field is nothing like a checksum.
    """
    length = len(_FIELD % 0)
    rest = data[length:].removeprefix(b",")
    if data[:length] == _FIELD % zlib.crc32(rest):
        return b"{" + rest
    if not _LIKE_FIELD.match(data) and _is_object(data):
        raise EarlierForm("it was made by an earlier version")
    raise ValueError("the checksum is not that of the content")


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(data), dict)
    except UNDECODABLE:
        return False


def drop_partial(folder: Path) -> None:
    """Remove what killed writers left of `replace_file`; the name has the number of the writer's process."""
    for partial in folder.glob(".*.tmp"):
        writer = partial.name.removesuffix(".tmp").rpartition(".")[2].partition("-")[0]
        if not (writer.isdecimal() and is_running(int(writer))):
            partial.unlink(missing_ok=True)


def sync_tree(folder: Path) -> None:
    """Flush every file of a flat folder, then the folder itself."""
    for part in folder.iterdir():
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
    sync_folder(folder)


def disk_usage(folder: Path) -> int:
    """Bytes of the files below `folder`, a hard-linked file counted once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                info = os.lstat(os.path.join(root, name))  # noqa: PTH118 - a walk of many small files
            except FileNotFoundError:  # a writer replaced it meanwhile
                continue
            if (info.st_dev, info.st_ino) not in seen:
                seen.add((info.st_dev, info.st_ino))
                total += info.st_size
    return total


def is_running(pid: int) -> bool:
    """Whether a process of this machine has this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
