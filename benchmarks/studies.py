"""Small versions of the studies for CI: `python -m benchmarks.studies`. About a minute, no network, no tools.

A made repository of 240 files takes the place of real ones. Fails (exit 1) on a lost exactness or a lost
ratio, never on seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from codenib.evals.cli import cli

FILES = 240
VERBS = ("open", "close", "merge", "split", "parse", "render", "cache", "send")
NOUNS = (
    "invoice",
    "session",
    "packet",
    "template",
    "index",
    "account",
    "picture",
    "schedule",
    "ticket",
    "order",
)
OBJECTS = ("queue", "window", "ledger")


@dataclass(frozen=True, slots=True)
class Check:
    """A bar, and whether it holds."""

    name: str
    holds: bool
    found: str


def main() -> int:
    """Run every small study; print a line per bar."""
    with tempfile.TemporaryDirectory(prefix="codenib-studies-") as name:
        folder = Path(name)
        make_repository(folder / "mirror" / "made+shop" / "repo")
        checks = [
            *_study("dataset", lambda: dataset(folder)),
            *_study("retrieval", lambda: retrieval(folder)),
            *_study("ann", lambda: ann(folder)),
            *_study("maintenance", lambda: maintenance(folder)),
            *_study("context", lambda: context(folder)),
        ]
    for check in checks:
        print(f"{'ok  ' if check.holds else 'LOST'} {check.name}: {check.found}")
    return 0 if all(check.holds for check in checks) else 1


def dataset(folder: Path) -> list[Check]:
    found = run(folder, "dataset", "--repo", "made/shop", "--kind", "synthesis", "--per-repo", "15")
    return [
        Check(
            "rows are made without errors",
            not found["errors"] and found["rows"] == 15,
            f"{found['rows']} rows",
        )
    ]


def retrieval(folder: Path) -> list[Check]:
    rows = ("--rows", str(folder / "dataset" / "rows.jsonl"))
    found = run(folder, "retrieval", *rows)
    run(folder, "retrieval", *rows, out="retrieval-again")
    same = run(folder, "compare", str(folder / "retrieval"), str(folder / "retrieval-again"), out="")
    arms = found["arms"]
    recalls = {name: arms[name]["file_recall@10"]["value"] for name in ("lexical", "hybrid")}
    return [
        Check(
            "a second run gives the same answers",
            not same["differing"] and same["shared"] > 0,
            str(same["shared"]),
        ),
        Check("no answer differs when asked again", found["unstable"] == 0, str(found["unstable"])),
        *(
            Check(f"{name} finds what is documented", value >= 0.9, f"{value:.3f}")
            for name, value in recalls.items()
        ),
    ]


def ann(folder: Path) -> list[Check]:
    found = run(folder, "ann", "--rows", str(folder / "dataset" / "rows.jsonl"), "--limit", "2")
    families = found["families"]
    whole, hnsw = float(families["ivf 100% of lists"][0]), float(families["hnsw ef 128"][0])
    return [
        Check("IVF over all lists is exact", whole == 1.0, f"{whole:.3f}"),
        Check("HNSW at ef 128 keeps the neighbours", hnsw >= 0.9, f"{hnsw:.3f}"),
    ]


def maintenance(folder: Path) -> list[Check]:
    file = folder / "transitions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in transitions(folder)))
    found = run(folder, "maintenance", "--rows", str(file))
    checks = []
    for arm, (exact, ratio, _) in found["arms"].items():
        done, total = exact.split("/")
        checks.append(Check(f"{arm}: updates equal rebuilds", done == total != "0", exact))
        # Parsing, or embedding, of one file against all; the trigram view has little to save at this size.
        if arm != "trigram":
            value = float(ratio.rstrip("×*"))
            checks.append(Check(f"{arm}: an update beats a rebuild", value > 2.0, ratio))
    return checks


def context(folder: Path) -> list[Check]:
    found = run(folder, "context", "--rows", str(folder / "dataset" / "rows.jsonl"), "--limit", "6")
    recall = float(found["table"]["simulated agent, eager"][1])
    return [
        Check("the simulated agent is labelled", bool(found["simulated"]), found["warning"][:9]),
        Check("eager delivers the target", recall >= 0.8, f"{recall:.3f}"),
    ]


def run(folder: Path, study: str, *words: str, out: str | None = None) -> dict[str, Any]:
    """A study as a person runs it, with `--json`."""
    where = [] if out == "" else ["--mirror", str(folder / "mirror"), "--out", str(folder / (out or study))]
    done = CliRunner().invoke(cli, [study, *words, *where, "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _study(name: str, measure: Callable[[], list[Check]]) -> list[Check]:
    print(f"{name} …", file=sys.stderr)
    return measure()


def make_repository(place: Path) -> None:
    """Functions that say what they do, three of them in each file, and three commits that edit some."""
    place.mkdir(parents=True)
    _git(place, "init", "-q", "-b", "main")
    for number in range(FILES):
        file = place / f"shop/part{number % 12}/module{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(module(number))
    _commit(place, "a shop with many parts")
    for step in range(3):
        target = place / f"shop/part{step}/module{step}.py"
        target.write_text(module(step, note=f" Revision {step}."))
        _commit(place, f"revise module {step}")


def module(number: int, note: str = "") -> str:
    parts = [f'"""Part {number} of the shop."""\n']
    for at, what in enumerate(OBJECTS):
        verb, noun = VERBS[(number + at) % 8], NOUNS[(number // 8 + at) % 10]
        third = f"{verb}s" if not verb.endswith("s") else verb
        said = f"{third.capitalize()} the {noun} number {number} of the customer in the {what}.{note}"
        parts.append(
            f"\n\ndef handle_{number}_{at}(given, {what}):\n"
            f'    """{said}"""\n'
            f"    {noun} = given.get({number}, {what})\n"
            f"    for each in {what}:\n        {noun} = each.{verb}({noun}, {at})\n    return {noun}\n"
        )
    return "".join(parts)


def transitions(folder: Path) -> list[dict[str, Any]]:
    clone = folder / "mirror" / "made+shop" / "repo"
    commits = _git(clone, "log", "--reverse", "--format=%H").split()
    return [
        {"repo": "made/shop", "language": "Python", "step": step, "from": start, "to": goal}
        for step, (start, goal) in enumerate(pairwise(commits), 1)
    ]


def _commit(place: Path, message: str) -> None:
    _git(place, "add", "-A")
    _git(place, "-c", "user.name=Bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", message)


def _git(place: Path, *words: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(
        ["git", "-C", str(place), *words], capture_output=True, text=True, check=True, env=environment
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
