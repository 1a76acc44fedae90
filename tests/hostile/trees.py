"""Git trees that git itself would not write: names that lead outside, folders of git, one name twice."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.gitrepo import GitRepo

Entry = tuple[str, bytes, str]


def raw_tree(repo: GitRepo, *entries: Entry) -> str:
    """A tree object with entries (mode, name, id) as they stand."""
    data = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries)
    command = ["git", "-C", str(repo.path), "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode().strip()


def evil_commit(repo: GitRepo, name: str, victim: Path) -> str:
    """A commit with `name` beside a good file; `{victim}` in it is a place outside. On the branch `evil`."""
    repo.commit({"good.c": "int good(void);\n"})
    good = repo.git("rev-parse", "HEAD:good.c")
    evil = repo.write("evil.txt", "text of a stranger\n")
    blob = repo.git("hash-object", "-w", "--", str(evil))
    evil.unlink()
    tree = raw_tree(repo, *_entries(repo, name.format(victim=victim), blob, good))
    commit = repo.git("commit-tree", tree, "-m", "evil")
    repo.git("update-ref", "refs/heads/evil", commit)
    return commit


def _entries(repo: GitRepo, name: str, blob: str, good: str) -> list[Entry]:
    if name == "shadow":
        folder = raw_tree(repo, ("100644", b"inner.c", blob))
        return [("100644", b"good.c", good), ("100644", b"same", blob), ("40000", b"same", folder)]
    if name.startswith("deep:"):
        *folders, last = name[5:].split("|")
        tree = raw_tree(repo, ("100644", last.encode(), blob))
        for folder in reversed(folders[1:]):
            tree = raw_tree(repo, ("40000", folder.encode(), tree))
        return [("40000", folders[0].encode(), tree), ("100644", b"good.c", good)]
    return [("100644", name.encode(), blob), ("100644", b"good.c", good)]


#: Names of files and, after `deep:`, of folders and a file below each other.
EVIL_NAMES = (
    "../outside.c", "../../outside.c", "{victim}/outside.c", "/tmp/codenib-hostile-outside.c",
    "a/../../outside.c", "//outside.c", "deep:..|outside.c", "deep:..|..|..|outside.c", "deep:.|outside.c",
    "deep:sub|..|..|outside.c", ".git/config", ".GIT/config", "deep:.git|config",
    "deep:.Git|hooks|post-checkout", "deep:sub|.git|config", "deep:sub|git~1|config", "..", ".", ".git",
    "shadow",
)  # fmt: skip
