"""The graph for the compiler: a snapshot in, its facts and the assembled graph out.

Each group of languages has its backend. One that fails leaves its files to the syntactic backend, under the
syntactic group's name, so that nothing answers as if it were resolved; the reason stays with the artifact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from codenib.core.errors import CannotMaintain, ProviderError, StateError
from codenib.core.protocols import Deriver, FactBackend, Progress, Records
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind
from codenib.units.languages import language_hint
from codenib.views.graph.assemble import assemble
from codenib.views.graph.facts import Binder, FileFacts, decode, encode
from codenib.views.graph.profile import SYNTACTIC, Makers, identify
from codenib.views.graph.read import FORMAT, GraphFile, GroupFacts

_PROSE = frozenset({"markdown", "rst", "asciidoc"})
#: A snapshot in, a folder with its files for as long as the context lasts.
Export = Callable[[SourceSnapshot], AbstractContextManager[Path]]


@dataclass(frozen=True, slots=True)
class Made:
    """The facts of a group's files, and how they were made."""

    about: GroupFacts
    facts: tuple[FileFacts, ...]


class GraphViewBuilder:
    """Runs the backends over an export of the snapshot and assembles their facts."""

    def __init__(self, makers: Makers, export: Export, progress: Progress) -> None:
        self._makers = makers
        self._export = export
        self._progress = progress

    @property
    def kind(self) -> ViewKind:
        return ViewKind.GRAPH

    def profile(self) -> ArtifactProfile:
        return self._makers.profile()

    def derivers(self) -> Sequence[Deriver]:
        return ()

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        with self._export(snapshot) as root:
            made = self._run(root, list(snapshot.files))
        return write_graph(made, out)

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        """Take the facts over when nothing changed that any backend reads."""
        paths = [file.path for file in (*delta.added, *delta.changed)] + list(delta.removed)
        if any(matters(path) for path in paths):
            raise CannotMaintain("a file that a backend reads has changed")
        return write_graph(read_made(base), out)

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Facts per file, and who made them."""
        ours, theirs = read_made(left), read_made(right)
        if [made.about for made in ours] != [made.about for made in theirs]:
            yield "the groups and their backends are not equal"
        mine, other = (
            {facts.path: facts for made in both for facts in made.facts} for both in (ours, theirs)
        )
        for path in sorted(mine.keys() | other.keys()):
            if path not in mine or path not in other:
                yield f"{path}: only one side has facts"
            elif mine[path].plain() != other[path].plain():
                yield f"{path}: facts not equal"

    def _run(self, root: Path, paths: Sequence[str]) -> list[Made]:
        made: list[Made] = []
        left = set(paths)
        if self._makers.imported is not None:
            covered = sorted(left & self._makers.imported.paths)
            made.append(self._group(self._makers.imported.group, [self._makers.imported], root, covered))
            left -= {facts.path for facts in made[-1].facts}
        for group, files in by_group(sorted(left), self._makers.backends).items():
            made.append(self._group(group, self._makers.backends[group], root, files))
            left -= {facts.path for facts in made[-1].facts}
        syntactic = self._makers.syntactic
        known = sorted(name for name in left if language_hint(name) in syntactic.languages)
        rest = self._produce(syntactic, SYNTACTIC, root, known)
        return [*made, Made(GroupFacts(SYNTACTIC, identify(syntactic), len(rest), False), rest)]

    def _group(self, group: str, backends: Sequence[FactBackend], root: Path, files: Sequence[str]) -> Made:
        """The facts by the first backend that gives them; the reasons when none does."""
        reasons = []
        for backend in backends:
            try:
                done = self._produce(backend, group, root, files)
            except ProviderError as error:
                reasons.append(f"{error.message}; try: {error.hint}" if error.hint else error.message)
                continue
            return Made(GroupFacts(group, identify(backend), len(done), True, "; ".join(reasons)), done)
        return Made(GroupFacts(group, "", 0, False, reasons[0]), ())

    def _produce(
        self, backend: FactBackend, group: str, root: Path, files: Sequence[str]
    ) -> tuple[FileFacts, ...]:
        binder = Binder(group, lambda path: (root / path).read_bytes())
        for line in backend.produce(root, files, self._progress, trusted=self._makers.trusted):
            binder.add(line)
        return tuple(binder.bind())


def by_group(paths: Sequence[str], backends: Mapping[str, Sequence[FactBackend]]) -> dict[str, list[str]]:
    """The files of each group's languages, in path order."""
    owner = {language: group for group, found in backends.items() for language in found[0].languages}
    groups: dict[str, list[str]] = {}
    for path in paths:
        group = owner.get(language_hint(path))
        if group is not None:
            groups.setdefault(group, []).append(path)
    return dict(sorted(groups.items()))


def matters(path: str) -> bool:
    """Whether a change to this file can change anybody's facts: all but prose may configure an engine."""
    return language_hint(path) not in _PROSE


def write_graph(made: Sequence[Made], out: Path) -> ViewFacts:
    """Write facts and assembled graph into `out`."""
    facts = sorted((each for group in made for each in group.facts), key=lambda each: each.path)
    records = [encode(each) for each in facts]
    (out / "facts.bin").write_bytes(b"".join(records))
    np.save(out / "facts_at.npy", np.cumsum([0, *map(len, records)], dtype=np.int64))
    counts = assemble(facts, out)
    about = [group.about for group in made if group.about.files or group.about.error]
    (out / "graph.json").write_bytes(msgspec.json.encode(GraphFile(FORMAT, about, counts)))
    capabilities = []
    for each in about:
        capabilities += [f"definitions:{each.group}", f"references:{each.group}"] if each.resolved else []
    lacks = "; ".join(f"{each.group}: {each.error}" for each in about if each.error)
    return ViewFacts(counts, ("graph", *capabilities), lacks)


def read_made(folder: Path) -> list[Made]:
    """The facts of an artifact, by group."""
    try:
        about = msgspec.json.decode((folder / "graph.json").read_bytes(), type=GraphFile)
        data = (folder / "facts.bin").read_bytes()
        at = np.load(folder / "facts_at.npy", allow_pickle=False).tolist()
    except (OSError, ValueError, msgspec.DecodeError) as error:
        raise StateError(
            f"the graph's facts cannot be read: {error}", hint="codenib index --rebuild"
        ) from error
    facts = [decode(data[begin:end]) for begin, end in pairwise(at)]
    return [Made(group, tuple(each for each in facts if each.group == group.group)) for group in about.groups]
