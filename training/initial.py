"""What the teacher gives the model: `python -m training.initial DATA`. Needs torch and a GPU.

A first table, each piece embedded alone and reduced by PCA (`initial.npy`); and the embeddings of all queries and
documents (`teacher.pt`), whose similarities the model learns to repeat.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from training.batches import DEVICE
from training.teacher import Words, embed
from transformers import AutoModel

DIM = 256


def main(data: Path) -> None:
    model = AutoModel.from_pretrained(data / "teacher").float().to(DEVICE)
    tokenizer = Tokenizer.from_file(str(data / "teacher" / "tokenizer.json"))
    tokenizer.no_padding()
    pieces = (data / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    ids = [encoded.ids for encoded in tokenizer.encode_batch(pieces)]
    words = Words(np.concatenate(ids), np.array([len(row) for row in ids]))
    table = embed(model, words).float()
    table = table - table.mean(0)
    _, _, basis = torch.linalg.svd(table, full_matrices=False)
    reduced = table @ basis[:DIM].T
    reduced = reduced / reduced.norm(dim=1).mean()
    np.save(data / "initial.npy", reduced.cpu().numpy().astype(np.float16))
    arrays = np.load(data / "data.npz")
    sides = {side: Words(arrays[f"{side}_words"], arrays[f"{side}_lengths"]) for side in ("query", "doc")}
    torch.save({side: embed(model, words).cpu() for side, words in sides.items()}, data / "teacher.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
