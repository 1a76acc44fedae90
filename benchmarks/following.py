"""Whether an engine that stays follows commits exactly: `python -m benchmarks.following CLONE GROUP`.

The last first-parent commits (`--commits N`) that change files of the group are checked out one by one. An
engine that stays is told what changed; another one, started for each commit, reads all files. Their facts
must be equal, file by file. Costs are processor seconds of the engines alone. CLONE may be bare.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from codenib.core.protocols import DifferenceEngine, ResidentBackend
from codenib.manifest.home import tools_folder
from codenib.navigation.engines.watchdog import cpu_seconds
from codenib.navigation.registry import GROUPS, backends_of
from codenib.navigation.tools.locate import Toolbox
from codenib.units.languages import language_hint
from codenib.units.notebook_code import exported_code
from codenib.views.graph.facts.bind import Binder
from codenib.views.graph.facts.canonical import canonical

SHOWN = 8

Lines = dict[str, bytes]


class FollowingEngine(DifferenceEngine, Protocol):
    """An engine with a process of its own."""

    @property
    def pid(self) -> int: ...


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("clone", type=Path)
    parser.add_argument("group", choices=[group.name for group in GROUPS])
    parser.add_argument("--commits", type=int, default=8)
    parser.add_argument("--until", default="HEAD", help="the last commit")
    arguments = parser.parse_args()
    languages = next(group.languages for group in GROUPS if group.name == arguments.group)
    backend = backends_of(Toolbox(tools_folder()), languages)[arguments.group][0]
    assert isinstance(backend, ResidentBackend)
    history = History(arguments.clone, languages)
    ratios = []
    with tempfile.TemporaryDirectory(prefix="codenib-following-") as folder:
        walk = Walk(history, backend, Path(folder).resolve())
        for commit in history.changing(arguments.until, arguments.commits):
            ratio = walk.advance(commit)
            if ratio is not None:
                ratios.append(ratio)
        walk.close()
    if ratios:
        print(f"median {statistics.median(ratios):.1f}x of {len(ratios)}, {walk.unequal} not equal")


class History:
    """A clone, and which of its files are of the group's languages."""

    def __init__(self, clone: Path, languages: Iterable[str]) -> None:
        self.clone = clone
        self.languages = frozenset(languages)

    def is_source(self, path: str) -> bool:
        return language_hint(path) in self.languages

    def changing(self, until: str, count: int) -> list[str]:
        """The last commits that change such a file, the oldest first, and the one before them."""
        found: list[str] = []
        for commit in self.git("rev-list", "--first-parent", "-n", "2000", until).decode().split():
            if any(map(self.is_source, self.changed(f"{commit}^", commit))):
                found.append(commit)
            if len(found) > count:
                break
        return found[::-1]

    def changed(self, before: str, after: str) -> list[str]:
        return self.names("diff", "--name-only", "--no-renames", "-z", before, after)

    def names(self, *arguments: str) -> list[str]:
        return [name for name in self.git(*arguments).decode().split("\0") if name]

    def text(self, commit: str, path: str) -> bytes | None:
        return self.git("cat-file", "blob", f"{commit}:{path}") or None

    def git(self, *arguments: str, index: Path | None = None) -> bytes:
        own = {"GIT_INDEX_FILE": str(index)} if index else {}
        command = ["git", "-C", str(self.clone), *arguments]
        return subprocess.run(command, capture_output=True, check=False, env={**os.environ, **own}).stdout


class Walk:
    """A checkout that goes from commit to commit, with an engine that stays."""

    def __init__(self, history: History, backend: ResidentBackend, folder: Path) -> None:
        self.history = history
        self.backend = backend
        self.root, self.index = folder / "checkout", folder / "index"
        self.root.mkdir()
        self.engine: FollowingEngine | None = None
        self.lines: Lines = {}
        self.commit = ""
        self.unequal = 0

    def advance(self, commit: str) -> float | None:
        """Rebuild ÷ update in processor seconds; None where there is nothing to follow, or it cannot be."""
        before, self.commit = self.commit, commit
        self.history.git(f"--work-tree={self.root}", "read-tree", "--reset", "-u", commit, index=self.index)
        listed = self.history.names("ls-tree", "-r", "--name-only", "-z", commit)
        files = sorted(filter(self.history.is_source, listed))
        changed = self.history.changed(before, commit) if before else []
        if reason := next(filter(None, (self.reason(before, commit, path) for path in changed)), ""):
            print(f"{commit[:10]} not followed: {reason}", flush=True)
            self.close()
        if self.engine is None:
            self.engine, self.lines, _ = self.read(files)
            return None
        return self.follow(self.engine, files, changed)

    def follow(self, engine: FollowingEngine, files: Sequence[str], changed: Sequence[str]) -> float:
        begun = cpu_seconds(engine.pid)
        engine.sync(files, changed)
        lines, same = engine.differing(files, anew=False)
        spent = cpu_seconds(engine.pid) - begun
        self.lines = {**{path: self.lines[path] for path in same}, **lines}
        fresh, rebuilt, cost = self.read(files)
        fresh.close()
        different = self.different(self.lines, rebuilt)
        self.unequal += bool(different)
        verdict = f"{len(different)} of {len(files)} files differ" if different else "equal"
        ratio = cost / spent
        print(
            f"{self.commit[:10]} {verdict}, {cost:.2f} / {spent:.2f} s, {ratio:.1f}x, "
            f"{len(lines)} files given",
            flush=True,
        )
        for path in different[:SHOWN]:
            print(f"  {path}", flush=True)
        return ratio

    def read(self, files: Sequence[str]) -> tuple[FollowingEngine, Lines, float]:
        """A new engine, the facts of all files by it, and its processor seconds."""
        engine = cast("FollowingEngine", self.backend.engine(self.root, trusted=True))
        engine.sync(files, [])
        lines, _ = engine.differing(files, anew=True)
        return engine, dict(lines), cpu_seconds(engine.pid)

    def different(self, ours: Lines, theirs: Lines) -> list[str]:
        """The files whose facts differ, as the graph stores them."""
        if ours == theirs:
            return []
        one, two = (self.bound(lines) for lines in (ours, theirs))
        return sorted(path for path in one.keys() | two.keys() if one.get(path) != two.get(path))

    def bound(self, lines: Lines) -> dict[str, tuple[object, ...]]:
        binder = Binder(self.backend.group, partial(exported_code, self.root))
        for path in sorted(lines):
            binder.add(lines[path])
        return {facts.path: canonical(facts).plain() for facts in binder.bind()}

    def reason(self, before: str, after: str, path: str) -> str:
        """Why a change of a file that is no source is more than the engine follows."""
        if self.history.is_source(path):
            return ""
        texts = self.history.text(before, path), self.history.text(after, path)
        return self.backend.configures(self.root, path, *texts)

    def close(self) -> None:
        if self.engine is not None:
            self.engine.close()
        self.engine = None


if __name__ == "__main__":
    main()
