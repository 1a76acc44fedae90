"""Real git repositories for tests: `GitRepo(path)` makes one, its methods edit it."""

from __future__ import annotations

import subprocess
from pathlib import Path

_IDENTITY = (
    *("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgSign=false"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false"),  # nothing goes on after a command
)


class GitRepo:
    """A repository at `path`, made when there is none: `GitRepo(tmp_path / "x", "--bare")`."""

    def __init__(self, path: Path, *init: str) -> None:
        self.path = path
        if not path.exists() or not any(path.iterdir()):
            path.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", "-b", "main", *init)

    def git(self, *args: str, check: bool = True) -> str:
        """Run git here; the output without its last line break."""
        done = subprocess.run(
            ["git", *_IDENTITY, "-C", str(self.path), *args], capture_output=True, text=True, check=False
        )
        if check and done.returncode != 0:
            raise AssertionError(f"git {' '.join(args)}: {done.stderr}")
        return done.stdout.rstrip("\n")

    def write(self, path: str, content: str | bytes = "") -> Path:
        """Write a file, with its folders."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def commit(self, files: dict[str, str] | None = None, message: str = "commit") -> str:
        """Write `files`, commit everything, return the commit's id."""
        for path, content in (files or {}).items():
            self.write(path, content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str) -> None:
        """Create `name` at HEAD and switch to it."""
        self.git("switch", "-q", "-c", name)

    def switch(self, name: str) -> None:
        self.git("switch", "-q", name)

    def merge(self, name: str) -> bool:
        """Merge `name`; False when it conflicts and the worktree is left in that state."""
        self.git("merge", "-q", "--no-edit", name, check=False)
        return not self.git("ls-files", "-u")

    def worktree(self, path: Path, *args: str) -> GitRepo:
        """Add a linked worktree at `path`."""
        self.git("worktree", "add", "-q", *args, str(path))
        return GitRepo(path)

    def clone(self, path: Path, *args: str) -> GitRepo:
        """Clone this repository to `path` through git's transport, so that --depth and --filter count."""
        self.git("-c", "uploadpack.allowFilter=true", "clone", "-q", *args, f"file://{self.path}", str(path))
        return GitRepo(path)

    def remove(self, path: str) -> None:
        (self.path / path).unlink()
