"""A first table from a MiniLM, each piece embedded alone, by PCA: `initial.py MINILM VOCABULARY OUT`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

DIM = 256


@torch.no_grad()
def main(folder: str, vocabulary: str, out: str) -> None:
    words = Path(vocabulary).read_text(encoding="utf-8").split("\n")[:-1]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).float().cuda().eval()
    rows = []
    for start in range(0, len(words), 1024):
        batch = tokenizer(words[start : start + 1024], padding=True, return_tensors="pt").to("cuda")
        hidden = model(**batch).last_hidden_state
        mask = batch["attention_mask"][:, :, None].float()
        rows.append(torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1))
    table = torch.cat(rows)
    table = table - table.mean(0)
    _, _, basis = torch.linalg.svd(
        table[torch.randperm(len(table), generator=torch.Generator().manual_seed(1))[:16000].cuda()],
        full_matrices=False,
    )
    reduced = table @ basis[:DIM].T
    reduced = reduced / reduced.norm(dim=1).mean()
    np.save(out, reduced.cpu().numpy().astype(np.float16))
    print("initial", reduced.shape, float(reduced.norm(dim=1).mean()))


if __name__ == "__main__":
    main(*sys.argv[1:])
