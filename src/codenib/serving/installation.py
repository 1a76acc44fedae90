"""What adapters need of this machine, not of one repository: files in the home, outside tools, the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

import msgspec

from codenib.compiler.collect import CollectReport, collect
from codenib.manifest.files import drop_partial, replace_file, with_checksum, without_checksum
from codenib.manifest.home import home, tools_folder
from codenib.manifest.lock import exclusive
from codenib.manifest.store import Store
from codenib.manifest.trust import TrustRecord, revoke, trust_records
from codenib.navigation.tools.install import InstallOutcome, install
from codenib.navigation.tools.locate import Toolbox, ToolReport
from codenib.snapshot.repository import locate

ValueT = TypeVar("ValueT")

__all__ = ["CollectReport", "InstallOutcome", "ToolReport", "TrustRecord", "trust_records"]


def repository_root(path: str | Path) -> Path:
    """The top of the repository or folder that `path` is in."""
    return locate(Path(path)).root


def home_file(name: str) -> Path:
    """A file in the folder that holds all state of this installation."""
    return home() / name


def write_home_file(file: Path, value: object) -> None:
    """Replace a file of the home by `value` as JSON, in one step; only its user may read it."""
    before = os.umask(0o077)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        drop_partial(file.parent)
        replace_file(file, with_checksum(msgspec.json.encode({"rows": value})))
    finally:
        os.umask(before)


def read_home_file(file: Path, kind: type[ValueT]) -> ValueT:
    """What `write_home_file` was given; one of `UNDECODABLE` when it is damaged.

    A file of an earlier version, which had no checksum, is read as it is: nobody could make it again.
    """
    data = file.read_bytes()
    try:
        rows = msgspec.json.decode(without_checksum(data), type=_Rows).rows
    except ValueError:
        return msgspec.json.decode(data, type=kind)  # what has a damaged checksum is not of this kind
    return msgspec.json.decode(rows, type=kind)


class _Rows(msgspec.Struct):
    rows: msgspec.Raw


def home_file_lock(file: Path) -> AbstractContextManager[None]:
    """Be the one that changes a file of the home."""
    return exclusive(file.with_suffix(".lock"), timeout_s=10)


def tool_reports() -> tuple[Path, list[ToolReport]]:
    """The folder of installed tools, and every tool: what is there, from where, and how to get it."""
    toolbox = Toolbox(tools_folder())
    return toolbox.root, toolbox.report()


def install_tools(
    names: Sequence[str], say: Callable[[str], None], *, force: bool = False
) -> list[InstallOutcome]:
    """Install the tools that `names` (groups, tools, "all") stand for; see `navigation.tools.install`."""
    return install(Toolbox(tools_folder()), names, say, force=force)


def end_trust(path: str | Path) -> None:
    """Trust the repository that `path` is in no more."""
    revoke(Store(locate(Path(path)).key).folder)


def collect_garbage(*, keep: int) -> CollectReport:
    """Drop old snapshots of every repository, and what no remaining snapshot reaches."""
    return collect(keep=keep)
