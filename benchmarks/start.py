"""Questions by name, each a fresh process, of two sources: `python -m benchmarks.start REPOSITORY BEFORE`.

BEFORE is the `src` folder of another checkout; ours is the other side. The repository is indexed already, in
$CODENIB_HOME. Each question is asked by both in turn; the least processor time of each side counts, children
included. A ratio stands beside whether both gave the same JSON, times aside.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import codenib

_QUESTIONS = (
    "def {0}",
    "refs {0}",
    "callers {0}",
    "callees {0}",
    "deps {0}",
    "symbols {0}",
    "path {0} {1}",
)
_TIMES = re.compile(r'"(?:seconds|[a-z_]*ms)":[\d.e-]+')


def main() -> None:
    """Print a line for each question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("before", type=Path)
    parser.add_argument("--names", nargs=2, required=True, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    sources = (arguments.before, Path(codenib.__file__).parents[1])
    for question in _QUESTIONS:
        words = question.format(*arguments.names).split()
        least, answers = [float("inf")] * 2, [""] * 2
        for _ in range(arguments.rounds):
            for side, source in enumerate(sources):
                seconds, answers[side] = _ask(source, arguments.repository, words)
                least[side] = min(least[side], seconds)
        same = "same answer" if answers[0] == answers[1] else "ANSWERS DIFFER"
        before, after = (1000 * each for each in least)
        shown = f"{before:6.0f} → {after:6.0f} ms of processor, {after / before:.2f}"
        print(f"{' '.join(words):<40} {shown}  {same}")


def _ask(source: Path, repository: Path, words: list[str]) -> tuple[float, str]:
    """Processor seconds of a process that asks, and its answer without times."""
    command = [sys.executable, "-m", "codenib", "-C", str(repository), *words, "--json"]
    started = _children_s()
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True, check=False
    )
    return _children_s() - started, _TIMES.sub("", done.stdout)


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
