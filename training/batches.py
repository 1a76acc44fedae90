"""What the teacher and the model are both trained with: batches of pairs, a contrastive loss, a rank. Needs torch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
_MAX_SCALE = 60


def batches(
    pairs: np.ndarray, kinds: str, size: int, chunk: int, steps: int, rng: np.random.Generator
) -> Iterator[torch.Tensor]:
    """Pairs (query, document, kind, source) of a few sources each, whose functions a searcher would confuse.

    `kinds` are the shares of docstrings, comments, errors and commits; `chunk` caps the pairs of a source.
    """
    shares = np.array([float(share) for share in kinds.split(",")])
    sources = [pairs[pairs[:, 3] == number] for number in np.unique(pairs[:, 3])]
    weights = [shares[part[:, 2]] for part in sources]
    steps_of = [np.cumsum(weight) / weight.sum() for weight in weights]
    chances = np.array([weight.sum() for weight in weights])
    chances /= chances.sum()
    for _ in range(steps):
        chosen: list[np.ndarray] = []
        count = 0
        while count < size:
            source = rng.choice(len(sources), p=chances)
            part = sources[source]
            draws = rng.random(min(len(part), size - count, chunk))
            at = np.searchsorted(steps_of[source], draws).clip(0, len(part) - 1)
            chosen.append(part[np.unique(at)])
            count += len(chosen[-1])
        yield torch.from_numpy(np.concatenate(chosen).astype(np.int64)).to(DEVICE)


def set_rate(optimizer: torch.optim.Optimizer, step: int, steps: int, warm: int) -> None:
    """Warm up, then a cosine down to a fiftieth."""
    factor = min(1.0, (step + 1) / warm) * max(0.02, 0.5 * (1 + math.cos(math.pi * step / steps)))
    for group in optimizer.param_groups:
        group.setdefault("peak", group["lr"])
        group["lr"] = group["peak"] * factor


def logits_of(q: torch.Tensor, d: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return (q @ d.T) * scale.exp().clamp(max=_MAX_SCALE)


def both_ways(loss: object, *matrices: torch.Tensor) -> torch.Tensor:
    """A loss from queries to documents, and a smaller one back."""
    return 0.7 * loss(*matrices) + 0.3 * loss(*(matrix.T for matrix in matrices))  # type: ignore[operator]


def contrastive(logits: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
    """InfoNCE; what shares a query or a document with a pair is no negative of it."""
    query, document = batch[:, 0], batch[:, 1]
    same = (query[:, None] == query[None]) | (document[:, None] == document[None])
    logits = logits.masked_fill(same.fill_diagonal_(False), -1e4)
    target = torch.arange(len(batch), device=logits.device)
    return both_ways(lambda scores: functional.cross_entropy(scores, target), logits)


def reciprocal_rank(scores: torch.Tensor, gold: torch.Tensor) -> float:
    rank = 1 + (scores > scores.gather(1, gold[:, None])).sum(1)
    return float((1 / rank.float()).mean())


def dev_sets(folder: Path) -> list[dict[str, np.ndarray]]:
    return [dict(np.load(path)) for path in sorted(folder.glob("dev-*.npz"))]


def shown(found: list[float]) -> str:
    """Ranks of the development sets, and their mean."""
    return " ".join(f"{value:.3f}" for value in found) + (f" mean {np.mean(found):.4f}" if found else "")
