"""A fresh process that loads views and serves a trace: a JSON task on standard input, times out.

    python -m codenib.evals.studies.lifecycle.trace_process < task.json

The task is `{"manifest": FILE, "views": [...], "queries": [...], "definitions": [[path, line, column], ...],
"repeats": N}`. Nothing is built here.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from typing import Any

from codenib.core.navigation import Position
from codenib.core.views import ViewKind
from codenib.runtime.views import Contexts, load_views


def main() -> None:
    """Load, say when that was done, warm up once, then serve the trace as often as asked."""
    task = json.load(sys.stdin)
    with load_views(task["manifest"], [ViewKind(name) for name in task["views"]]) as contexts:
        loaded_at = time.time()
        first = serve(contexts, task)
        traces = [serve(contexts, task) for _ in range(task["repeats"])]
    same = all(each["answers"] == first["answers"] for each in traces)
    print(json.dumps({"loaded_at": loaded_at, "first": first, "traces": traces, "same_answers": same}))


def serve(contexts: Contexts, task: dict[str, Any]) -> dict[str, Any]:
    """Every query by both routes, then the definitions; seconds by kind, and a digest of all answers."""
    seconds = {"semantic": 0.0, "lexical": 0.0, "definition": 0.0}
    digest = hashlib.sha256()
    workspace = contexts.workspace
    for query in task["queries"]:
        for route in ("semantic", "lexical"):
            started = time.perf_counter()
            answer = workspace.search(query, k=10, route=route, refresh="never")
            seconds[route] += time.perf_counter() - started
            digest.update(repr([(item.path, item.start_line) for item in answer.items]).encode())
    for path, line, column in task["definitions"]:
        started = time.perf_counter()
        found = workspace.definition(
            Position(path, line, column), provider="static", limit=8, refresh="never"
        )
        seconds["definition"] += time.perf_counter() - started
        digest.update(repr([(each.path, each.line) for each in found.locations]).encode())
    return {
        "seconds": round(sum(seconds.values()), 6),
        "by_kind": {name: round(value, 6) for name, value in seconds.items()},
        "requests": 2 * len(task["queries"]) + len(task["definitions"]),
        "answers": digest.hexdigest()[:16],
    }


if __name__ == "__main__":
    main()
