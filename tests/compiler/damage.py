"""Objects that git cannot read to their end: the reader of such a blob dies over it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from tests.gitrepo import GitRepo

#: Long, and hard to compress, so that git has begun to answer before it meets the damage.
LONG_SOURCE = "\n".join(f"x{n} = '{hashlib.sha256(str(n).encode()).hexdigest()}'" for n in range(1500)) + "\n"


@contextmanager
def damaged_object(repo: GitRepo, path: str) -> Iterator[None]:
    """The committed content of `path` is cut off in git's store while this is open."""
    digest = repo.git("rev-parse", f"HEAD:{path}")
    file = repo.path / ".git" / "objects" / digest[:2] / digest[2:]
    whole = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(whole[: len(whole) // 2])
    try:
        yield
    finally:
        file.write_bytes(whole)
