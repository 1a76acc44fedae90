"""Published facts in, whether engines that know nothing of them say the same out; for a part of the files."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codenib.core.protocols import DifferenceEngine, FactBackend, Progress, ResidentBackend
from codenib.units.notebook_code import exported_code
from codenib.views.graph.facts.bind import Binder
from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.facts.groups import GroupFacts
from codenib.views.graph.profile import GraphBackends


@dataclass(frozen=True, slots=True)
class GroupAudit:
    """How many files of a group were asked for again, and which of them answer differently."""

    group: str
    checked: int
    differing: tuple[str, ...]


def audit(
    backends: GraphBackends,
    root: Path,
    groups: Sequence[GroupFacts],
    *,
    sample: int,
    seed: int,
    progress: Progress,
) -> list[GroupAudit]:
    """Ask new engines over the checkout at `root` for `sample` files of each group, and compare.

    An engine that must see all files to answer for one is compared on all of them, and so is a group with
    places that only their users know.
    """
    audited = []
    chance = random.Random(seed)
    for group in groups:
        backend = backends.find(group.origin.group, group.origin.backend)
        if not group.origin.resolved or backend is None or not group.facts:
            continue
        known = {facts.path: facts for facts in group.facts}
        anchored = any(facts.has_anchors for facts in group.facts)
        count = len(known) if anchored else min(sample, len(known))
        wanted = sorted(chance.sample(sorted(known), count))
        again = _derive_again(
            backend, root, known, wanted=wanted, progress=progress, trusted=backends.trusted
        )
        wrong = [path for path, facts in again.items() if facts.plain() != known[path].plain()]
        audited.append(GroupAudit(group.origin.group, len(again), tuple(sorted(wrong))))
    return audited


def _derive_again(
    backend: FactBackend,
    root: Path,
    known: dict[str, FileFacts],
    *,
    wanted: Sequence[str],
    progress: Progress,
    trusted: bool,
) -> dict[str, FileFacts]:
    """The facts of the wanted files, or of all, by an engine of their own."""
    files = sorted(known)
    if not isinstance(backend, ResidentBackend):
        lines = list(backend.produce(root, files, progress, trusted=trusted))
        wanted = files
    else:
        with closing(backend.engine(root, trusted=trusted)) as engine:
            engine.sync(files, files)
            if isinstance(engine, DifferenceEngine):
                wanted = files
                lines = list(engine.differing(files, anew=True)[0].values())
            else:
                lines = list(engine.lines(wanted))
    chosen = set(wanted)
    stay = [facts for path, facts in known.items() if path not in chosen]
    binder = Binder(backend.group, partial(exported_code, root), stay)
    for line in lines:
        binder.add(line)
    return {facts.path: canonical(facts) for facts in binder.bind()}
