"""What a hostile case is: a builder, what must stay untouched and unread, and what must still be answered.

Beside each repository (`own`) lies a folder of the user (`victim`) with a secret, programs that leave a file
when they run, and a port on which nobody may be called. Texts of cases have `{own}`, `{victim}`, `{program}`
and `{port}` in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.gitrepo import GitRepo

#: In files outside of the repository: no answer, log or store may have it.
SECRET = "canary-7f3a-text-of-the-user"
#: A name that is declared outside of the repository alone.
SECRET_NAME = "canary_of_the_user"
_PROGRAMS = (
    "program",
    "git",
    "python",
    "python3",
    "node",
    "npm",
    "cc",
    "clang",
    "gcc",
    "rustc",
    "cargo",
    "go",
)
_HOOKS = (
    "post-index-change",
    "reference-transaction",
    "post-checkout",
    "fsmonitor-watchman",
    "query-watchman",
)
_SCRIPT = '#!/bin/sh\ntouch "{victim}/ran-$(basename "$0")"\ncat 2>/dev/null\n'


@dataclass(frozen=True)
class Place:
    """Where one case is made and run."""

    root: Path
    port: int = 9

    @property
    def own(self) -> Path:
        return self.root / "own"

    @property
    def victim(self) -> Path:
        return self.root / "victim"

    def fill(self, text: str) -> str:
        """`text` with the places of this case; other braces stay."""
        names = {
            "{own}": self.own, "{victim}": self.victim, "{program}": self.victim / "bin" / "program",
            "{port}": self.port, "{hooks}": self.victim / "hooks", "{more}": self.victim / "more",
        }  # fmt: skip
        for name, value in names.items():
            text = text.replace(name, str(value))
        return text

    def furnish(self) -> None:
        """The user's folder: a secret in every language, programs and hooks that tell when they ran."""
        for folder in ("bin", "hooks", "cache"):
            (self.victim / folder).mkdir(parents=True)
        script = self.fill(_SCRIPT)
        for name in (*(f"bin/{name}" for name in _PROGRAMS), *(f"hooks/{name}" for name in _HOOKS)):
            (self.victim / name).write_text(script)
            (self.victim / name).chmod(0o755)
        (self.victim / "more").write_text(self.fill('[filter "evil"]\n\tclean = {program}\n'))
        for name, text in SECRETS_OUTSIDE.items():
            (self.victim / name).write_text(text)

    def files(self, files: Mapping[str, str | bytes]) -> None:
        """Write files of the repository, with the places filled in."""
        for path, content in files.items():
            name = self.own / self.fill(path)
            name.parent.mkdir(parents=True, exist_ok=True)
            name.write_bytes(self.fill(content).encode() if isinstance(content, str) else content)


SECRETS_OUTSIDE = {
    "secret.txt": f"{SECRET}\n",
    "secret.py": f'def {SECRET_NAME}():\n    return "{SECRET}"\n',
    "secret.ts": f'export function {SECRET_NAME}() {{ return "{SECRET}"; }}\n',
    "secret.go": f'package victim\n\nfunc {SECRET_NAME}() string {{ return "{SECRET}" }}\n',
    "secret.rs": f'pub fn {SECRET_NAME}() -> &\'static str {{ "{SECRET}" }}\n',
    "secret.h": f'static const char *{SECRET_NAME}(void) {{ return "{SECRET}"; }}\n',
}


@dataclass(frozen=True)
class Project:
    """Good source beside what is hostile: where `moor_vessel` is declared and used."""

    language: str
    files: Mapping[str, str]
    declared: tuple[str, int]
    used: tuple[tuple[str, int, int], ...]  # path, line, column, 1-based

    @property
    def places(self) -> set[tuple[str, int]]:
        """Every line that has the name."""
        return {self.declared, *((path, line) for path, line, _ in self.used)}


RUBY = Project(
    "ruby",
    {
        "lib/quay.rb": "# Moors a vessel at the quay.\ndef moor_vessel(rope)\n  rope * 2\nend\n",
        "lib/port.rb": "require_relative 'quay'\n\ndef arrive\n  moor_vessel(4)\nend\n",
    },
    ("lib/quay.rb", 2),
    (("lib/port.rb", 4, 3),),
)
PYTHON = Project(
    "python",
    {
        "quay.py": 'def moor_vessel(rope: int) -> int:\n    """Moor a vessel at the quay."""\n    return rope\n',
        "port.py": "import quay\n\n\ndef arrive() -> int:\n    return quay.moor_vessel(4)\n",
    },
    ("quay.py", 1),
    (("port.py", 5, 17),),
)
TYPESCRIPT = Project(
    "typescript",
    {
        "quay.ts": "/** Moor a vessel at the quay. */\nexport function moor_vessel(rope: number) { return rope; }\n",
        "port.ts": 'import * as quay from "./quay";\n\nexport const arrive = () => quay.moor_vessel(4);\n',
    },
    ("quay.ts", 2),
    (("port.ts", 3, 34),),
)
GO = Project(
    "go",
    {
        "go.mod": "module example.org/harbour\n\ngo 1.21\n",
        "quay.go": "package harbour\n\n// Moor a vessel at the quay.\nfunc moor_vessel(rope int) int { return rope }\n",
        "port.go": "package harbour\n\nfunc Arrive() int { return moor_vessel(4) }\n",
    },
    ("quay.go", 4),
    (("port.go", 3, 28),),
)
RUST = Project(
    "rust",
    {
        "Cargo.toml": '[package]\nname = "harbour"\nversion = "0.1.0"\nedition = "2021"\n\n[workspace]\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "harbour"\nversion = "0.1.0"\n',
        "src/lib.rs": "/// Moor a vessel at the quay.\npub fn moor_vessel(rope: i32) -> i32 {\n    rope\n}\n"
        "pub fn arrive() -> i32 { moor_vessel(4) }\n",
    },
    ("src/lib.rs", 2),
    (("src/lib.rs", 5, 26),),
)
C = Project(
    "cpp",
    {
        "quay.h": "/* Moor a vessel at the quay. */\nint moor_vessel(int rope);\n",
        "port.c": '#include "quay.h"\nint arrive(void) { return moor_vessel(4); }\n',
    },
    ("quay.h", 2),
    (("port.c", 2, 27),),
)


@dataclass(frozen=True)
class Case:
    """One hostile repository.

    `build` makes it at a place whose good files and first commit are there; it returns nothing, or the folder
    that questions are asked from. `refused` is a part of the message where nothing at all may be answered; "?"
    where a clean refusal is as good as a right answer.
    `hidden` are texts that no answer may have; `reads` are paths that are asked for, whatever comes.
    """

    name: str
    build: Callable[[Place, GitRepo], Path | None]
    project: Project = RUBY
    refused: str = ""
    hidden: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    questions: tuple[tuple[str, ...], ...] = ()
    git: bool = True
    more_places: frozenset[tuple[str, int]] = field(default_factory=frozenset)

    @property
    def family(self) -> str:
        return self.name.partition(":")[0]

    @property
    def is_engine(self) -> bool:
        """Whether it is an engine's case; the others are repositories."""
        return self.family.startswith("engine")

    def make(self, place: Place) -> Path:
        """Build everything; the folder that questions are asked from."""
        place.furnish()
        place.own.mkdir()
        place.files(self.project.files)
        repo = GitRepo(place.own)
        if self.git:
            repo.git("init", "-q", "-b", "main")
            repo.commit(message="one")
        return self.build(place, repo) or place.own


def from_files(name: str, files: Mapping[str, str | bytes], project: Project = RUBY, **more: object) -> Case:
    """A case of files alone, committed."""

    def build(place: Place, repo: GitRepo) -> None:
        place.files(files)
        repo.commit(message="two")

    return Case(name, build, project, **more)  # type: ignore[arg-type]
