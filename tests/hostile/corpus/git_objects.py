"""Repositories whose objects, references and git folder are broken, forged, absurdly large, or pipes."""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.gitrepo import GitRepo
from tests.hostile.corpus.case import Case, Place
from tests.hostile.trees import EVIL_NAMES, evil_commit, raw_tree

_PERSON = "Stranger <s@example.org>"


def _hash(repo: GitRepo, kind: str, data: bytes) -> str:
    command = ["git", "-C", str(repo.path), "hash-object", "-t", kind, "-w", "--literally", "--stdin"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode().strip()


def _commit(repo: GitRepo, header: str, message: bytes = b"forged\n", *, extra: str = "") -> None:
    """A commit of HEAD's tree with this author and committer line, on top of HEAD."""
    tree, parent = repo.git("rev-parse", "HEAD^{tree}"), repo.head()
    text = f"tree {tree}\nparent {parent}\n{header}{extra}\n".encode("utf-8", "surrogateescape")
    repo.git("update-ref", "refs/heads/main", _hash(repo, "commit", text + message))


def _both(person: str) -> str:
    return f"author {person}\ncommitter {person}\n"


_HEADERS: dict[str, tuple[str, bytes]] = {
    "date before 1970": (_both(f"{_PERSON} -99999999 +0000"), b"m\n"),
    "date beyond every calendar": (_both(f"{_PERSON} 99999999999999999 +0000"), b"m\n"),
    "date beyond 64 bits": (_both(f"{_PERSON} {'9' * 40} +0000"), b"m\n"),
    "date that is a word": (_both(f"{_PERSON} yesterday +0000"), b"m\n"),
    "time zone": (_both(f"{_PERSON} 1700000000 +99999999"), b"m\n"),
    "no date": (_both(_PERSON), b"m\n"),
    "no author": (f"committer {_PERSON} 1700000000 +0000\n", b"m\n"),
    "no person at all": ("", b"m\n"),
    "author with escapes": (_both("\x1b]52;c;ZXZpbA==\x07\u202e <\x1b[2J@x> 1700000000 +0000"), b"m\n"),
    "author of bytes": (_both("\udcff\udcfe <\udc80> 1700000000 +0000"), b"\xff\xfe\n"),
    "author of a megabyte": (_both(f"{'A' * 1_000_000} <x> 1700000000 +0000"), b"m\n"),
    "message with escapes": (_both(f"{_PERSON} 1700000000 +0000"), b"\x1b]0;evil\x07\x1b[2J\x9b1m\r\xe2\x80\xaeforged\n"),
    "message of five megabytes": (_both(f"{_PERSON} 1700000000 +0000"), b"word " * 1_000_000),
    "message with NUL": (_both(f"{_PERSON} 1700000000 +0000"), b"a\0\0b\n\0\0deadbeef\0\n"),
    "message that is a record": (
        _both(f"{_PERSON} 1700000000 +0000"),
        b"x\n\0\0" + b"1" * 40 + b"\0\0" + b"forged author\0" + b"1\0" + b"1\0forged message\0",
    ),
    "message that is a patch": (_both(f"{_PERSON} 1700000000 +0000"), b"\ndiff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n"),
    "encoding of no such name": (_both(f"{_PERSON} 1700000000 +0000") + "encoding UTF-99\n", b"m\xe9\n"),
    "encoding that shifts": (_both(f"{_PERSON} 1700000000 +0000") + "encoding UTF-7\n", b"+ACI-\n"),
    "encoding UTF-16": (_both(f"{_PERSON} 1700000000 +0000") + "encoding UTF-16\n", "größe\n".encode("utf-16")),
    "signature of a megabyte": (_both(f"{_PERSON} 1700000000 +0000") + "gpgsig " + "x" * 1_000_000 + "\n", b"m\n"),
}  # fmt: skip


def _header_case(name: str) -> Case:
    header, message = _HEADERS[name]

    def build(_: Place, repo: GitRepo) -> None:
        _commit(repo, header, message)
        repo.commit({"more.rb": "def more\nend\n"})

    return Case(f"git commits: {name}", build)


def _loose(repo: GitRepo, oid: str) -> Path:
    return repo.path / ".git" / "objects" / oid[:2] / oid[2:]


def _damage(how: Callable[[Path], object], what: str) -> Callable[[Place, GitRepo], None]:
    """Damage the loose object that `what` names in HEAD, which the worktree has as a file all the same."""

    def build(_: Place, repo: GitRepo) -> None:
        repo.commit({"more.rb": "def more\nend\n"})
        repo.commit({"more.rb": "def more(x)\nend\n"})
        path = _loose(repo, repo.git("rev-parse", what))
        path.chmod(0o644)
        how(path)

    return build


def _as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


_DAMAGE: dict[str, Callable[[Path], object]] = {
    "removed": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-6]),
    "zeros": lambda path: path.write_bytes(bytes(64)),
    "of another": lambda path: path.write_bytes(zlib.compress(b"blob 5\0other")),
    "of a wrong length": lambda path: path.write_bytes(zlib.compress(b"blob 999999999\0short")),
    "a pipe": _as_pipe,
}
_PARTS = {
    "a file's blob of long ago": "HEAD~1:more.rb",
    "a tree of long ago": "HEAD~1^{tree}",
    "a commit of long ago": "HEAD~1",
}


def _bomb(depth: int, width: int) -> Callable[[Place, GitRepo], Path | None]:
    """A tree of width**depth files in a few kilobytes, never checked out: asked as it is in a bare clone."""

    def build(place: Place, repo: GitRepo) -> Path | None:
        oid = repo.git("hash-object", "-w", str(place.own / "lib/port.rb"))
        tree = raw_tree(repo, *(("100644", f"f{number}".encode(), oid) for number in range(width)))
        for _ in range(depth - 1):
            tree = raw_tree(repo, *(("40000", f"d{number}".encode(), tree) for number in range(width)))
        commit = repo.git("commit-tree", tree, "-p", "main", "-m", "bomb")
        repo.git("update-ref", "refs/heads/main", commit)
        return None

    return build


def _bomb_of_the_past(place: Place, repo: GitRepo) -> None:
    """Commits between good ones: the bomb comes and goes, twice."""
    good = repo.git("rev-parse", "HEAD^{tree}")
    _bomb(10, 10)(place, repo)
    bomb = repo.git("rev-parse", "main^{tree}")
    for tree, message in ((good, "no bomb"), (bomb, "again"), (good, "and gone")):
        repo.git("update-ref", "refs/heads/main", repo.git("commit-tree", tree, "-p", "main", "-m", message))


def _blob_bomb(place: Place, repo: GitRepo) -> None:
    """A file of 300 MB of zeros, 300 kB in git; on disk it is sparse."""
    with (place.own / "zeros.rb").open("wb") as file:
        file.truncate(300_000_000)
    repo.commit()


def _octopus(_: Place, repo: GitRepo) -> None:
    parents = [repo.git("commit-tree", "HEAD^{tree}", "-m", f"p{number}") for number in range(40)]
    options = [part for parent in parents for part in ("-p", parent)]
    repo.git("update-ref", "HEAD", repo.git("commit-tree", "HEAD^{tree}", "-m", "octopus", *options))


def _replace(place: Place, repo: GitRepo) -> None:
    """Replace refs and grafts that put other contents and another past in the place of the true ones."""
    evil = repo.write("evil", "def moor_vessel(forged)\nend\n")
    blob = repo.git("hash-object", "-w", str(evil))
    evil.unlink()
    for path in repo.git("ls-files").split("\n"):
        repo.git("replace", repo.git("rev-parse", f"HEAD:{path}"), blob)
    other = repo.git("commit-tree", "HEAD^{tree}", "-m", "forged past")
    (place.own / ".git" / "info" / "grafts").write_text(f"{repo.head()} {other}\n")


#: Files of the git folder that are pipes or links: git waits for ever when it opens one.
_PIPES = (
    "HEAD", "config", "index", "packed-refs", "shallow", "refs/heads/main", "info/exclude", "info/attributes",
    "info/grafts", "info/sparse-checkout", "objects/info/alternates", "objects/info/commit-graph",
    "objects/info/commit-graphs/commit-graph-chain", "objects/pack/multi-pack-index", "objects/pack/pack-00.idx",
    "commondir", "config.worktree", "MERGE_HEAD", "logs/HEAD", "refs/replace/x", "rebase-merge/head-name",
)  # fmt: skip


def _pipe_case(name: str, linked: bool) -> Case:
    def build(place: Place, _: GitRepo) -> None:
        path = place.own / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        target = place.victim / "pipe" if linked else path
        os.mkfifo(target)
        if linked:
            path.symlink_to(target)
        if name.endswith(".idx"):
            path.with_suffix(".pack").write_bytes(b"PACK")

    # Git does not open every one of these, and then the answers must be right.
    return Case(f"git pipes: {name}{', linked' if linked else ''}", build, refused="?")


_STATES: dict[str, Callable[[Place, GitRepo], object]] = {
    "HEAD that is no reference": lambda place, _: (place.own / ".git/HEAD").write_text("evil\n"),
    "HEAD that leads to itself": lambda place, _: (place.own / ".git/HEAD").write_text("ref: HEAD\n"),
    "HEAD above its folder": lambda place, _: (place.own / ".git/HEAD").write_text("ref: ../../victim/secret.txt\n"),
    "branch that is text": lambda place, _: (place.own / ".git/refs/heads/main").write_text("text\n"),
    "branch that is no commit": lambda place, repo: (place.own / ".git/refs/heads/main").write_text("1" * 40 + "\n"),
    "branch that links outside": lambda place, _: _relink(place.own / ".git/refs/heads/main", place.victim / "secret.txt"),
    "index of rubbish": lambda place, _: (place.own / ".git/index").write_bytes(b"DIRC" + bytes(60)),
    "index of many entries": lambda place, _: (place.own / ".git/index").write_bytes(b"DIRC\0\0\0\2\xff\xff\xff\xff" + bytes(20)),
    "index that links outside": lambda place, _: _relink(place.own / ".git/index", place.victim / "secret.txt"),
    "packed references of rubbish": lambda place, _: (place.own / ".git/packed-refs").write_bytes(b"\xff\0\n" * 50),
    "configuration of rubbish": lambda place, _: (place.own / ".git/config").write_bytes(b"[\xff\0\n"),
    "alternates in a circle": lambda place, _: _info(place, "alternates", "{own}/.git/objects\n"),
    "alternates outside": lambda place, _: _info(place, "alternates", "{victim}\n/dev\n/proc\n"),
    "shallow file of rubbish": lambda place, _: (place.own / ".git/shallow").write_text("rubbish\n"),
    "commit graph of rubbish": lambda place, _: _info(place, "commit-graph", "CGPH" + "\0" * 40),
    "pack of rubbish": lambda place, _: [(place.own / f".git/objects/pack/pack-{'1' * 40}.{end}").write_bytes(b"\xfftOc\0\0\0\2" + bytes(1200)) for end in ("idx", "pack")],
    "lock files": lambda place, _: [(place.own / ".git" / name).write_text("") for name in ("index.lock", "HEAD.lock", "config.lock")],
    "git folder that is empty": lambda place, _: _without_git_folder(place, None),
    "git file of rubbish": lambda place, _: _without_git_folder(place, "gitdir: \n"),
    "branches like options": lambda _, repo: [repo.git("update-ref", f"refs/heads/{name}", "HEAD") for name in ("--output=x", "-h", "@x", "HEAD", "main;touch x")],
    "unborn branch": lambda _, repo: repo.git("symbolic-ref", "HEAD", "refs/heads/none"),
    "detached head": lambda _, repo: repo.git("checkout", "-q", "--detach"),
    "merge in conflict": lambda _, repo: _conflict(repo),
    "octopus of forty": _octopus,
    "replaced objects and grafts": _replace,
    "file of 300 MB": _blob_bomb,
}  # fmt: skip
_REFUSED = {
    "HEAD that is no reference", "HEAD that leads to itself", "HEAD above its folder", "index of rubbish",
    "index of many entries", "index that links outside", "packed references of rubbish", "configuration of rubbish",
    "branch that is text", "branch that links outside", "shallow file of rubbish", "git folder that is empty",
    "git file of rubbish", "commit graph of rubbish", "pack of rubbish", "branch that is no commit",
}  # fmt: skip


def _relink(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


def _info(place: Place, name: str, text: str) -> None:
    (place.own / ".git" / "objects" / "info" / name).write_text(place.fill(text))


def _conflict(repo: GitRepo) -> None:
    repo.branch("other")
    repo.commit({"more.txt": "a\n"})
    repo.switch("main")
    repo.commit({"more.txt": "b\n"})
    repo.merge("other")


def _changed(change: Callable[[Place, GitRepo], object]) -> Callable[[Place, GitRepo], None]:
    def build(place: Place, repo: GitRepo) -> None:
        change(place, repo)

    return build


def _without_git_folder(place: Place, text: str | None) -> None:
    """A `.git` that is an empty folder, or a file of this text."""
    shutil.rmtree(place.own / ".git")
    (place.own / ".git").mkdir() if text is None else (place.own / ".git").write_text(text)


def _tree_case(name: str) -> Case:
    def build(place: Place, repo: GitRepo) -> None:
        evil_commit(repo, name, place.victim)
        repo.git("reset", "-q", check=False)

    at = ("--at", "evil", "--json")
    questions = (
        ("index", "--views", "lexical,trigram,graph", *at),
        ("regex", "stranger", *at),
        ("search", "good", *at),
    )
    return Case(f"git trees: {name.replace('{victim}', 'absolute')}", build, questions=questions)


def object_cases() -> Iterator[Case]:
    """Every case of this module."""
    yield from map(_header_case, _HEADERS)
    for part, what in _PARTS.items():
        for how, damage in _DAMAGE.items():
            yield Case(f"git objects: {part}, {how}", _damage(damage, what), refused="?")
    for name in _PIPES:
        yield _pipe_case(name, linked=False)
    for name in _PIPES[:8:2]:
        yield _pipe_case(name, linked=True)
    for name, change in _STATES.items():
        yield Case(f"git states: {name}", _changed(change), refused="?" if name in _REFUSED else "")
    yield from map(_tree_case, EVIL_NAMES)
    yield Case("git bombs: ten billion files", _bomb(10, 10), refused="files")
    yield Case("git bombs: in a commit of the past", _bomb_of_the_past)
    yield Case("git bombs: a thousand files deep", _bomb(500, 1), refused="?")
