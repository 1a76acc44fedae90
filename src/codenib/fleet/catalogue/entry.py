"""One repository of a fleet: a URL or path as it was written in, a checked `RepositoryEntry` out."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from codenib.core.errors import InputError
from codenib.core.views import ViewKind
from codenib.snapshot import git
from codenib.snapshot.repository import locate

#: The tenant of what was added without one.
DEFAULT_TENANT = "default"
#: A name is also the path of a mirror: no part is hidden, leads upwards or looks like a git folder.
_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._+-]*/)*[A-Za-z0-9_][A-Za-z0-9._+-]*")
_LONGEST_NAME = 200
_BRANCH = re.compile(r"[A-Za-z0-9_.][^\s~^:?\[\\\x00-\x1f]*")
_SCHEDULE = re.compile(r"(\d+)([mhd])")
_SECONDS = {"m": 60, "h": 3600, "d": 86400}
_SCP = re.compile(r"(?:[A-Za-z0-9_.-]+@)?[A-Za-z0-9.-]+:(?!/?/)[^\s:][^\s]*")
#: What a mirror may be fetched by. `ext::` and other helpers of git run programs.
SCHEMES = ("https", "http", "ssh", "git", "file")


class RepositoryEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One repository that the fleet keeps.

    `branches` may have one `*` each; none means the source's default branch. No `views` means those that the
    repository's configuration names. `in_place` says that `source` is a local repository which is read where
    it is; else it is mirrored. `schedule` (`15m`, `6h`, `1d`) says when `sync --due` takes it; without one
    it is synchronized only when asked for.
    """

    name: str
    source: str
    branches: tuple[str, ...] = ()
    views: tuple[ViewKind, ...] = ()
    tenant: str = DEFAULT_TENANT
    schedule: str = ""
    in_place: bool = False

    @property
    def every_s(self) -> int | None:
        """The seconds of the schedule.

        >>> RepositoryEntry(name="a", source="/a", schedule="6h").every_s
        21600
        """
        return seconds_of(self.schedule)


def seconds_of(written: str) -> int | None:
    """A time as it is written in options; None when it is none.

    >>> seconds_of("90d"), seconds_of("soon")
    (7776000, None)
    """
    match = _SCHEDULE.fullmatch(written)
    return int(match[1]) * _SECONDS[match[2]] if match else None


class EntryOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the entries of one `add` have in common; `mirror` copies local repositories too."""

    branches: tuple[str, ...] = ()
    views: tuple[ViewKind, ...] = ()
    tenant: str = DEFAULT_TENANT
    schedule: str = ""
    mirror: bool = False


def entry_of(source: str, options: EntryOptions, name: str = "") -> RepositoryEntry:
    """The entry of a URL or of the path of a repository; named by its source unless `name` is given."""
    check_options(options)
    if is_url(source):
        _check_url(source)
        place, in_place = source, False
    else:
        repository = locate(Path(source).expanduser())
        if repository.kind == "folder":
            raise InputError(f"{repository.root} is no git repository", hint=f"git -C {repository.root} init")
        place, in_place = str(repository.root), not options.mirror
        name = name or _name_of_clone(repository.root, repository.git_args())
    return RepositoryEntry(
        name=check_name(name or name_of_url(source)),
        source=place,
        branches=options.branches,
        views=options.views,
        tenant=options.tenant,
        schedule=options.schedule,
        in_place=in_place,
    )


def is_url(source: str) -> bool:
    """Whether git would fetch it from elsewhere; a folder of that name comes first.

    >>> is_url("https://example.org/a/b.git"), is_url("git@example.org:a/b"), is_url("src/b")
    (True, True, False)
    """
    return "://" in source or "::" in source or (bool(_SCP.fullmatch(source)) and not Path(source).exists())


def scheme_of(source: str) -> str:
    """The transport of a source.

    >>> scheme_of("git@example.org:a/b"), scheme_of("/srv/b"), scheme_of("https://example.org/b")
    ('ssh', 'file', 'https')
    """
    if "://" in source:
        return source.partition("://")[0].lower()
    return "ssh" if is_url(source) else "file"


def name_of_url(url: str) -> str:
    """The owner and name that a URL ends with.

    >>> name_of_url("https://example.org/team/tools/app.git"), name_of_url("git@example.org:team/app.git")
    ('tools/app', 'team/app')
    """
    path = urlsplit(url).path if "://" in url else url.partition(":")[2]
    parts = [part for part in path.removesuffix("/").removesuffix(".git").split("/") if part]
    return "/".join(parts[-2:])


def check_name(name: str) -> str:
    """The name, when it can be one."""
    ok = _NAME.fullmatch(name) and len(name) <= _LONGEST_NAME
    if not ok or any(part.endswith((".git", ".lock", ".json")) for part in name.split("/")):
        raise InputError(
            f"{name[:80]!r} cannot be the name of a repository: letters, digits, `._+-`, parts with `/`",
            hint="codenib fleet add SOURCE --name NAME",
        )
    return name


def check_options(options: EntryOptions) -> None:
    """Raise for what no entry can have."""
    check_name(options.tenant)
    for branch in options.branches:
        if not _BRANCH.fullmatch(branch) or ".." in branch or branch.count("*") > 1:
            raise InputError(f"{branch[:80]!r} is no branch", hint="--branch main, or --branch 'release/*'")
    if options.schedule and not _SCHEDULE.fullmatch(options.schedule):
        raise InputError(f"{options.schedule[:40]!r} is no schedule", hint="--every 15m, 6h or 1d")


def _check_url(url: str) -> None:
    scheme = scheme_of(url)
    if scheme not in SCHEMES or "::" in url.partition("://")[0] or any(c.isspace() for c in url):
        raise InputError(
            f"{url[:200]!r} cannot be fetched: {', '.join(SCHEMES)} or user@host:path", hint="give its URL"
        )
    if "://" in url:
        try:
            parts = urlsplit(url)
            secret = parts.password is not None
        except ValueError as error:
            raise InputError(f"{url[:200]!r} is no URL: {error}", hint="give its URL") from None
        if secret:  # it would be stored, listed and logged
            raise InputError(
                "a URL with a password is not stored",
                hint="leave it out: git asks your credential helper (git help credentials)",
            )
        if parts.hostname is None and scheme != "file":
            raise InputError(f"{url[:200]!r} names no host", hint="give its URL")
        if (parts.hostname or "").startswith("-"):
            raise InputError(f"{url[:200]!r} names no host", hint="give its URL")


def _name_of_clone(root: Path, git_args: list[str]) -> str:
    """The name of a local repository: that of where it was cloned from, or of its folder."""
    answer = git.call([*git_args, "config", "--get", "remote.origin.url"])
    origin = os.fsdecode(answer.out).strip()
    if is_url(origin) and scheme_of(origin) != "file":
        name = name_of_url(origin)
        if _NAME.fullmatch(name):
            return name
    return root.name.removesuffix(".git")
