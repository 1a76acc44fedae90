"""A repository's name in, a local clone or a checkout of one commit out.

Clones are looked up under the mirror as OWNER+NAME/repo, OWNER+NAME, OWNER/NAME or NAME; a URL or a path as
the row's `repo` works without a mirror. Nothing is written into a clone.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from codenib.core.errors import InputError, ProviderError

_URL = re.compile(r"^(https?|ssh|git|file)://|^[\w.-]+@[\w.-]+:")


class Clones:
    """Bare or ordinary clones below `mirror`; URLs are cloned into `downloads`."""

    def __init__(self, mirror: Path | None, downloads: Path) -> None:
        self._mirror = mirror
        self._downloads = downloads
        self._resolved: dict[str, Path] = {}

    def find(self, repo: str) -> Path:
        """The clone of a repository; `InputError` when there is none."""
        if repo not in self._resolved:
            self._resolved[repo] = self._look(repo)
        return self._resolved[repo]

    def has(self, repo: str, commit: str) -> bool:
        """Whether there is a clone and it has this commit."""
        try:
            clone = self.find(repo)
        except InputError:
            return False
        return git(clone, "cat-file", "-e", f"{commit}^{{commit}}", check=False).returncode == 0

    def _look(self, repo: str) -> Path:
        if _URL.match(repo):
            return self._clone(repo)
        if Path(repo).is_absolute() and Path(repo).is_dir():
            return Path(repo)
        if self._mirror is not None and self._mirror.is_dir():
            by_name = {each.name.lower(): each for each in self._mirror.iterdir() if each.is_dir()}
            owner, _, name = repo.lower().rpartition("/")
            for candidate in (f"{owner}+{name}", name):
                if candidate in by_name:
                    inner = by_name[candidate] / "repo"
                    return inner if inner.is_dir() else by_name[candidate]
            if owner in by_name:
                inside = {each.name.lower().removesuffix(".git"): each for each in by_name[owner].iterdir()}
                if name in inside:
                    return inside[name]
        raise InputError(
            f"no clone of {repo} below {self._mirror or 'any mirror'}",
            hint=f"git clone --bare URL MIRROR/{repo.replace('/', '+')}/repo",
        )

    def _clone(self, url: str) -> Path:
        place = self._downloads / re.sub(r"\W+", "-", url.removesuffix(".git")).strip("-")
        if not place.is_dir():
            part = place.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.parent.mkdir(parents=True, exist_ok=True)
            git(part.parent, "clone", "-q", "--bare", url, str(part))
            part.rename(place)
        return place


def check_out(clone: Path, commit: str, place: Path) -> list[str]:
    """A small standalone repository at `place` with `commit` as its HEAD; paths whose content is missing.

    Objects are borrowed from the clone, so nothing is copied and the clone is not written to.
    """
    place.mkdir(parents=True)
    git(place, "init", "-q")
    objects = git(clone, "rev-parse", "--path-format=absolute", "--git-path", "objects").stdout.strip()
    (place / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    for name, value in (("gc.auto", "0"), ("core.autocrlf", "false"), ("advice.detachedHead", "false")):
        git(place, "config", name, value)
    full = git(place, "rev-parse", "--verify", f"{commit}^{{commit}}").stdout.strip()
    (place / ".git" / "HEAD").write_text(f"{full}\n")
    return _write_files(place, full)


def move_to(place: Path, commit: str) -> list[str]:
    """Move a checkout made by `check_out` to another commit, touching only what differs."""
    before = git(place, "rev-parse", "HEAD").stdout.strip()
    for name in _differing(place, "D", before, commit):
        (place / name).unlink(missing_ok=True)
    full = git(place, "rev-parse", "--verify", f"{commit}^{{commit}}").stdout.strip()
    (place / ".git" / "HEAD").write_text(f"{full}\n")
    return _write_files(place, full, _differing(place, "d", before, commit))


def _write_files(place: Path, commit: str, only: list[str] | None = None) -> list[str]:
    git(place, "read-tree", commit)
    missing = _missing(place, commit)
    if missing:
        names = "".join(f"{name}\0" for name in missing)
        git(place, "update-index", "--skip-worktree", "-z", "--stdin", given=names)
    if only is None:
        git(place, "checkout-index", "-a", "-f", "-q", "-u")
    elif wanted := [name for name in only if name not in missing]:
        names = "".join(f"{name}\0" for name in wanted)
        git(place, "checkout-index", "-f", "-q", "-u", "-z", "--stdin", given=names)
    return sorted(missing)


def _missing(place: Path, commit: str) -> set[str]:
    """Files whose blob the clone lacks (a partial clone)."""
    found = set()
    for entry in git(place, "ls-tree", "-r", "-l", "-z", commit).stdout.split("\0"):
        about, _, name = entry.partition("\t")
        fields = about.split()
        if len(fields) == 4 and fields[1] == "blob" and not fields[3].isdigit():
            found.add(name)
    return found


def _differing(place: Path, status: str, before: str, after: str) -> list[str]:
    """The paths that differ between two commits with this `--diff-filter`: `D` deleted, `d` all others."""
    chosen = f"--diff-filter={status}"
    listed = git(place, "diff", "--name-only", chosen, "--no-renames", "-z", before, after).stdout
    return [name for name in listed.split("\0") if name]


def git(
    place: Path, *args: str, check: bool = True, given: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Git at `place`, without hooks and without a network fetch of missing objects."""
    done = subprocess.run(
        ["git", "-c", "core.hooksPath=/dev/null", "-C", str(place), *args],
        input=given,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    if check and done.returncode != 0:
        raise ProviderError(f"git {' '.join(args[:3])} failed in {place}: {done.stderr.strip()[:400]}")
    return done
