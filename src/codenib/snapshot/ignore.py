"""What a repository's own files say of its paths in, the paths that are left out of a snapshot out.

The patterns of `.codenibignore` are matched by git itself, the globs of `codenib.toml` as those of questions.
A `codenib.toml` that is no file (a link, a pipe) or is huge is refused by name: what it says cannot be known.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.core.errors import InputError
from codenib.core.source import DEFAULT_SETTINGS, SourceSettings
from codenib.core.text.globs import path_filter
from codenib.snapshot import git
from codenib.snapshot.listing import Listing
from codenib.snapshot.secrets import SECRET, is_secret

if TYPE_CHECKING:  # it reads blobs, whose module needs the rules of this one
    from codenib.snapshot.content import Folder

IGNORE_FILE = ".codenibignore"
IGNORED = "ignored by .codenibignore"
# Looked at once git takes over two seconds. On a path of thirty folders `a*/**/` six times took git 0.1 s,
# eight times 0.8 s, ten times 5 s.
_MOST_STARS = 4

CONFIG_FILE = "codenib.toml"
LEFT_OUT = "left out by codenib.toml"
_MOST_BYTES = 1 << 20  # what is read at all; who parses it takes much less
#: How to read a snapshot's own file, and what to call it, in; what it and the user's own file say out.
Configure = Callable[[Callable[[], bytes | None], str], SourceSettings]


def empty_repository(path: Path) -> Path:
    """The least that git takes for a repository, at `path`; nothing is ever written into it."""
    (path / "objects").mkdir(parents=True, exist_ok=True)
    (path / "refs").mkdir(exist_ok=True)
    if not (path / "HEAD").exists():
        (path / "HEAD").write_text("ref: refs/heads/none\n")
    return path


def ignored(patterns: bytes, paths: Iterable[str]) -> set[str]:
    """Those of `paths` that the gitignore `patterns` at the root exclude; no path needs to exist."""
    with tempfile.TemporaryDirectory(prefix="codenib-ignore-") as folder:
        place = Path(folder).resolve()
        work = place / "work"
        work.mkdir()
        (place / "patterns").write_bytes(patterns)
        args = [
            "-C",
            str(work),
            f"--git-dir={empty_repository(place / 'git')}",
            f"--work-tree={work}",
            "-c",
            f"core.excludesFile={place / 'patterns'}",
            "check-ignore",
            "--no-index",
            "-z",
            "--stdin",
        ]
        # "./" because git would take a path that begins with a colon for pathspec magic.
        names = "".join(f"./{path}\0" for path in paths).encode()
        answer = git.finish(
            git.start(args), names, on_stall=lambda: refuse_exploding_rules(patterns, IGNORE_FILE)
        )
        out = git.checked(answer, args, (0, 1))
    return {name[2:] for name in out.decode().split("\0")[:-1]}


def refuse_exploding_rules(rules: bytes, name: str) -> None:
    """Raise where a rule has many `**`: git tries every way in which they can share out a path's folders."""
    for number, rule in enumerate(rules.split(b"\n"), 1):
        if rule.count(b"**") > _MOST_STARS:
            what = f"{name}:{number} has a rule with so many `**` that git does not come to an end"
            raise InputError(what, hint=f"shorten or remove that rule of {name}")


def apply(listing: Listing, patterns: bytes | None) -> set[str]:
    """Move the files that `patterns` exclude, and secrets files, to the skipped ones; returns their paths."""
    patterns = patterns if patterns and patterns.strip() else b""
    secret = {path for path in listing.files if is_secret(path)}
    if secret and patterns:  # a later `!PATH` takes a secret back, so both go through git's matcher together
        names = sorted({path.rpartition("/")[2] for path in secret})
        excluded = b"".join(b"%s\n" % _escaped(name) for name in names)
        secret = ignored(excluded + patterns, secret)
    hidden = ignored(patterns, listing.files) if patterns else set()
    for path in secret | hidden:
        listing.skip(path, IGNORED if path in hidden else SECRET)
    return secret | hidden


def _escaped(name: str) -> bytes:
    """A pattern that means this last name and no other."""
    return re.sub(r"([\\*?\[\]!# ])", r"\\\1", name).encode()


def unconfigured(read: Callable[[], bytes | None], where: str) -> SourceSettings:
    """No configuration."""
    return DEFAULT_SETTINGS


def file_on_disk(folder: Folder) -> bytes | None:
    """The file of a worktree; None when there is none."""
    answer = folder.read(CONFIG_FILE)
    if isinstance(answer, str):
        raise _refused(answer)
    return answer[0] if answer is not None else None


def file_in_tree(at: Sequence[str], listing: Listing) -> bytes | None:
    """The file of a commit whose tree was listed; None when it has none."""
    if (reason := listing.skipped.get(CONFIG_FILE)) is not None:
        raise _refused(reason)
    digest = listing.files.get(CONFIG_FILE)
    if digest is None:
        return None
    if int(git.run([*at, "cat-file", "-s", digest])) > _MOST_BYTES:
        raise _refused("huge")
    return git.run([*at, "cat-file", "blob", digest])


def leave_out(listing: Listing, settings: SourceSettings) -> set[str]:
    """Move the files that settings leave out to the skipped ones; their paths."""
    if not settings.include and not settings.exclude:
        return set()
    is_left_out = _judge(settings.include, settings.exclude)
    gone = {path for path in listing.files if is_left_out(path)}
    for path in gone:
        listing.skip(path, LEFT_OUT)
    return gone


@lru_cache(maxsize=8)
def _judge(include: tuple[str, ...], exclude: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a path is left out. Every question looks at all paths, so that verdicts are remembered."""
    wanted, unwanted = path_filter(include), path_filter(exclude)

    @lru_cache(maxsize=1 << 17)
    def is_left_out(path: str) -> bool:
        if wanted is not None and not wanted(path):
            return True
        return unwanted is not None and unwanted(path)

    return is_left_out


def _refused(reason: str) -> InputError:
    return InputError(
        f"{CONFIG_FILE} is not read, as it is {reason}",
        hint=f"remove {CONFIG_FILE}, or set CODENIB_REPOSITORY_FILE=off to do without it",
    )
