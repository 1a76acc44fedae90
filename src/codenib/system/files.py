"""Flags and rights of files in, what this system has of them out."""

from __future__ import annotations

import os
from pathlib import Path


def open_flags(*names: str) -> int:
    """The flags of `os.open` that this system has, besides those that it needs to leave bytes as they are.

    >>> open_flags("O_RDONLY", "O_NO_SUCH_FLAG") == os.O_RDONLY
    True
    """
    found = getattr(os, "O_BINARY", 0)  # Windows: else line ends are translated
    for name in names:
        found |= getattr(os, name, 0)
    return found


#: Read a file that may be a stranger's: no link is followed, no pipe is waited for, no child inherits it.
READ_SAFELY = open_flags("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC")
#: Where this is false, who reads a file safely must look for a link first.
REFUSES_LINKS = hasattr(os, "O_NOFOLLOW")


def keep_private(folder: Path) -> None:
    """Take a folder of our own back from others, where rights are those of POSIX."""
    if not hasattr(os, "geteuid"):
        return  # a user's folder on Windows is for the user already
    state = folder.stat()
    if state.st_mode & 0o077 and state.st_uid == os.geteuid():
        folder.chmod(0o700)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable, where folders can be opened for that."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
