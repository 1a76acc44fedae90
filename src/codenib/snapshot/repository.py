"""A path in, the repository that it stands in out: a git worktree, a bare repository or a plain folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from codenib.core.errors import InputError
from codenib.snapshot import git
from codenib.snapshot.ignore import refuse_exploding_rules

Kind = Literal["git", "bare", "folder"]

_FACTS = (
    "--is-bare-repository",
    "--show-object-format",
    "--path-format=absolute",
    "--git-dir",
    "--git-common-dir",
    "--is-inside-work-tree",
    "--show-cdup",  # prints no line outside a worktree, so it stands last
)


@dataclass(frozen=True, slots=True)
class Repository:
    """Where code lives. All paths are real paths.

    `root` is the top of the worktree, the bare git folder or the folder itself. `key` is shared by all
    worktrees of a repository; `worktree_key` is this one's own.
    """

    kind: Kind
    root: Path
    git_dir: Path | None
    common_dir: Path | None
    key: str
    worktree_key: str
    name: str
    object_format: str = "sha1"

    def git_args(self) -> list[str]:
        """Options that point git here, so that it discovers nothing."""
        args = ["-C", str(self.root), f"--git-dir={self.git_dir}"]
        return [*args, f"--work-tree={self.root}"] if self.kind == "git" else args


def locate(path: Path) -> Repository:
    """The repository that holds `path`, which must be an existing folder."""
    try:
        what = "" if path.is_dir() else "is not a folder" if path.exists() else "does not exist"
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
    if what:
        raise InputError(f"{path} {what}", hint="give the folder of a repository")
    place = Path(os.path.realpath(path))
    _refuse_embedded(place)
    _refuse_pipes_of_git(place)
    answer = git.call(["-C", str(place), "rev-parse", *_FACTS])
    if answer.code != 0:
        if answer.err.startswith("fatal: not a git repository (or any"):
            return _folder(place)
        raise InputError(f"git refuses {place}: {answer.err}", hint=f"run `git -C {place} status`")
    lines = os.fsdecode(answer.out).split("\n")[:-1]
    if len(lines) not in (5, 6):
        raise InputError(f"{place}: a repository path with a line break cannot be read")
    bare, object_format, git_dir, common_dir, inside = lines[:5]
    own, common = _real(git_dir), _real(common_dir)
    if inside == "true":
        root = _real(os.path.join(place, lines[5]))  # noqa: PTH118
        if not _belongs(own, root):
            raise _elsewhere(own)
        return _git("git", root, own, common, object_format)
    if bare == "false" and own.name == ".git":
        if not place.is_relative_to(own):
            raise _elsewhere(own)
        return locate(own.parent)  # `path` is inside .git
    if not (place.is_relative_to(own) or any(own.is_relative_to(above) for above in _with_git(place))):
        raise _elsewhere(own)
    return _git("bare", own, own, common, object_format)


def shallow_commits(repository: Repository) -> frozenset[str]:
    """The commits at which a shallow clone ends; none where all are there."""
    folder = repository.common_dir
    try:
        return frozenset((folder / "shallow").read_text().split() if folder else ())
    except FileNotFoundError:
        return frozenset()


def history_boundary(repository: Repository) -> str:
    """Names the place where a shallow clone ends; empty when all commits are there."""
    shallow = shallow_commits(repository)
    return hashlib.sha256("\n".join(sorted(shallow)).encode()).hexdigest()[:16] if shallow else ""


def git_folder_key(place: Path) -> str | None:
    """The key of the bare repository at a real path, as `locate` gives it; None for anything else.

    For who has many of them, which nobody but the user made: git is not asked, and nothing is refused.
    """
    is_bare = _is_git_folder(place) and not (place / "commondir").exists() and place.name != ".git"
    return _key(place) if is_bare else None


def _with_git(place: Path) -> Iterator[Path]:
    """The nearest folder that has a `.git`, such as a file that names a bare repository below it."""
    return islice((folder for folder in (place, *place.parents) if (folder / ".git").exists()), 1)


#: What git opens of a repository before it answers anything.
_OPENED = (
    *("HEAD", "config", "index", "shallow", "packed-refs", "commondir"),
    *("info/exclude", "info/attributes", "info/grafts", "objects/info/alternates"),
)
_RULES = (".gitignore", ".gitattributes", ".gitmodules")
_MOST_RULES = 1 << 20  # bytes of such a file that are looked at


def _refuse_pipes_of_git(place: Path) -> None:
    """Raise where git would wait for a pipe or a device in its own folders."""
    for folder in (place, *place.parents):
        own = folder / ".git"
        _refuse_pipe(own)
        if own.is_file():  # of a linked worktree or a submodule
            own = folder / _named_in(own, b"gitdir: ")
        elif not own.is_dir() and _is_git_folder(folder):
            own = folder
        if own.is_dir():
            shared = own / "commondir"
            _refuse_pipe(shared)
            for part in {own, own / _named_in(shared)} if shared.is_file() else {own}:
                for name in _OPENED:
                    _refuse_pipe(part / name)
            return


def _named_in(file: Path, before: bytes = b"") -> str:
    """The path that one of git's small files names; an empty one when it names none."""
    with file.open("rb") as stream:
        line = stream.read(4096)
    named = line.removeprefix(before).rstrip(b"\r\n") if line.startswith(before) else b""
    return "" if b"\0" in named or b"\n" in named else os.fsdecode(named)


def refuse_endless_rules(root: Path) -> None:
    """Raise when git would never be done with a file of rules: it is a pipe, or a rule of it explodes."""
    for path in (root / ".git" / "info" / "exclude", root / ".git" / "info" / "attributes"):
        _refuse_exploding_rule(path)
    for folder, _, names in os.walk(root):
        for name in _RULES:
            if name in names:
                _refuse_pipe(Path(folder, name))
                _refuse_exploding_rule(Path(folder, name))


def _refuse_exploding_rule(path: Path) -> None:
    try:
        with path.open("rb") as file:
            rules = file.read(_MOST_RULES)
    except OSError:
        return  # none, or not for us: git says more
    refuse_exploding_rules(rules, str(path))


def _refuse_pipe(path: Path) -> None:
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is not a regular file, and git would wait for it", hint=f"rm {path}")


def _belongs(git_dir: Path, root: Path) -> bool:
    """Whether a git folder is that of this worktree, not of another one of the user's.

    A `.git` that is a file or a link may name any of them. A linked worktree's folder names the worktree in
    `gitdir`, a submodule's in `core.worktree`; a folder called `.git` belongs to what it lies in.
    """
    link = root / ".git"
    if not link.is_symlink() and not link.is_file():
        return _real(str(link)) == git_dir
    if git_dir.is_relative_to(root):
        return True
    back = git_dir / "gitdir"
    if back.is_file():
        return _real(str((git_dir / _named_in(back)).parent)) == root
    answer = git.call([f"--git-dir={git_dir}", "config", "--get", "core.worktree"])
    named = os.fsdecode(answer.out).removesuffix("\n")
    return _real(str(git_dir / named)) == root if named else git_dir.name != ".git"


def _elsewhere(git_dir: Path) -> InputError:
    """`core.worktree` may name any folder as the worktree, such as `/`, and a `.git` file any git folder."""
    return InputError(
        f"{git_dir} says that its worktree is elsewhere (core.worktree, gitdir)",
        hint="codenib -C WORKTREE, or `git worktree repair` after a move",
    )


def _refuse_embedded(place: Path) -> None:
    """Raise inside a bare repository that lies in a worktree: a clone may bring one, with its configuration.

    Git itself would take it for the repository (see safe.bareRepository), and obey it.
    """
    if ".git" in place.parts:
        return
    for folder in (place, *place.parents):
        if (folder / ".git").exists():
            return
        if _is_git_folder(folder):
            break
    else:
        return
    outer = next((above for above in folder.parents if (above / ".git").exists()), None)
    if outer is not None:
        raise InputError(
            f"{folder} is a bare repository inside the worktree {outer}, so its settings may be a stranger's",
            hint=f"codenib -C {outer}",
        )


def _is_git_folder(folder: Path) -> bool:
    """Whether git would take a folder for a repository's own; `commondir` names where the rest of it is."""
    inside = (folder / "objects").is_dir() and (folder / "refs").is_dir()
    return (folder / "HEAD").exists() and (inside or (folder / "commondir").exists())


def _git(kind: Kind, root: Path, git_dir: Path, common_dir: Path, object_format: str) -> Repository:
    stem = root.name.removesuffix(".git") if kind == "bare" else root.name
    return Repository(
        kind=kind,
        root=root,
        git_dir=git_dir,
        common_dir=common_dir,
        key=_key(common_dir),
        worktree_key=_key(git_dir),
        name=stem or root.parent.name or str(root),
        object_format=object_format,
    )


def _folder(root: Path) -> Repository:
    key = _key(root)
    return Repository(
        kind="folder",
        root=root,
        git_dir=None,
        common_dir=None,
        key=key,
        worktree_key=key,
        name=root.name or str(root),
    )


def _real(path: str) -> Path:
    return Path(os.path.realpath(path))


def _key(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
