"""Values of rerankers: what decides a score besides the texts, and what reranking cost."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class RerankerIdentity:
    """Everything that decides a score besides the query and the documents."""

    model: str
    revision: str
    kind: str  # yes-no, cross-encoder or listwise
    max_tokens: int = 0  # of one prompt; 0: the endpoint's own
    instruction: str = ""

    @property
    def digest(self) -> str:
        rows = "".join(f"{name}\0{value}\n" for name, value in sorted(asdict(self).items()))
        return hashlib.sha256(rows.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class RerankCost:
    """What reranking took. `unscored` documents were too large for the memory and keep their order behind."""

    seconds: float = 0.0
    documents: int = 0
    unscored: int = 0
