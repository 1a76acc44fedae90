"""Fine-tune a MiniLM on the pairs: `python -m training.teacher DATA MINILM`. Writes DATA/teacher. Needs torch and a GPU."""

from __future__ import annotations

import argparse
import math
import shutil
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from training.batches import (
    DEVICE,
    batches,
    contrastive,
    dev_sets,
    logits_of,
    reciprocal_rank,
    set_rate,
    shown,
)
from transformers import AutoModel


class Words:
    """Texts as ragged rows of word pieces."""

    def __init__(self, flat: np.ndarray, lengths: np.ndarray) -> None:
        self.flat = torch.from_numpy(flat.astype(np.int64)).to(DEVICE)
        self.lengths = torch.from_numpy(lengths.astype(np.int64)).to(DEVICE)
        self.starts = torch.cumsum(self.lengths, 0) - self.lengths

    def batch(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Padded word pieces of some rows, and which of them are real."""
        lengths = self.lengths[rows]
        at = torch.arange(int(lengths.max()), device=DEVICE)[None]
        real = at < lengths[:, None]
        return self.flat[(self.starts[rows][:, None] + at).clamp(max=len(self.flat) - 1)] * real, real


def encode(model: torch.nn.Module, words: Words, rows: torch.Tensor) -> torch.Tensor:
    """The mean of the last layer, normalised."""
    ids, real = words.batch(rows)
    with torch.autocast(DEVICE, torch.bfloat16):
        hidden = model(input_ids=ids, attention_mask=real.long()).last_hidden_state
    mask = real[:, :, None].float()
    return functional.normalize((hidden.float() * mask).sum(1) / mask.sum(1), dim=1)


@torch.no_grad()
def embed(model: torch.nn.Module, words: Words, size: int = 2048) -> torch.Tensor:
    """All rows, the short ones together."""
    model.eval()
    order = torch.argsort(words.lengths)
    out = torch.zeros(len(order), model.config.hidden_size, dtype=torch.float16, device=DEVICE)
    for start in range(0, len(order), size):
        out[order[start : start + size]] = encode(model, words, order[start : start + size]).half()
    return out


def judge(model: torch.nn.Module, folder: Path) -> str:
    found = []
    for data in dev_sets(folder):
        q = embed(model, Words(data["query_words"], data["query_lengths"])).float()
        d = embed(model, Words(data["doc_words"], data["doc_lengths"])).float()
        found.append(reciprocal_rank(q @ d.T, torch.from_numpy(data["gold"]).to(DEVICE)))
    return shown(found)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("data", type=Path)
    options.add_argument("minilm", type=Path)
    options.add_argument("--epochs", type=float, default=2.5)
    options.add_argument("--lr", type=float, default=2e-4)
    options.add_argument("--batch", type=int, default=1024)
    options.add_argument("--kinds", default="1.5,0.4,0.3,0.8")
    options.add_argument("--seed", type=int, default=1)
    args = options.parse_args()
    data = np.load(args.data / "data.npz")
    docs, queries = (Words(data[f"{side}_words"], data[f"{side}_lengths"]) for side in ("doc", "query"))
    pairs = data["pairs"]
    torch.manual_seed(args.seed)
    model = AutoModel.from_pretrained(args.minilm).float().to(DEVICE)
    print("before", judge(model, args.data), flush=True)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.05
    scale = torch.nn.Parameter(torch.tensor(math.log(20.0), device=DEVICE))
    optimizer = torch.optim.AdamW(
        [
            {"params": list(model.parameters()), "lr": args.lr, "weight_decay": 0.01},
            {"params": [scale], "lr": 1e-3, "weight_decay": 0.0},
        ]
    )
    steps = max(1, int(args.epochs * len(pairs) / args.batch))
    rng = np.random.default_rng(args.seed)
    started = time.time()
    model.train()
    for step, batch in enumerate(batches(pairs, args.kinds, args.batch, args.batch // 4, steps, rng)):
        set_rate(optimizer, step, steps, warm=60)
        q, d = encode(model, queries, batch[:, 0]), encode(model, docs, batch[:, 1])
        loss = contrastive(logits_of(q, d, scale), batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % max(1, steps // 12) == 0:
            print(f"{step}/{steps} loss {loss.item():.3f} {time.time() - started:.0f}s", flush=True)
    print("after", judge(model, args.data), flush=True)
    model.save_pretrained(args.data / "teacher")
    shutil.copy(args.minilm / "tokenizer.json", args.data / "teacher")


if __name__ == "__main__":
    main()
