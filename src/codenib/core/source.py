"""Values of the source side: where code is, what a snapshot holds, what a unit is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file, 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line}"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a snapshot: its path and the digest of its bytes (a git blob id)."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """Which files are left in and out, which are tests, and in which language files are, all by path globs.

    `include` and `exclude` decide which files a snapshot has. The others decide what is derived from them, so
    they are part of the profile of every view that they change; without any, profiles are as they were.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    not_tests: tuple[str, ...] = ()
    languages: tuple[tuple[str, str], ...] = ()  # glob and language; the first that matches holds

    def __bool__(self) -> bool:
        return self != DEFAULT_SETTINGS

    @property
    def language_fields(self) -> dict[str, str]:
        """What it adds to the profile of a view whose content depends on languages."""
        return {"languages": json.dumps(self.languages)} if self.languages else {}

    @property
    def profile_fields(self) -> dict[str, str]:
        """What it adds to the profile of a view whose content depends on languages and marks."""
        named = {"tests": self.tests, "not_tests": self.not_tests}
        marks = {name: json.dumps(globs) for name, globs in named.items() if globs}
        return {**self.language_fields, **marks}


DEFAULT_SETTINGS = SourceSettings()


@dataclass(frozen=True)
class SourceSnapshot:
    """An immutable state of a repository: a commit, or a worktree with its uncommitted edits.

    `files` maps each path to its blob digest. Rules on paths (ignored, symbolic link, submodule) are already
    applied, with their counts in `skipped`; rules on content (binary, huge, minified) are a blob's own fact.
    `settings` are what configuration said when it was taken.
    """

    repository: str
    commit: str | None
    dirty: bool
    files: Mapping[str, str]
    skipped: Mapping[str, int] = field(default_factory=dict)
    settings: SourceSettings = DEFAULT_SETTINGS

    @cached_property
    def tree(self) -> str:
        """Identity of the content alone: equal for two commits with the same files."""
        rows = "".join(f"{path}\0{digest}\n" for path, digest in sorted(self.files.items()))
        return hashlib.sha256(rows.encode()).hexdigest()

    @cached_property
    def id(self) -> str:
        """Identity of the snapshot: the content, the commit that it stands on, and how it is to be read."""
        read = f"\n{self.settings}" if self.settings else ""
        return hashlib.sha256(f"{self.commit or ''}\n{self.tree}{read}".encode()).hexdigest()[:32]

    def source_files(self) -> list[SourceFile]:
        """All files, in path order."""
        return [SourceFile(path, digest) for path, digest in sorted(self.files.items())]


@dataclass(frozen=True, slots=True)
class Delta:
    """What turns the files of one snapshot into those of another, each part in path order.

    A rename stands in `removed` and `added` too: `renamed` only says which belong together, as (old, new).
    `commit` is the one that the target stands on.
    """

    base: str
    target: str
    added: tuple[SourceFile, ...] = ()
    changed: tuple[SourceFile, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    commit: str | None = None

    def __len__(self) -> int:
        return len(self.added) + len(self.changed) + len(self.removed)


class Level(IntEnum):
    """The paper's granularities."""

    L0 = 0  # file
    L1 = 1  # type-like scope, and the lines of a scope that no callable holds
    L2 = 2  # callable or other leaf declaration


class Mark(IntFlag):
    """What code is besides the program itself; ranking may put marked code lower."""

    NONE = 0
    TEST = 1
    EXAMPLE = 2
    VENDORED = 4
    GENERATED = 8
    PROSE = 16


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A unit of a blob, before it has a path. `leaf` rows of a file cover each of its lines exactly once.

    Rows that are no leaf are the file, its type-like scopes (L1), and declarations inside of leaves (L2):
    nested functions, and macros, constants and aliases of one line, which can be asked for by name.
    `test` rows are tests by what the source says (`#[cfg(test)]`), whatever their path is.
    """

    start_line: int
    end_line: int
    level: Level
    kind: str
    symbol: str = ""
    leaf: bool = True
    test: bool = False


@dataclass(frozen=True, slots=True)
class BlobUnits:
    """What parsing a blob gave; `skip` names the reason when it is not indexed: then there are no rows."""

    language: str
    lines: int
    rows: tuple[UnitRow, ...] = ()
    skip: str = ""


@dataclass(frozen=True, slots=True)
class UnitAddress:
    """Where an indexed unit stands, and what it is; its text is the snapshot's."""

    span: Span
    level: Level
    kind: str
    symbol: str
    language: str
    marks: Mark


@dataclass(frozen=True, slots=True)
class SourceUnit:
    """A source unit in its snapshot: the paper's tuple of path, range, level, kind, text and symbol."""

    span: Span
    level: Level
    kind: str
    language: str
    symbol: str
    text: str

    @property
    def id(self) -> str:
        """Unique within a snapshot."""
        return f"{self.span}#{self.level.name}"
