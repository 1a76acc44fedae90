"""The graph's costs: `python -m benchmarks.navigation REPOSITORY [--live N] [--scip]`.

Seconds are for orientation, ratios for judgement. Static and live are timed at positions where both give the
same places; with `--scip`, scip-python or scip-typescript run over the same files, beside their number of
occurrences.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from codenib.compiler.checkouts import exported
from codenib.compiler.compiler import IndexCompiler, silent
from codenib.core.navigation import Position
from codenib.core.protocols import FactBackend
from codenib.core.views import ViewKind
from codenib.manifest.home import tools_folder
from codenib.manifest.store import Store
from codenib.navigation.registry import backends_of
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate
from codenib.units.languages import language_hint
from codenib.views.graph.assembly.artifact import read_group_facts, write_graph
from codenib.views.graph.facts.bind import Binder
from codenib.views.graph.navigate import definitions, references
from codenib.views.graph.read import GraphView

QUESTIONS = 2000
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", type=Path)
    parser.add_argument("--live", type=int, default=0, help="positions to compare with the live servers at")
    parser.add_argument("--scip", action="store_true", help="run the SCIP indexers too")
    arguments = parser.parse_args()
    backends(arguments.repository, scip=arguments.scip)
    with Workspace(arguments.repository) as workspace:
        record = workspace.index([ViewKind.GRAPH]).manifest.views[ViewKind.GRAPH]
        size = f"{record.size_bytes / 1e6:.1f} MB"
        print(f"artifact   {size}, {dict(record.counts)}; {record.error or 'complete'}")
        artifact = Store(locate(arguments.repository).key).artifact(record.artifact)
        answers(artifact)
        if arguments.live:
            found = workspace.navigator.compare(n=arguments.live)
            for what, rates in (("definition", found.definitions), ("references", found.references)):
                print(
                    f"{what} {rates.match_rate:.1%} of {rates.n} equal the live server's; on those static "
                    f"{rates.static_p50_ms:.3f} ms, live {rates.live_p50_ms:.1f} ms: {rates.speedup:,.0f}×"
                )


def backends(repository: Path, *, scip: bool) -> None:
    """CPU time of each engine over the same export, and of reading its lines."""
    found = locate(repository)
    store = Store(found.key)
    compiler = IndexCompiler(found, store)
    snapshot = compiler.take()
    languages = {language_hint(path) for path in snapshot.files}
    with exported(snapshot, compiler.source, found, store.checkouts) as root:
        for group, choices in backends_of(Toolbox(tools_folder()), languages).items():
            for backend in choices if scip else choices[:1]:
                files = [path for path in sorted(snapshot.files) if language_hint(path) in backend.languages]
                run(group, backend, root, files)


def run(group: str, backend: FactBackend, root: Path, files: list[str]) -> None:
    before = cpu_of_children()
    lines = list(backend.produce(root, files, silent, trusted=False))
    engine = cpu_of_children() - before
    started = time.process_time()
    binder = Binder(group, lambda path: (root / path).read_bytes())
    for line in lines:
        binder.add(line)
    facts = binder.bind()
    occurrences = sum(len(each.occurrences) for each in facts)
    name = backend.identity()["backend"]
    print(
        f"{group:<10} {name}: {engine:.1f} CPU-s for {len(facts):,} files and {occurrences:,} occurrences; "
        f"reading them {time.process_time() - started:.2f} CPU-s"
    )


def answers(artifact: Path) -> None:
    """Assembly, opening, and answers at random occurrences."""
    made = read_group_facts(artifact)
    with tempfile.TemporaryDirectory() as folder:
        cpu = time.process_time()
        write_graph(made, Path(folder))
        print(f"assembly   {time.process_time() - cpu:.2f} CPU-s")
    view, seconds = timed(lambda: opened(artifact))
    print(f"open       {seconds * 1000:.1f} ms")
    drawn = random.Random(1)
    chosen = [drawn.randrange(len(view.occurrence_line)) for _ in range(QUESTIONS)]
    for what, ask in (("definition", definitions), ("references", references)):
        times = []
        for at in chosen:
            path = view.paths[int(view.first_occurrence.searchsorted(at, side="right")) - 1]
            position = Position(path, int(view.occurrence_line[at]) + 1, int(view.occurrence_column[at]))
            times.append(timed(lambda: ask(view, position, 40))[1])  # noqa: B023 - called at once
        spread = statistics.quantiles(times, n=20)
        print(f"{what:<10} p50 {spread[9] * 1e6:.0f} µs, p95 {spread[18] * 1e6:.0f} µs")


def opened(artifact: Path) -> GraphView:
    view = GraphView(artifact)
    view.paths  # noqa: B018 - read once, with the first question
    return view


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and how long it took."""
    started = time.perf_counter()
    value = work()
    return value, time.perf_counter() - started


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
