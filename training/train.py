"""Train the static model on a GPU: arrays of `prepare.py` in, the tables out. Seeded; see training/README.md.

    python training/train.py DATA OUT [--minutes 6]

One vector and two weights (query side, document side) per piece; a text is the weighted sum of its pieces'
vectors, term frequencies as 1 + ln tf, normalised. InfoNCE both ways, with batches of a few repositories' pairs,
so that the negatives are functions that a searcher would really confuse. Needs torch and nothing else of ours.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

DIM = 256


class Rows:
    """Ragged rows on the GPU."""

    def __init__(self, data: dict[str, np.ndarray], name: str, pieces: int) -> None:
        ids, tf, ends = data[f"{name}_ids"], data[f"{name}_tf"], data[f"{name}_ends"]
        keep = ids < pieces
        ends = np.concatenate([[0], np.cumsum(keep)])[ends]
        self.ids = torch.from_numpy(ids[keep].astype(np.int32)).cuda()
        self.tf = (1 + torch.log(torch.from_numpy(tf[keep].astype(np.float32)).clamp(min=1))).cuda()
        self.ends = torch.from_numpy(ends.astype(np.int64)).cuda()

    def batch(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Ids, tf weights and offsets of some rows."""
        starts, sizes = self.ends[rows], self.ends[rows + 1] - self.ends[rows]
        offsets = torch.cumsum(sizes, 0) - sizes
        owner = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), sizes)
        at = torch.arange(int(sizes.sum()), device=rows.device) - offsets[owner] + starts[owner]
        return self.ids[at], self.tf[at], offsets


class Model(torch.nn.Module):
    def __init__(self, table: torch.Tensor, scale: float) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(table)
        self.weights = torch.nn.Parameter(torch.zeros(2, len(table)))
        self.scale = torch.nn.Parameter(torch.tensor(math.log(scale)))

    def embed(
        self, batch: tuple[torch.Tensor, torch.Tensor, torch.Tensor], side: int, drop: float
    ) -> torch.Tensor:
        ids, tf, offsets = batch
        weight = tf * torch.exp(self.weights[side][ids.long()])
        if drop and self.training:
            weight = weight * (torch.rand_like(weight) > drop)
        rows = functional.embedding_bag(
            ids.long(), self.table, offsets, mode="sum", per_sample_weights=weight
        )
        return functional.normalize(rows, dim=1, eps=1e-6)


def loss_of(
    model: Model, q: torch.Tensor, d: torch.Tensor, query: torch.Tensor, doc: torch.Tensor
) -> torch.Tensor:
    logits = (q @ d.T) * model.scale.exp().clamp(max=60)
    same = (query[:, None] == query[None, :]) | (doc[:, None] == doc[None, :])
    same.fill_diagonal_(False)
    logits = logits.masked_fill(same, -1e4)
    target = torch.arange(len(q), device=q.device)
    return 0.7 * functional.cross_entropy(logits, target) + 0.3 * functional.cross_entropy(logits.T, target)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("data", type=Path)
    options.add_argument("out", type=Path)
    options.add_argument("--epochs", type=float, default=3.0)
    options.add_argument("--batch", type=int, default=3072)
    options.add_argument("--lr", type=float, default=2e-3)
    options.add_argument("--drop", type=float, default=0.15)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--kinds", default="1,0.4,0.5,1.3", help="shares of doc, comment, error, commit")
    options.add_argument("--chunk", type=int, default=1024, help="pairs of one repository in a batch")
    options.add_argument("--scale", type=float, default=20.0)
    options.add_argument("--decay", type=float, default=0.0)
    options.add_argument("--runs", type=int, default=1, help="runs to average")
    options.add_argument("--pieces", type=int, default=0, help="use only the first pieces of the vocabulary")
    args = options.parse_args()
    words = (args.data / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    pieces = args.pieces or len(words)
    data = {**np.load(args.data / "documents.npz"), **np.load(args.data / "pairs.npz")}
    docs, queries = Rows(data, "doc", pieces), Rows(data, "query", pieces)
    table = torch.from_numpy(np.load(args.data / "initial.npy")[:pieces].astype(np.float32))
    states = []
    for seed in range(args.seed, args.seed + args.runs):
        model = train(args, seed, table, docs, queries, data["pairs"])
        states.append({name: value.detach().clone() for name, value in model.state_dict().items()})
        print("dev", seed, dev_mrr(model, args.data, pieces), flush=True)
    # Runs that begin at the same table may be averaged, and the average forgets what single runs memorised.
    model.load_state_dict({name: sum(state[name] for state in states) / len(states) for name in states[0]})
    print("dev mean", dev_mrr(model, args.data, pieces), vars(args), flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    save(model, args.out, vars(args))


def train(
    args: argparse.Namespace, seed: int, table: torch.Tensor, docs: Rows, queries: Rows, pairs: np.ndarray
) -> Model:
    """One run."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    held = np.random.default_rng(1).random(len(pairs)) < 0.01
    known, test = pairs[~held], pairs[held]
    model = Model(table.clone(), args.scale).cuda()
    optimizer = torch.optim.AdamW(
        [
            {"params": [model.table], "lr": args.lr, "weight_decay": args.decay},
            {"params": [model.weights], "lr": 5 * args.lr, "weight_decay": 0.0},
            {"params": [model.scale], "lr": 1e-3, "weight_decay": 0.0},
        ]
    )
    by_repository = [known[known[:, 3] == r] for r in np.unique(known[:, 3])]
    sizes = np.array([len(part) for part in by_repository], float)
    shares = [float(share) for share in args.kinds.split(",")]
    steps = int(args.epochs * len(known) / args.batch)
    started = time.time()
    for step in range(steps):
        for group in optimizer.param_groups:
            group.setdefault("peak", group["lr"])
            warm = min(1.0, (step + 1) / 100)
            group["lr"] = group["peak"] * warm * max(0.02, 0.5 * (1 + math.cos(math.pi * step / steps)))
        chosen = []
        count = 0
        while count < args.batch:  # whole slices of a few repositories
            part = by_repository[rng.choice(len(sizes), p=sizes / sizes.sum())]
            share = np.take(shares, part[:, 2])
            take = min(len(part), args.batch - count, args.chunk)
            chosen.append(part[rng.choice(len(part), take, replace=False, p=share / share.sum())])
            count += take
        batch = torch.from_numpy(np.concatenate(chosen).astype(np.int64)).cuda()
        model.train()
        q = model.embed(queries.batch(batch[:, 0]), 0, args.drop)
        d = model.embed(docs.batch(batch[:, 1]), 1, args.drop)
        loss = loss_of(model, q, d, batch[:, 0], batch[:, 1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % max(1, steps // 12) == 0 or step == steps - 1:
            report = evaluate(model, queries, docs, test)
            print(
                f"{step}/{steps} loss {loss.item():.3f} held-out {report} {time.time() - started:.0f}s",
                flush=True,
            )
    return model


@torch.no_grad()
def evaluate(model: Model, queries: Rows, docs: Rows, test: np.ndarray) -> str:
    model.eval()
    parts = []
    for kind in range(4):
        rows = torch.from_numpy(test[test[:, 2] == kind][:1500].astype(np.int64)).cuda()
        if len(rows) < 50:
            continue
        q = model.embed(queries.batch(rows[:, 0]), 0, 0.0)
        d = model.embed(docs.batch(rows[:, 1]), 1, 0.0)
        own = (q * d).sum(1, keepdim=True)
        rank = ((q @ d.T) > own).sum(1) + 1
        parts.append(f"{(1 / rank.float()).mean().item():.3f}")
    return " ".join(parts)


@torch.no_grad()
def dev_mrr(model: Model, folder: Path, pieces: int) -> str:
    """Docstring to function in repositories that were not trained on, where `prepare_dev.py` left them."""
    model.eval()
    found = []
    for path in sorted(folder.glob("dev-*.npz")):
        data = dict(np.load(path))
        docs, queries = Rows(data, "doc", pieces), Rows(data, "query", pieces)
        d = model.embed(docs.batch(torch.arange(len(docs.ends) - 1, device="cuda")), 1, 0.0)
        q = model.embed(queries.batch(torch.arange(len(queries.ends) - 1, device="cuda")), 0, 0.0)
        gold = torch.from_numpy(data["gold"].astype(np.int64)).cuda()
        scores = q @ d.T
        rank = 1 + (scores > scores.gather(1, gold[:, None])).sum(1)
        found.append(float((1 / rank.float()).mean()))
    return " ".join(f"{value:.3f}" for value in found) + (f" mean {np.mean(found):.4f}" if found else "")


@torch.no_grad()
def save(model: Model, out: Path, options: dict[str, object]) -> None:
    table = model.table.float()
    scale = table.abs().amax(dim=1).clamp(min=1e-8) / 127
    np.save(out / "vectors.npy", torch.round(table / scale[:, None]).to(torch.int8).cpu().numpy())
    weights = torch.exp(model.weights).float() * scale[None, :]  # the rows' scales live in the weights
    np.save(out / "weights.npy", weights.cpu().numpy().astype(np.float32))
    (out / "training.json").write_text(json.dumps({k: str(v) for k, v in options.items()}, indent=1))


if __name__ == "__main__":
    main()
