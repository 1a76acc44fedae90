"""The dense view's costs: families on a repository's vectors, and `delta_update` against a rebuild.

    python -m benchmarks.dense families REPOSITORY [--embedder SPEC]
    python -m benchmarks.dense updates TRANSITIONS.jsonl CLONES [--embedder SPEC] [--family F] [--limit N]

CLONES holds bare clones as OWNER+NAME/repo. Seconds are for orientation, ratios for judgement; exits 1 when
two sides of a ratio did not do equal work.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from codenib.compiler.compiler import IndexCompiler, silent
from codenib.compiler.dense import open_named
from codenib.compiler.records.derive import CachedRecords
from codenib.core.embedding import Embedder
from codenib.core.source import SourceSnapshot
from codenib.manifest.embeddings import EmbeddingCache
from codenib.manifest.store import Store
from codenib.snapshot.delta import diff
from codenib.snapshot.repository import locate
from codenib.views.dense.families import EF_SEARCH, Floats, Neighbours, inner_products, probes_of, write_index
from codenib.views.dense.profile import DenseSetting, Family
from codenib.views.dense.store import CodeVectorStore, best
from codenib.views.dense.view import DenseViewBuilder

K = 10
QUERIES = 100
REPEATS = 3


class Bench:
    """Dense artifacts of snapshots of one clone, outside of any manifest."""

    def __init__(self, clone: Path, folder: Path, embedder: Embedder, family: Family = Family.FLAT) -> None:
        self._folder = folder
        self._embedder = embedder
        self._setting = DenseSetting("benchmark", family)
        repository = locate(clone)
        store = Store(repository.key)
        self.compiler = IndexCompiler(repository, store)
        self._cache = store.open_cache()
        self.records = CachedRecords(self._cache, self.compiler.source, {}, silent)
        self._embeddings: dict[str, EmbeddingCache] = {}

    def close(self) -> None:
        for embeddings in self._embeddings.values():
            embeddings.close()
        self.records.close()
        self._cache.close()

    def builder(self, embeddings: str) -> DenseViewBuilder:
        """A builder with the embedding cache of this name, which is open and stays so."""
        if embeddings not in self._embeddings:
            self._embeddings[embeddings] = EmbeddingCache(self._folder / f"{embeddings}.sqlite")
        cache = self._embeddings[embeddings]
        return DenseViewBuilder(self._setting, lambda _: self._embedder, lambda: cache, silent)

    def take(self, commit: str) -> SourceSnapshot:
        """A snapshot whose units are parsed: that is not the dense view's own cost."""
        snapshot = self.compiler.take(commit)
        self.records.prepare(snapshot.source_files())
        return snapshot

    def out(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir()
        return folder


def families(repository: Path, spec: str) -> dict[str, Any]:
    """Build time, size, search time and neighbour recall of the three families on the same vectors."""
    embedder = open_named(spec)
    with scratch() as folder, closing(Bench(repository, folder, embedder)) as bench:
        snapshot = bench.take("HEAD")
        builder = bench.builder("cold")
        started = time.perf_counter()
        builder.build(snapshot, bench.records, bench.out("view"))
        build_s = time.perf_counter() - started
        started = time.perf_counter()
        store = CodeVectorStore(folder / "view")
        open_s = time.perf_counter() - started
        vectors = np.stack([store.vector(number) for number in range(len(store))])
        queries = embedder.embed_queries(_questions(store))
        report: dict[str, Any] = {
            "model": embedder.identity.model,
            "documents": len(store),
            "dimension": store.dimension,
            "embed_and_build_s": round(build_s, 2),
            "documents_per_second": round(len(store) / build_s),
            "open_ms": round(1000 * open_s, 1),
        }
        exact, flat_s = _timed(lambda query: best_of(vectors, query), queries)
        report["flat"] = {"size_mb": _mb(vectors.nbytes), "search_ms": flat_s, "recall": 1.0}
        agree = all(
            store.search(query, K).rows.tolist() == rows for query, rows in zip(queries, exact, strict=True)
        )
        for family in (Family.IVF, Family.HNSW):
            report[family.value] = _approximate(family, vectors, queries, exact, folder)
            report[family.value]["search_over_flat"] = round(report[family.value]["search_ms"] / flat_s, 2)
    report["equal_work"] = agree
    return report


def best_of(vectors: Floats, query: Floats) -> list[int]:
    found: list[int] = best(np.arange(len(vectors)), inner_products(vectors, query), K).rows.tolist()
    return found


def _approximate(
    family: Family, vectors: Floats, queries: Floats, exact: Sequence[list[int]], folder: Path
) -> dict[str, Any]:
    path = folder / f"{family}.faiss"
    started = time.perf_counter()
    write_index(family, vectors, path)
    build_s = time.perf_counter() - started
    index = Neighbours(family, path)
    found, search_ms = _timed(lambda query: index.search(query, K)[0].tolist(), queries)
    sweep = {}
    for effort in (16, 32, 64, 128) if family is Family.HNSW else (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0):
        rows = [index.search(query, K, effort=effort)[0].tolist() for query in queries]
        sweep[str(effort)] = _recall(rows, exact)
    return {
        "build_s": round(build_s, 2),
        "size_mb": _mb(path.stat().st_size),
        "search_ms": search_ms,
        "recall": _recall(found, exact),
        "default": EF_SEARCH if family is Family.HNSW else probes_of(index.lists),
        "recall_by_effort": sweep,
    }


def _recall(found: Sequence[list[int]], exact: Sequence[list[int]]) -> float:
    shares = [len(set(a) & set(b)) / max(len(b), 1) for a, b in zip(found, exact, strict=True)]
    return round(statistics.mean(shares), 4)


def _timed(search: Callable[[Floats], list[int]], queries: Floats) -> tuple[list[list[int]], float]:
    """The answers, and the median milliseconds of one."""
    samples = []
    for _ in range(REPEATS):
        found = []
        for query in queries:
            started = time.perf_counter()
            found.append(search(query))
            samples.append(time.perf_counter() - started)
    return found, round(1000 * statistics.median(samples), 3)


def _questions(store: CodeVectorStore) -> list[str]:
    """Words of symbols, evenly over the repository: what people ask for, roughly."""
    chosen = np.linspace(0, len(store) - 1, min(QUERIES, len(store))).astype(int)
    symbols = (store.row(int(number)).symbol for number in chosen)
    return [" ".join(re.findall(r"[A-Za-z][a-z]*", symbol)) or symbol for symbol in symbols]


def updates(rows: list[dict[str, Any]], clones: Path, spec: str, family: Family) -> dict[str, Any]:
    """`delta_update` against a rebuild that embeds everything, both from parsed units; results compared."""
    embedder = open_named(spec)
    found: list[dict[str, Any]] = []
    skipped: list[str] = []
    for repository in dict.fromkeys(row["repo"] for row in rows):
        clone = clones / repository.replace("/", "+") / "repo"
        if not clone.exists():
            skipped.append(repository)
            continue
        chain = [row for row in rows if row["repo"] == repository]
        with scratch() as folder, closing(Bench(clone, folder, embedder, family)) as bench:
            found.extend(_walk(bench, chain))
        print(json.dumps(found[-1]), file=sys.stderr)
    ratios = sorted(row["speedup"] for row in found)
    return {
        "model": embedder.identity.model,
        "family": family,
        "transitions": len(found),
        "equal": sum(row["equal"] for row in found),
        "equal_work": bool(found) and all(row["equal"] for row in found),
        "median_speedup": round(statistics.median(ratios), 1) if ratios else None,
        "least_speedup": ratios[0] if ratios else None,
        "median_update_ms": round(statistics.median(row["update_ms"] for row in found), 1),
        "median_rebuild_ms": round(statistics.median(row["rebuild_ms"] for row in found), 1),
        "no_clone": skipped,
        "rows": found,
    }


def _walk(bench: Bench, chain: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each transition from the maintained view of the one before, where they follow each other."""
    last, base = "", Path()
    for number, row in enumerate(chain):
        before, after = bench.take(row["from"]), bench.take(row["to"])
        if row["from"] != last:
            base = bench.out(f"{number}-base")
            bench.builder("kept").build(before, bench.records, base)
        delta = diff(before, after)
        maintained, rebuilt = bench.out(f"{number}-maintained"), bench.out(f"{number}-rebuilt")
        maintainer, rebuilder = bench.builder("kept"), bench.builder(f"cold-{number}")
        started = time.perf_counter()
        maintainer.maintain(base, delta, bench.records, maintained)
        update_s = time.perf_counter() - started
        started = time.perf_counter()
        rebuilder.build(after, bench.records, rebuilt)
        rebuild_s = time.perf_counter() - started
        yield {
            "repo": row["repo"],
            "step": row["step"],
            "documents": len(CodeVectorStore(rebuilt)),
            "files_changed": len(delta),
            "update_ms": round(1000 * update_s, 1),
            "rebuild_ms": round(1000 * rebuild_s, 1),
            "speedup": round(rebuild_s / update_s, 1),
            "equal": _equal(bench, maintained, rebuilt),
        }
        last, base = row["to"], maintained


def _equal(bench: Bench, left: Path, right: Path) -> bool:
    """Identities, vectors bit for bit, and ordered answers with their scores."""
    if list(bench.builder("kept").differences(left, right)):
        return False
    ours, theirs = CodeVectorStore(left), CodeVectorStore(right)
    for number in range(0, len(ours), max(1, len(ours) // 20)):
        a, b = ours.search(ours.vector(number), K), theirs.search(theirs.vector(number), K)
        if a.rows.tolist() != b.rows.tolist() or a.scores.tobytes() != b.scores.tobytes():
            return False
    return True


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder with a home of its own."""
    with tempfile.TemporaryDirectory(prefix="codenib-bench-") as folder:
        os.environ["CODENIB_HOME"] = f"{folder}/home"
        yield Path(folder)


def _mb(size_bytes: int) -> float:
    return round(size_bytes / 1e6, 1)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dense")
    commands = parser.add_subparsers(dest="command", required=True)
    compare = commands.add_parser("families")
    compare.add_argument("repository", type=Path)
    update = commands.add_parser("updates")
    update.add_argument("transitions", type=Path)
    update.add_argument("clones", type=Path)
    update.add_argument("--limit", type=int, default=60, help="How many, evenly over the repositories.")
    update.add_argument("--family", type=Family, default=Family.FLAT)
    for each in (compare, update):
        each.add_argument("--embedder", default="static")
    asked = parser.parse_args(arguments)
    if asked.command == "families":
        report = families(asked.repository, asked.embedder)
    else:
        rows = [json.loads(line) for line in asked.transitions.read_text().splitlines()]
        report = updates(_evenly(rows, asked.limit), asked.clones, asked.embedder, asked.family)
    print(json.dumps(report, indent=2))
    return 0 if report["equal_work"] else 1


def _evenly(rows: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The first transitions of each repository, as many of each as the limit allows."""
    each = max(1, limit // len({row["repo"] for row in rows}))
    return [row for row in rows if row["step"] <= each]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
