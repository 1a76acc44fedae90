"""A small linear model and signals in, the action that it chooses and the two signals that decided out. Pure.

A model has, for each action, what it expects that action to give and to cost. It leaves the action of the
rules only where another one is better by its `margin`: a model which knows little changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import log1p
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from codenib.core.errors import UNDECODABLE, InputError

if TYPE_CHECKING:
    from codenib.planner.signals import Signals

FORMAT = 1
ModelKind = Literal["router", "context"]


class ActionWeights(msgspec.Struct, frozen=True):
    """Weights of standardized features, the intercept first: of what an action gives, and what it costs."""

    value: tuple[float, ...]
    cost: tuple[float, ...]


class DecisionModel(msgspec.Struct, frozen=True):
    """What the file of a policy holds. Costs are shares of what the rules' actions cost on the training rows.

    `card` says from what it was learned and what it was measured to do; it does not decide.
    """

    kind: ModelKind
    features: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    actions: dict[str, ActionWeights]
    price: float
    margin: float
    card: dict[str, Any] = {}
    format: int = FORMAT

    @property
    def version(self) -> str:
        """The digest of everything that decides."""
        decides = msgspec.structs.replace(self, card={})
        return hashlib.sha256(msgspec.json.encode(decides, order="sorted")).hexdigest()[:12]

    @property
    def name(self) -> str:
        return f"{self.kind}@{self.version}"

    def choose(self, signals: Mapping[str, float], allowed: Collection[str], default: str) -> ModelChoice:
        """The best allowed action where it is better by the margin; else `default`, that of the rules."""
        known = [action for action in self.actions if action in allowed]
        if default not in known or len(known) < 2:
            return ModelChoice(default, self.name, ())
        given = [
            (signals.get(feature, mean) - mean) / scale
            for feature, mean, scale in zip(self.features, self.means, self.scales, strict=True)
        ]
        scores = {action: self._score(action, given) for action in known}
        best = max(known, key=lambda action: (scores[action], action))
        chosen = best if scores[best] - scores[default] > self.margin else default
        others = [action for action in known if action != chosen]
        rival = default if chosen != default else max(others, key=lambda action: (scores[action], action))
        return ModelChoice(chosen, self.name, self._deciding(chosen, rival, given))

    def _score(self, action: str, given: list[float]) -> float:
        weights = self.actions[action]
        return _dot(weights.value, given) - self.price * _dot(weights.cost, given)

    def _deciding(self, chosen: str, rival: str, given: list[float]) -> tuple[str, ...]:
        """The two signals that speak most for the chosen action, or least against it, beside the other."""
        ours, theirs = self.actions[chosen], self.actions[rival]
        parts = {}
        for at, feature in enumerate(self.features, 1):
            value = ours.value[at] - theirs.value[at]
            cost = ours.cost[at] - theirs.cost[at]
            parts[feature] = (value - self.price * cost) * given[at - 1]
        ordered = sorted(parts, key=lambda feature: (-parts[feature], feature))
        return tuple(ordered[:2])


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """An action, the model that chose it, and the signals that decided; none where there was no choice."""

    action: str
    model: str
    signals: tuple[str, ...]

    @property
    def words(self) -> str:
        by = f" by {' and '.join(self.signals)}" if self.signals else ""
        return f"{self.model} chose {self.action}{by}"


def read_model(data: bytes, where: str) -> DecisionModel:
    """The model of a file's bytes; what is no model, or of another format, is refused by name."""
    try:
        model = msgspec.json.decode(data, type=DecisionModel)
    except UNDECODABLE as error:
        raise InputError(f"{where} is no policy: {error}", hint="codenib flywheel writes policies") from error
    width = len(model.features)
    lengths = {len(part) for each in model.actions.values() for part in (each.value, each.cost)}
    if model.format != FORMAT or {len(model.means), len(model.scales)} != {width} or lengths - {width + 1}:
        raise InputError(f"{where} is a policy of another format", hint="codenib flywheel writes policies")
    return model


def query_features(signals: Signals) -> dict[str, float]:
    """The planner's signals as numbers; counts as logarithms: the tenth name says less than the first."""
    counts = {
        "words": signals.words,
        "lines": signals.lines,
        "identifiers": len(signals.identifiers),
        "dotted names": len(signals.dotted),
        "paths": len(signals.paths),
        "frames": len(signals.frames),
        "quoted texts": len(signals.quoted),
        "errors": len(signals.errors),
    }
    marks = {"question": signals.is_question, "template": signals.template, "tests": signals.about_tests}
    return {name: log1p(count) for name, count in counts.items()} | {
        name: float(mark) for name, mark in marks.items()
    }


def _dot(weights: tuple[float, ...], given: list[float]) -> float:
    return weights[0] + sum(weight * value for weight, value in zip(weights[1:], given, strict=True))
