"""Invariant 2: maintained equals rebuilt, on any sequence of edits, through the whole product."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.gitrepo import GitRepo

import codenib
from codenib.core.answers import Evidence
from codenib.core.views import Status

PATHS = st.sampled_from(
    ["a.py", "b.py", "lib/c.go", "lib/deep/d.rs", "tests/test_e.py", "doc/f.md", "straße/ü.js", "g.txt", "h"]
)
CONTENTS = st.sampled_from(
    [
        "",
        "\n",
        "def harbour(ship):\n    return ship.dock()\n",
        "class Harbour:\n    depth = 3\n\n    def dock(self):\n        return 'pier'\n",
        "func harbour() int { return pier }\n",
        "fn pier() -> u8 { harbour() }\n",
        "# Harbour\n\nThe pier is deep.\n\n## Dock\n\nShips dock here.\n",
        "function größe() { return 'naïve harbour 🚢' }\n",
        "pier\r\nharbour\r\n",
        "no line feed at the end: dock",
        "pier = [\n" + "    'harbour dock',\n" * 40 + "]\n",
    ]
)
BINARY = b"\x89PNG\0harbour\0"
IGNORES = st.sampled_from(["", "lib/\n", "*.py\n!a.py\n", "doc\n*.txt\n", "straße/\n"])
CONFIGURATIONS = st.sampled_from(
    [
        "",
        '[paths]\nexclude = ["lib/**", "codenib.toml"]\n',
        '[paths]\ninclude = ["*.py", "doc"]\n[tests]\ninclude = ["a.py"]\n',
        '[tests]\nexclude = ["tests/**"]\n[languages]\n"*.txt" = "python"\n"h" = "markdown"\n',
        '[languages]\n"*.py" = "text"\n',
    ]
)
QUERIES = ("harbour", "dock pier", "größe", "ships deep", "test_e")


@contextmanager
def home_at(folder: Path) -> Iterator[None]:
    before = os.environ["CODENIB_HOME"]
    os.environ["CODENIB_HOME"] = str(folder)
    try:
        yield
    finally:
        os.environ["CODENIB_HOME"] = before


@dataclass(frozen=True)
class Seen:
    """Everything that a query can see of a snapshot, scores bit for bit."""

    snapshot: str
    ranked: dict[tuple[str, str], tuple[tuple[Evidence, ...], int]]
    lines: list[tuple[str, int, int, str]]


def see(root: Path) -> Seen:
    with codenib.open(root) as workspace:
        answers = {
            (query, level): workspace.search(query, k=50, level=level)
            for query in QUERIES
            for level in ("unit", "file")
        }
        found = workspace.regex("harbou?r|dock", ignore_case=True, k=None)
    snapshots = {answer.snapshot.id for answer in answers.values()} | {found.snapshot.id}
    assert len(snapshots) == 1
    return Seen(
        snapshots.pop(),
        {asked: (answer.items, answer.total) for asked, answer in answers.items()},
        [(match.path, match.line, match.column, match.text) for match in found.items],
    )


class Edits(RuleBasedStateMachine):
    """A worktree that is edited at random; each step is maintained, verified and compared with a rebuild."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="codenib-edits-"))
        self.repo = GitRepo(self.folder / "repo")
        self.branches = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        self.repo.commit({"a.py": "def harbour(ship):\n    return ship.dock()\n", "doc/f.md": "# Pier\n"})

    @rule(path=PATHS, content=CONTENTS)
    def write(self, path: str, content: str) -> None:
        self.repo.write(path, content)

    @rule(path=PATHS)
    def make_binary(self, path: str) -> None:
        self.repo.write(path, BINARY)

    @rule(path=PATHS, content=CONTENTS)
    def append(self, path: str, content: str) -> None:
        file = self.repo.path / path
        self.repo.write(path, (file.read_bytes() if file.exists() else b"") + content.encode())

    @rule(path=PATHS)
    def delete(self, path: str) -> None:
        (self.repo.path / path).unlink(missing_ok=True)

    @rule(path=PATHS, goal=PATHS)
    def rename(self, path: str, goal: str) -> None:
        if (self.repo.path / path).exists():
            (self.repo.path / goal).parent.mkdir(parents=True, exist_ok=True)
            (self.repo.path / path).rename(self.repo.path / goal)

    @rule(path=PATHS, folder=st.sampled_from(["copies", "copies/again", "vendor"]))
    def copy(self, path: str, folder: str) -> None:
        if (self.repo.path / path).exists():
            self.repo.write(f"{folder}/{path}", (self.repo.path / path).read_bytes())

    @rule(patterns=IGNORES)
    def ignore(self, patterns: str) -> None:
        self.repo.write(".codenibignore", patterns)

    @rule(text=CONFIGURATIONS)
    def configure(self, text: str) -> None:
        self.repo.write("codenib.toml", text)

    @rule()
    def commit(self) -> None:
        self.repo.commit()

    @rule()
    def branch(self) -> None:
        self.branches += 1
        self.repo.branch(f"branch{self.branches}")

    @rule(number=st.integers(0, 5))
    def switch(self, number: int) -> None:
        """As a person would: with everything committed."""
        self.repo.commit()
        self.repo.switch("main" if number == 0 or number > self.branches else f"branch{number}")

    @invariant()
    def maintained_equals_rebuilt(self) -> None:
        root = self.repo.path
        with home_at(self.folder / "maintained"), codenib.open(root) as workspace:
            outcome = workspace.update()
            assert all(record.status is Status.FRESH for record in outcome.manifest.views.values())
            assert workspace.verify() == {kind: [] for kind in outcome.manifest.views}
            maintained = see(root)
        assert maintained.snapshot == outcome.manifest.snapshot
        with home_at(self.folder / "rebuilt"):
            rebuilt = see(root)
        shutil.rmtree(self.folder / "rebuilt")
        assert maintained == rebuilt


TestEdits = Edits.TestCase
TestEdits.settings = settings(
    max_examples=5,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
