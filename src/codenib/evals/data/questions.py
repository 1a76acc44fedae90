"""A clone of semble's public benchmark in, its questions with their relevant places out; nothing is copied.

The benchmark names repositories with a revision (`benchmarks/repos.json`) and, for each, questions with the
files or line ranges that answer them (`benchmarks/annotations/NAME.json`).
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import msgspec

from codenib.core.errors import InputError
from codenib.evals.data.clones import git

Half = Literal["choose", "report"]
HALVES: tuple[Half, ...] = ("choose", "report")
_FOLDER = "benchmarks"
_HINT = "--benchmark CLONE, a git clone of semble with benchmarks/repos.json"
# Repositories that results are reported on elsewhere too: nothing may be chosen on them.
_REPORTED_ELSEWHERE = """
  astropy axios babel bat caddy core coreutils docusaurus fmt gin hugo jq matplotlib micropython nushell
  preact prometheus redis ruff scikit-learn sympy terraform tokio valkey xarray
"""


class Target(msgspec.Struct, frozen=True):
    """A file that answers a question, or lines of it."""

    path: str
    start_line: int | None = None
    end_line: int | None = None

    def covers(self, path: str, start_line: int, end_line: int) -> bool:
        """Whether a result at these lines shows the target; paths agree when one ends with the other."""
        if not (path == self.path or path.endswith(f"/{self.path}") or self.path.endswith(f"/{path}")):
            return False
        if self.start_line is None or self.end_line is None:
            return True
        return start_line <= self.end_line and end_line >= self.start_line


class BenchmarkRepository(msgspec.Struct, frozen=True):
    """A repository at the revision that its questions are about; `root` is the folder that is searched."""

    name: str
    language: str
    url: str
    revision: str
    root: str | None = msgspec.field(default=None, name="benchmark_root")

    @property
    def repo(self) -> str:
        """`owner/name`, as clones are looked up."""
        return "/".join(self.url.removesuffix(".git").split("/")[-2:])

    @property
    def half(self) -> Half:
        """Constants may be chosen on the one half and are reported on the other; split by the name's hash."""
        named = self.repo.rpartition("/")[2].lower()
        even = int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % 2 == 0
        return "choose" if even and named not in _REPORTED_ELSEWHERE.split() else "report"

    @property
    def paths(self) -> tuple[str, ...]:
        """The filter that keeps a search inside the benchmark's folder."""
        root = (self.root or "").strip("/.")
        return (f"{root}/**",) if root else ()


class Question(msgspec.Struct, frozen=True):
    """A question, its kind, and every place that answers it."""

    query: str
    category: str
    targets: tuple[Target, ...]


class _Annotation(msgspec.Struct, frozen=True):
    query: str
    relevant: tuple[str | Target, ...] = ()
    secondary: tuple[str | Target, ...] = ()
    category: str = ""


def read_benchmark(clone: Path) -> dict[BenchmarkRepository, list[Question]]:
    """The repositories of the benchmark that have questions, in the benchmark's order."""
    rows = _read(clone, f"{_FOLDER}/repos.json")
    try:
        repositories = msgspec.json.decode(rows, type=list[BenchmarkRepository])
        return {each: _questions(clone, each.name) for each in repositories}
    except msgspec.ValidationError as error:
        raise InputError(f"{clone} has another form than expected: {error}", hint=_HINT) from error


def _questions(clone: Path, name: str) -> list[Question]:
    rows = msgspec.json.decode(_read(clone, f"{_FOLDER}/annotations/{name}.json"), type=list[_Annotation])
    return [
        Question(
            row.query,
            row.category or _category(row.query),
            tuple(
                Target(each) if isinstance(each, str) else each for each in (*row.relevant, *row.secondary)
            ),
        )
        for row in rows
    ]


def _category(query: str) -> str:
    """The kind of a question that names none: one word is a symbol, "how …" asks about architecture."""
    if " " not in query.strip():
        return "symbol"
    return "architecture" if query.lower().startswith("how ") else "semantic"


def _read(clone: Path, path: str) -> bytes:
    """A file of the clone's newest commit, bare or not."""
    if not clone.is_dir():
        raise InputError(f"{clone} is no folder", hint=_HINT)
    done = git(clone, "show", f"HEAD:{path}", check=False)
    if done.returncode != 0:
        raise InputError(f"{clone} has no {path}", hint=_HINT)
    return done.stdout.encode("utf-8", "surrogateescape")
