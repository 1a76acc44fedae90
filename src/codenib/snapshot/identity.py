"""A repository in, what makes it this one and no other out, so that another put in its place is told apart.

A path is not enough: another clone may be moved there. The commit that was checked out is not enough either:
a fork has it too. So an identity is the git folder itself (device and inode), where it was cloned from, and a
commit that it must still have. Pulling, committing and new remotes leave it the same; a new clone does not.
"""

from __future__ import annotations

import msgspec

from codenib.snapshot import git
from codenib.snapshot.repository import Repository


class RepositoryIdentity(msgspec.Struct, frozen=True):
    """`commit` is "" where there was none; `origin` where nothing was cloned."""

    device: int
    inode: int
    origin: str = ""
    commit: str = ""


def identify(repository: Repository) -> RepositoryIdentity:
    """The identity of what is there now."""
    place = repository.common_dir or repository.root
    stat = place.stat()
    if repository.common_dir is None:
        return RepositoryIdentity(stat.st_dev, stat.st_ino)
    head = git.call([*repository.git_args(), "rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
    return RepositoryIdentity(stat.st_dev, stat.st_ino, _origin(repository), head.out.decode().strip())


def is_still(repository: Repository, identity: RepositoryIdentity) -> bool:
    """Whether what is there now is what `identity` was taken of."""
    place = repository.common_dir or repository.root
    stat = place.stat()
    if (stat.st_dev, stat.st_ino) != (identity.device, identity.inode):
        return False
    if repository.common_dir is None:
        return not identity.origin and not identity.commit
    if _origin(repository) != identity.origin:
        return False
    return not identity.commit or (
        git.call([*repository.git_args(), "cat-file", "-e", f"{identity.commit}^{{commit}}"]).code == 0
    )


def _origin(repository: Repository) -> str:
    answer = git.call([*repository.git_args(), "config", "--get", "remote.origin.url"])
    return answer.out.decode("utf-8", "replace").strip()
