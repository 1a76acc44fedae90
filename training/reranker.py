"""Train the reranker: `python -m training.reranker ROWS.jsonl... --base MINILM --out FOLDER --seconds 190`.

MINILM is a folder of a BERT-like encoder (training/teacher.py writes one). Each step shows a query with one right and
seven wrong documents; the loss is a softmax over the eight. The result is an ONNX folder, int8 per channel, with the
caps that serving reads. Needs torch, transformers, onnx and onnxruntime, and a GPU to be quick.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn
from transformers import AutoModel, AutoTokenizer

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
QUERY_TOKENS, DOCUMENT_TOKENS = 128, 192
SHOWN = 8
BATCH = 96
RATE, HEAD_RATE = 1.2e-4, 1e-3
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class CrossEncoder(nn.Module):
    """The mean of the last layer, a layer, one logit."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(base, attn_implementation="eager", add_pooling_layer=False)
        width = self.encoder.config.hidden_size
        self.dense, self.out = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, input_ids, attention_mask, token_type_ids):
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask[:, :, None].to(hidden.dtype)
        return self.out(torch.tanh(self.dense((hidden * mask).sum(1) / mask.sum(1))))


def batch_of(tokenizer, rows: list[dict], generator: torch.Generator) -> dict[str, torch.Tensor]:
    """One right and seven wrong documents for each row, as pairs of tokens."""
    queries, documents = [], []
    for row in rows:
        right = row["p"][int(torch.randint(len(row["p"]), (1,), generator=generator))]
        picked = torch.randint(len(row["n"]), (SHOWN - 1,), generator=generator).tolist()
        queries += [row["q"]] * SHOWN
        documents += [right, *(row["n"][at] for at in picked)]
    cut = tokenizer(queries, add_special_tokens=False, truncation=True, max_length=QUERY_TOKENS)["input_ids"]
    read = tokenizer(documents, add_special_tokens=False, truncation=True, max_length=DOCUMENT_TOKENS)[
        "input_ids"
    ]
    pairs = [
        tokenizer.prepare_for_model(q, d, add_special_tokens=True) for q, d in zip(cut, read, strict=True)
    ]
    padded = tokenizer.pad(pairs, return_tensors="pt")
    return {name: padded[name].to(DEVICE) for name in INPUTS}


def train(model: CrossEncoder, tokenizer, rows: list[dict], seconds: float) -> None:
    groups = [
        {"params": model.encoder.parameters(), "lr": RATE},
        {"params": [*model.dense.parameters(), *model.out.parameters()], "lr": HEAD_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    rates = [group["lr"] for group in optimizer.param_groups]
    generator = torch.Generator().manual_seed(1)
    started, step = time.time(), 0
    model.train()
    while (done := (time.time() - started) / seconds) < 1:
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * min(1.0, step / 100) * max(0.02, 1 - done)
        chosen = torch.randint(len(rows), (BATCH,), generator=generator).tolist()
        with torch.autocast(DEVICE, torch.bfloat16):
            scores = model(**batch_of(tokenizer, [rows[at] for at in chosen], generator))
        target = torch.zeros(BATCH, dtype=torch.long, device=DEVICE)
        loss = nn.functional.cross_entropy(scores.float().view(BATCH, SHOWN), target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 100 == 0:
            print(step, round(float(loss), 4), flush=True)


def export(model: CrossEncoder, base: str, out: Path) -> None:
    model.eval().cpu()
    out.mkdir(parents=True, exist_ok=True)
    sample = torch.ones((2, 9), dtype=torch.long)
    axes = {0: "batch", 1: "tokens"}
    torch.onnx.export(
        model,
        (sample, sample, sample),
        str(out / "full.onnx"),
        input_names=list(INPUTS),
        output_names=["logits"],
        dynamic_axes={**dict.fromkeys(INPUTS, axes), "logits": {0: "batch"}},
        dynamo=False,
    )
    quantize_dynamic(
        str(out / "full.onnx"), str(out / "model.onnx"), weight_type=QuantType.QInt8, per_channel=True
    )
    (out / "full.onnx").unlink()
    shutil.copy(Path(base) / "tokenizer.json", out)
    caps = {"max_tokens": QUERY_TOKENS + DOCUMENT_TOKENS + 3, "query_tokens": QUERY_TOKENS}
    (out / "config.json").write_text(json.dumps({"max_position_embeddings": 512, **caps}, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="+", type=Path)
    parser.add_argument("--base", required=True)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--seconds", type=float, default=190)
    asked = parser.parse_args()
    rows = [json.loads(line) for path in asked.rows for line in path.read_text().splitlines()]
    model = CrossEncoder(asked.base).to(DEVICE)
    train(model, AutoTokenizer.from_pretrained(asked.base), [row for row in rows if row["n"]], asked.seconds)
    export(model, asked.base, asked.out)


if __name__ == "__main__":
    main()
