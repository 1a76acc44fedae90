"""The measurement of `make coverage` in, docs/coverage.md out: the lines that no test reaches."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "src/codenib/"
HEAD = """# What no test reaches

Written by `make coverage`: all tests and doctests, with the Python processes that they start. The engines in
JavaScript, Go and Rust are not counted; `make engines` runs their own tests.

**{percent:.1f}%** of {total:,} statements are reached; {missing:,} are not.
"""


def main(measured: Path, page: Path) -> None:
    """Write `page` from the JSON of coverage.py in `measured`."""
    report = json.loads(measured.read_text())
    files = {path.removeprefix(PACKAGE): file for path, file in sorted(report["files"].items())}
    totals = report["totals"]
    head = HEAD.format(
        percent=totals["percent_covered"],
        total=totals["num_statements"],
        missing=totals["missing_lines"],
    )
    page.write_text("\n".join([head, *_rooms(files), "", *_modules(files), ""]))


def _rooms(files: dict[str, Any]) -> list[str]:
    statements: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, file in files.items():
        room = statements["/".join(path.split("/")[:-1][:2]) or "."]
        room[0] += file["summary"]["num_statements"]
        room[1] += file["summary"]["missing_lines"]
    rows = [
        f"| {room} | {total:,} | {missing:,} | {100 * (1 - missing / total):.1f}% |"
        for room, (total, missing) in sorted(statements.items())
        if total
    ]
    return ["| room | statements | not reached | reached |", "|---|---|---|---|", *rows]


def _modules(files: dict[str, Any]) -> list[str]:
    lines = ["| module | lines that no test reaches |", "|---|---|"]
    for path, file in files.items():
        if file["missing_lines"]:
            missing, reached = file["missing_lines"], set(file["executed_lines"])
            lines.append(f"| {path} | {', '.join(ranges(missing, reached))} |")
    return lines


def ranges(missing: Sequence[int], reached: set[int]) -> list[str]:
    """Line ranges of `missing`, over lines that are no statements."""
    after = {line: sum(1 for other in reached if other < line) for line in missing}
    groups = [list(group) for _, group in groupby(sorted(missing), key=after.__getitem__)]
    return [str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}" for group in groups]


if __name__ == "__main__":
    main(Path(sys.argv[1]), ROOT / "docs" / "coverage.md")
