"""A policy's file in, that policy active for one repository out; and back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from codenib.core.errors import InputError
from codenib.manifest.store import Store
from codenib.planner.model import DecisionModel, ModelKind, read_model
from codenib.serving.search.policy import policy_file
from codenib.snapshot.repository import locate

KINDS: tuple[ModelKind, ...] = ("router", "context")


class PolicyItem(msgspec.Struct, frozen=True):
    """A decision and the policy that is active for it: its name with its version, and its card.

    `model` is empty where there is none and the rules decide; `problem` says why a file there is not used.
    """

    decision: ModelKind
    model: str
    card: dict[str, Any]
    problem: str = ""


def active_policies(path: str | Path) -> Iterator[PolicyItem]:
    """What is active for the repository at `path`, a line for each decision."""
    folder = Store(locate(Path(path)).key).folder
    for kind in KINDS:
        file = policy_file(folder, kind)
        try:
            model = read_model(file.read_bytes(), str(file))
        except OSError:
            yield PolicyItem(kind, "", {})
        except InputError as error:
            yield PolicyItem(kind, "", {}, error.message)
        else:
            yield PolicyItem(kind, model.name, model.card)


def activate_policy(path: str | Path, file: Path) -> DecisionModel:
    """Use a policy for the repository at `path`; one that was not measured to win is refused."""
    try:
        model = read_model(file.read_bytes(), str(file))
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}", hint="codenib policy use FILE") from error
    if model.card.get("simulated"):
        raise InputError(
            f"{model.name} was learned from a scripted agent, which says nothing about a model",
            hint="codenib flywheel --provider MODEL",
        )
    if model.card.get("wins") is not True:
        raise InputError(
            f"{model.name} did not win on its replay: the rules stay", hint="codenib policy show"
        )
    place = policy_file(Store(locate(Path(path)).key).folder, model.kind)
    place.parent.mkdir(parents=True, exist_ok=True)
    dated = {**model.card, "activated": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    part = place.with_suffix(".part")
    part.write_bytes(msgspec.json.encode(msgspec.structs.replace(model, card=dated)))
    part.replace(place)
    return model


def drop_policy(path: str | Path, kind: ModelKind) -> bool:
    """Let the rules decide again; whether a policy was active."""
    file = policy_file(Store(locate(Path(path)).key).folder, kind)
    there = file.exists()
    file.unlink(missing_ok=True)
    return there
