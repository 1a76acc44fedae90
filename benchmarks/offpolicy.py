"""How often off-policy intervals hold the true value in 100 seeded worlds: `python -m benchmarks.offpolicy`.

Exits 1 when the doubly robust one holds it in fewer than 90 of any kind of world with 600 rows.
"""

from __future__ import annotations

import sys

from codenib.learning.policies.worlds import KINDS, coverage

_BAR = 90
_ROWS = (100, 300, 600, 2_000)


def main() -> int:
    """Print a table: worlds in which the interval holds, its mean width, the mean error."""
    missed = False
    print("| worlds | rows | estimator | true value inside, of 100 | mean width | mean error |")
    print("|---|---:|---|---:|---:|---:|")
    for kind in KINDS:
        for rows in _ROWS:
            for name, report in coverage(range(100), kind, rows=rows).items():
                numbers = f"{report.inside} | {report.width:.3f} | {report.error:.3f}"
                print(f"| {kind} | {rows} | {name} | {numbers} |")
                missed |= name == "DR" and rows == 600 and report.inside < _BAR
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
