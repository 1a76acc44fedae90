"""The foundation's costs on a repository of yours: `python -m benchmarks.foundation PATH`.

The worktree is cloned first, so that nothing of yours is edited. Prints seconds for orientation and ratios
for judgement; exits 1 when the two sides of a ratio did not do equal work.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_QUERIES = (
    "where is the configuration file parsed",
    "retry request after timeout",
    "validate user input and raise an error",
    "render template",
    "open a connection to the database",
    "sort results by score",
    "command line option",
    "cache invalidation",
)
_PATTERNS = (r"def \w+_error", r"return None", r"[Tt]imeout\b", r"import (os|sys)$")


def main(repository: Path) -> int:
    """Measure everything on one repository."""
    with tempfile.TemporaryDirectory(prefix="codenib-bench-") as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(repository), str(clone)], check=True)
        os.environ["CODENIB_HOME"] = str(Path(folder) / "home")
        report = measure(clone)
    print(json.dumps(report, indent=2))
    return 0 if report["equal_work"] else 1


def measure(clone: Path) -> dict[str, Any]:
    """Cold, no-op, one edit, rebuild, open and query."""
    cold_s, cold = command(clone, "index")
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    noop_s = statistics.median(command(clone, "update")[0] for _ in range(5))
    edits = [timed_edit(clone, number) for number in range(5)]
    edit_s = statistics.median(seconds for seconds, _ in edits)
    _, verified = command(clone, "verify")
    rebuild_s, rebuilt = command(clone, "index", "--rebuild")
    maintained = edits[-1][1]
    equal = (
        verified["clean"]
        and maintained["snapshot"] == rebuilt["snapshot"]
        and all(counts_of(maintained, kind) == counts_of(rebuilt, kind) for kind in ("lexical", "trigram"))
    )
    return {
        "files": cold["files"]["total"],
        "units": counts_of(cold, "lexical")["units"],
        "cold_index_s": round(cold_s, 2),
        "peak_memory_of_the_largest_process_mb": round(peak_mb),
        "noop_update_s": round(noop_s, 3),
        "one_edit_update_s": round(edit_s, 3),
        "rebuild_with_warm_records_s": round(rebuild_s, 2),
        "cold_index_over_one_edit": round(cold_s / edit_s, 1),
        "rebuild_over_one_edit": round(rebuild_s / edit_s, 1),
        "equal_work": equal,
        **in_process(clone),
    }


def counts_of(report: Any, kind: str) -> Any:
    """What a view holds, as `index --json` tells it."""
    return next(view["counts"] for view in report["items"] if view["kind"] == kind)


def timed_edit(clone: Path, number: int) -> tuple[float, Any]:
    """Append a function to one source file and update."""
    listed = subprocess.run(
        ["git", "-C", str(clone), "ls-files", "*.py"], capture_output=True, text=True, check=True
    )
    target = clone / listed.stdout.split("\n")[number * 7]
    target.write_text(target.read_text() + f"\n\ndef benchmark_edit_{number}():\n    return {number}\n")
    return command(clone, "update")


def command(clone: Path, *args: str) -> tuple[float, Any]:
    """Wall seconds and JSON of one whole command, process start included."""
    run = [sys.executable, "-m", "codenib", "-C", str(clone)]
    started = time.perf_counter()
    done = subprocess.run([*run, *args, "--json"], capture_output=True, text=True, check=True)
    return time.perf_counter() - started, json.loads(done.stdout)


def in_process(clone: Path) -> dict[str, float]:
    """Opening the views and asking them, in this process."""
    import codenib
    from codenib.serving.snapshots.pinned import PinnedSnapshot  # its libraries are not part of opening

    assert PinnedSnapshot is not None
    figures: dict[str, float] = {}
    with codenib.open(clone) as workspace:
        with stopwatch(figures, "open_and_first_query_ms"):
            workspace.search(_QUERIES[0], refresh="never")
            workspace.regex(_PATTERNS[0], refresh="never")
        workspace.search(_QUERIES[0])
        for name, ask, questions in (
            ("search", workspace.search, _QUERIES),
            ("regex", workspace.regex, _PATTERNS),
        ):
            samples = []
            for question in questions * 10:
                started = time.perf_counter()
                ask(question)
                samples.append(1000 * (time.perf_counter() - started))
            figures[f"{name}_p50_ms"] = round(statistics.median(samples), 2)
            figures[f"{name}_p95_ms"] = round(statistics.quantiles(samples, n=20)[-1], 2)
    return figures


@contextmanager
def stopwatch(figures: dict[str, float], name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    figures[name] = round(1000 * (time.perf_counter() - started), 2)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
