"""Two run folders in, whether they gave the same answers out; times may differ."""

from __future__ import annotations

import json
from pathlib import Path

import click

from codenib.adapters.cli.options import as_json
from codenib.core.errors import StateError
from codenib.evals.runs import Record, read_run

# What is measured with a clock or a meter, at any depth of a record.
_VARYING = ("seconds", "first_s", "_s", "_ms", "_mb", "ratio", "speedup")


@click.command("compare")
@click.argument("left", type=click.Path(path_type=Path))
@click.argument("right", type=click.Path(path_type=Path))
@as_json
def command(left: Path, right: Path, json_output: bool) -> None:
    """Check that two runs of a study gave the same answers; exits 3 when not."""
    found = compare(left, right)
    if json_output:
        click.echo(json.dumps(found))
    elif not found["differing"]:
        click.echo(f"{found['shared']} records are in both runs, and all are equal")
    if found["differing"]:
        first = ", ".join(found["differing"][:5])
        raise StateError(f"{len(found['differing'])} of {found['shared']} records differ: {first}")


def compare(left: Path, right: Path) -> Record:
    """Keys of records that differ in anything but times, and how many only one of the runs has."""
    ours, theirs = (
        {each["key"]: each for each in read_run(folder)[1] if each["kind"] not in ("build", "cost")}
        for folder in (left, right)
    )
    shared = sorted(ours.keys() & theirs.keys())
    return {
        "shared": len(shared),
        "only_left": len(ours.keys() - theirs.keys()),
        "only_right": len(theirs.keys() - ours.keys()),
        "differing": [key for key in shared if _fixed(ours[key]) != _fixed(theirs[key])],
    }


def _fixed(value: object) -> object:
    """A record without what a clock decides."""
    if isinstance(value, dict):
        return {
            name: _fixed(each)
            for name, each in value.items()
            if not any(name == part or (part.startswith("_") and name.endswith(part)) for part in _VARYING)
        }
    return value
