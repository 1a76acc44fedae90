"""Train the static model: `python -m training.train DATA OUT`. Seeded; the defaults are the shipped file's. Needs torch, a GPU.

One vector and two weights (query side, document side) per piece, a factor per field of a document, and two factors
on the sums of its name and of its place. The loss is a contrastive one and, by a larger share, the distance from
the teacher's similarities within the batch.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from training.batches import (
    DEVICE,
    batches,
    both_ways,
    contrastive,
    dev_sets,
    logits_of,
    reciprocal_rank,
    set_rate,
    shown,
)

FIELDS = 5  # path, name, scope, signature, body
PATH, NAME, SCOPE = 0, 1, 2
Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


class Rows:
    """Texts as ragged rows of counted pieces, each piece with its field."""

    def __init__(self, data: dict[str, np.ndarray], name: str, fields: int) -> None:
        counts = data[f"{name}_counts"].astype(np.int64).reshape(-1, fields)
        field = np.repeat(np.tile(np.arange(fields), len(counts)), counts.reshape(-1))
        self.ids = torch.from_numpy(data[f"{name}_ids"].astype(np.int32)).to(DEVICE)
        self.tf = 1 + torch.log(
            torch.from_numpy(data[f"{name}_tf"].astype(np.float32)).to(DEVICE).clamp(min=1)
        )
        self.field = torch.from_numpy(field.astype(np.uint8)).to(DEVICE)
        self.ends = torch.from_numpy(np.concatenate([[0], np.cumsum(counts.sum(1))])).to(DEVICE)

    def batch(self, rows: torch.Tensor) -> Batch:
        """Pieces, tf weights, fields and offsets of some rows."""
        starts, sizes = self.ends[rows], self.ends[rows + 1] - self.ends[rows]
        offsets = torch.cumsum(sizes, 0) - sizes
        owner = torch.repeat_interleave(torch.arange(len(rows), device=DEVICE), sizes)
        at = torch.arange(int(sizes.sum()), device=DEVICE) - offsets[owner] + starts[owner]
        return self.ids[at].long(), self.tf[at], self.field[at].long(), offsets

    def all(self) -> Batch:
        return self.batch(torch.arange(len(self.ends) - 1, device=DEVICE))


class Model(torch.nn.Module):
    """All weights and factors are logarithms."""

    def __init__(self, table: torch.Tensor, drop: float) -> None:
        super().__init__()
        self.drop = drop
        self.table = torch.nn.Parameter(table.clone())
        self.query_weights = torch.nn.Parameter(torch.zeros(len(table)))
        self.doc_weights = torch.nn.Parameter(torch.zeros(len(table)))
        self.fields = torch.nn.Parameter(
            torch.tensor([0.0, 0.7, 0.0, 0.0, 0.0])
        )  # a name begins at twice the rest
        self.sums = torch.nn.Parameter(torch.zeros(2))
        self.scale = torch.nn.Parameter(torch.tensor(math.log(20.0)))

    def query(self, batch: Batch) -> torch.Tensor:
        ids, tf, _, offsets = batch
        return self._sum(ids, self._dropped(tf * self.query_weights[ids].exp()), offsets)

    def document(self, batch: Batch) -> torch.Tensor:
        ids, tf, field, offsets = batch
        weights = self._dropped(tf * (self.doc_weights[ids] + self.fields[field]).exp())
        name = self._sum(ids, weights * (field == NAME), offsets)
        place = self._sum(ids, weights * ((field == PATH) | (field == SCOPE)), offsets)
        source = self._sum(ids, weights * (field > SCOPE), offsets)
        factors = self.sums.exp()
        return functional.normalize(factors[0] * name + factors[1] * place + source, dim=1, eps=1e-6)

    def _dropped(self, weights: torch.Tensor) -> torch.Tensor:
        return weights * (torch.rand_like(weights) > self.drop) if self.training else weights

    def _sum(self, ids: torch.Tensor, weights: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        rows = functional.embedding_bag(ids, self.table, offsets, mode="sum", per_sample_weights=weights)
        return functional.normalize(rows, dim=1, eps=1e-6)


def train(args: argparse.Namespace, seed: int, docs: Rows, queries: Rows, pairs: np.ndarray) -> Model:
    """One run."""
    torch.manual_seed(seed)
    table = torch.from_numpy(np.load(args.data / "initial.npy").astype(np.float32))
    teacher = torch.load(args.data / "teacher.pt", map_location=DEVICE)
    model = Model(table, args.drop).to(DEVICE)
    light = [model.query_weights, model.doc_weights, model.fields, model.sums]
    optimizer = torch.optim.AdamW(
        [
            {"params": [model.table], "lr": args.lr},
            {"params": light, "lr": 5 * args.lr},
            {"params": [model.scale], "lr": 1e-3},
        ],
        weight_decay=0.0,
    )
    divergence = partial(functional.kl_div, log_target=True, reduction="batchmean")
    steps = max(1, int(args.epochs * len(pairs) / args.batch))
    started = time.time()
    model.train()
    rng = np.random.default_rng(seed)
    for step, batch in enumerate(batches(pairs, args.kinds, args.batch, args.chunk, steps, rng)):
        set_rate(optimizer, step, steps, warm=100)
        q, d = model.query(queries.batch(batch[:, 0])), model.document(docs.batch(batch[:, 1]))
        logits = logits_of(q, d, model.scale)
        taught = args.sharpness * (
            teacher["query"][batch[:, 0]].float() @ teacher["doc"][batch[:, 1]].float().T
        )
        distance = both_ways(
            lambda own, other: divergence(functional.log_softmax(own, 1), functional.log_softmax(other, 1)),
            logits,
            taught,
        )
        loss = (1 - args.taught) * contrastive(logits, batch) + args.taught * distance
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % max(1, steps // 12) == 0:
            print(f"{step}/{steps} loss {loss.item():.3f} {time.time() - started:.0f}s", flush=True)
    return model.eval()


@torch.no_grad()
def judge(model: Model, folder: Path) -> str:
    """Docstring to function in repositories that were not trained on, where `prepare_dev.py` left them."""
    found = []
    for data in dev_sets(folder):
        d, q = model.document(Rows(data, "doc", FIELDS).all()), model.query(Rows(data, "query", 1).all())
        found.append(reciprocal_rank(q @ d.T, torch.from_numpy(data["gold"]).to(DEVICE)))
    return shown(found)


@torch.no_grad()
def save(model: Model, out: Path) -> None:
    """The files that the package has beside the vocabulary; the rows' scales live in the weights."""
    scale = model.table.abs().amax(dim=1).clamp(min=1e-8) / 127
    weights = torch.stack([model.query_weights, model.doc_weights]).exp() * scale
    fields = torch.cat([model.fields, model.sums]).exp()
    np.save(out / "vectors.npy", torch.round(model.table / scale[:, None]).to(torch.int8).cpu().numpy())
    np.save(out / "weights.npy", weights.cpu().numpy().astype(np.float32))
    np.save(out / "fields.npy", fields.cpu().numpy().astype(np.float32))


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("data", type=Path)
    options.add_argument("out", type=Path)
    options.add_argument("--epochs", type=float, default=4.0)
    options.add_argument("--batch", type=int, default=3072)
    options.add_argument("--lr", type=float, default=2e-3)
    options.add_argument("--drop", type=float, default=0.15)
    options.add_argument("--kinds", default="2,0.5,0.3,0.7", help="shares of doc, comment, error, commit")
    options.add_argument("--chunk", type=int, default=1024, help="pairs of one source in a batch")
    options.add_argument("--taught", type=float, default=0.9, help="the teacher's share of the loss")
    options.add_argument("--sharpness", type=float, default=20.0, help="factor on the teacher's similarities")
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--runs", type=int, default=4, help="runs to average")
    args = options.parse_args()
    data = dict(np.load(args.data / "data.npz"))
    docs, queries = Rows(data, "doc", FIELDS), Rows(data, "query", 1)
    states = []
    for seed in range(args.seed, args.seed + args.runs):
        model = train(args, seed, docs, queries, data["pairs"])
        states.append({name: value.detach().clone() for name, value in model.state_dict().items()})
        print("dev", seed, judge(model, args.data), flush=True)
    # Runs that begin at the same table may be averaged, and the average forgets what single runs memorised.
    model.load_state_dict({name: sum(state[name] for state in states) / len(states) for name in states[0]})
    print("dev mean", judge(model, args.data), flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    save(model, args.out)
    (args.out / "training.json").write_text(json.dumps({k: str(v) for k, v in vars(args).items()}, indent=1))


if __name__ == "__main__":
    main()
