"""The graph for the compiler: a snapshot in, its facts and the assembled graph out.

Each group of languages has its backend. One that fails leaves its files to the syntactic backend, under the
syntactic group's name, so that nothing answers as if it were resolved; the reason stays with the artifact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from codenib.core.errors import CannotMaintain, StateError
from codenib.core.protocols import FactBackend, FollowingBackend, Progress, Records
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind
from codenib.units.languages import language_hint
from codenib.views.graph.assemble import assemble
from codenib.views.graph.facts.bind import Binder
from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.facts.file import FileFacts, decode, encode
from codenib.views.graph.facts.groups import Made, Memory, by_group, make_group, matters
from codenib.views.graph.maintenance.broken import Readable, describe, rebased
from codenib.views.graph.maintenance.follow import Arm
from codenib.views.graph.maintenance.maintain import GroupMaintainer, WorkDesk
from codenib.views.graph.maintenance.replay import replayed
from codenib.views.graph.maintenance.update import KEPT, GraphUpdate, GroupUpdate, write_update
from codenib.views.graph.profile import SYNTACTIC, Makers, identify
from codenib.views.graph.read import FORMAT, GraphFile, GroupFacts, read_held

#: A snapshot in, a folder with its files for as long as the context lasts.
Export = Callable[[SourceSnapshot], AbstractContextManager[Path]]
#: An edit and the files held before it in, the two states of the files as long as the context lasts, the one
#: before it on disk.
OpenDesk = Callable[[Delta, Mapping[str, str]], AbstractContextManager[WorkDesk]]
#: Files (path to digest) in, those that are held at an earlier text out.
Recall = Callable[[Mapping[str, str]], Mapping[str, Readable]]
#: A snapshot in, a desk with its files, whose engines stay.
Hold = Callable[[SourceSnapshot], AbstractContextManager[WorkDesk]]


class GraphViewBuilder:
    """Runs the backends over an export of the snapshot and assembles their facts."""

    def __init__(
        self,
        makers: Makers,
        export: Export,
        progress: Progress,
        desk: OpenDesk | None = None,
        hold: Hold | None = None,
        memory: Memory | None = None,
        recall: Recall | None = None,
    ) -> None:
        """Without a `desk` only changes of prose can be followed; with `hold`, engines stay after a build.

        `recall` says which files a build reads at an earlier text.
        """
        self._makers = makers
        self._export = export
        self._progress = progress
        self._desk = desk
        self._hold = hold
        self._memory = memory or Memory()
        self._recall = recall
        self._held: WorkDesk | None = None
        self.arm: Arm = "symbol"  # "file" replaces whole files, to compare the two

    @property
    def kind(self) -> ViewKind:
        return ViewKind.GRAPH

    def profile(self) -> ArtifactProfile:
        return self._makers.profile()

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        held = self._recall(snapshot.files) if self._recall is not None else {}
        if held:
            read = {path: each.digest for path, each in held.items()}
            snapshot = replace(snapshot, files={**snapshot.files, **read})
        if self._hold is None:
            with self._export(snapshot) as root:
                made = self._run(root, list(snapshot.files))
        else:
            with self._hold(snapshot) as self._held:
                made = self._run(self._held.root, list(snapshot.files))
            self._held = None
        raw: dict[FileFacts, bytes] = {}
        facts = write_graph(made, out, raw, held)
        if self._hold is not None:
            self._memory.remember(snapshot.id, made, raw)
        return facts

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        """Follow the edit group by group; a group that cannot be followed is rebuilt, the others are not."""
        made, raw = self._memory.recall(delta.base) or read_facts(base)
        paths = {file.path for file in (*delta.added, *delta.changed)} | set(delta.removed)
        update = GraphUpdate(delta.base, delta.target)
        known = read_held(base)
        held: Mapping[str, Readable] = {}
        if not known and not any(matters(path) for path in paths):
            update.groups = [GroupUpdate(each.about.group, KEPT, files=each.about.files) for each in made]
        elif self._desk is None or self._makers.imported is not None:
            raise CannotMaintain("a file that a backend reads has changed")
        else:
            with self._desk(delta, known) as desk:
                self._held, held = desk, desk.held
                made = GroupMaintainer(
                    self._makers,
                    desk,
                    self._produce,
                    delta if desk.delta is None else desk.delta,
                    update,
                    self.arm,
                ).run(made)
            self._held = None
            update.held = sorted(held)
        facts = write_graph(made, out, raw, held)
        write_update(update, out)
        self._memory.remember(delta.target, made, raw)
        return facts

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Facts per file, who made them, and how both answer sampled requests."""
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
        yield from replayed(left, right)

    def _run(self, root: Path, paths: Sequence[str]) -> list[Made]:
        made: list[Made] = []
        left = set(paths)
        if self._makers.imported is not None:
            covered = sorted(left & self._makers.imported.paths)
            imported = self._makers.imported
            made.append(make_group(imported.group, [imported], self._produce, root, covered))
            left -= {facts.path for facts in made[-1].facts}
        for group, files in by_group(sorted(left), self._makers.backends).items():
            made.append(make_group(group, self._makers.backends[group], self._produce, root, files))
            left -= {facts.path for facts in made[-1].facts}
        syntactic = self._makers.syntactic
        known = sorted(name for name in left if language_hint(name) in syntactic.languages)
        rest = self._produce(syntactic, SYNTACTIC, root, known)
        return [*made, Made(GroupFacts(SYNTACTIC, identify(syntactic), len(rest), False), rest)]

    def _produce(
        self, backend: FactBackend, group: str, root: Path, files: Sequence[str]
    ) -> tuple[FileFacts, ...]:
        binder = Binder(group, lambda path: (root / path).read_bytes())
        for line in self._lines(backend, root, files):
            binder.add(line)
        return tuple(canonical(facts) for facts in binder.bind())

    def _lines(self, backend: FactBackend, root: Path, files: Sequence[str]) -> Iterable[bytes]:
        """By the engine that stays, where its first run is what later ones follow; else by one that ends."""
        if self._held is not None and isinstance(backend, FollowingBackend) and backend.stays:
            engine, _ = self._held.engine(backend)
            lines, _ = engine.differing(files, anew=True)
            return lines.values()
        return backend.produce(root, files, self._progress, trusted=self._makers.trusted)


def write_graph(
    made: Sequence[Made],
    out: Path,
    raw: dict[FileFacts, bytes] | None = None,
    held: Mapping[str, Readable] | None = None,
) -> ViewFacts:
    """Write facts and assembled graph into `out`; `raw` has bytes of facts, and gets those that it lacks.

    Of `held` files the facts are those of their last readable text, the graph has them at today's lines.
    """
    held = held or {}
    facts = sorted((each for group in made for each in group.facts), key=lambda each: each.path)
    known = {} if raw is None else raw
    known.update({file: encode(file) for file in facts if file not in known})
    records = [known[file] for file in facts]
    (out / "facts.bin").write_bytes(b"".join(records))
    np.save(out / "facts_at.npy", np.cumsum([0, *map(len, records)], dtype=np.int64))
    counts = assemble([rebased(each, held[each.path]) if each.path in held else each for each in facts], out)
    about = [group.about for group in made if group.about.files or group.about.error]
    digests = {path: held[path].digest for path in sorted(held)}
    (out / "graph.json").write_bytes(msgspec.json.encode(GraphFile(FORMAT, about, counts, digests)))
    capabilities = []
    for each in about:
        capabilities += [f"definitions:{each.group}", f"references:{each.group}"] if each.resolved else []
    errors = [f"{each.group}: {each.error}" for each in about if each.error]
    lacks = "; ".join([*errors, *([describe(list(digests))] if digests else [])])
    return ViewFacts(counts, ("graph", *capabilities), lacks)


def read_made(folder: Path) -> list[Made]:
    """The facts of an artifact, by group."""
    return read_facts(folder)[0]


def read_facts(folder: Path) -> tuple[list[Made], dict[FileFacts, bytes]]:
    """The facts of an artifact, by group; and the bytes of each file's."""
    try:
        about = msgspec.json.decode((folder / "graph.json").read_bytes(), type=GraphFile)
        data = (folder / "facts.bin").read_bytes()
        at = np.load(folder / "facts_at.npy", allow_pickle=False).tolist()
    except (OSError, ValueError, msgspec.DecodeError) as error:
        raise StateError(
            f"the graph's facts cannot be read: {error}", hint="codenib index --rebuild"
        ) from error
    raw = {decode(data[begin:end]): data[begin:end] for begin, end in pairwise(at)}
    found: dict[str, list[FileFacts]] = {}
    for facts in raw:
        found.setdefault(facts.group, []).append(facts)
    return [Made(group, tuple(found.get(group.group, ()))) for group in about.groups], raw
