"""Patterns of `.codenibignore` and paths in, the ignored ones out. The matcher is git's own."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from codenib.core.errors import InputError
from codenib.snapshot import git
from codenib.snapshot.listing import Listing
from codenib.snapshot.secrets import SECRET, is_secret

IGNORE_FILE = ".codenibignore"
IGNORED = "ignored by .codenibignore"
# Looked at once git takes over two seconds. On a path of thirty folders `a*/**/` six times took git 0.1 s,
# eight times 0.8 s, ten times 5 s.
_MOST_STARS = 4


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
