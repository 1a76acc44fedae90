"""Values and the protocol of embedders: texts in, one vector each out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


EMBEDDED = "codenib-static"  # the model that ships in the package


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Everything that decides a vector besides the text, so that vectors of different models never mix."""

    model: str
    revision: str
    dimension: int
    pooling: str
    normalized: bool
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 0  # 0: no cap

    @property
    def digest(self) -> str:
        rows = "".join(f"{name}\0{value}\n" for name, value in sorted(asdict(self).items()))
        return hashlib.sha256(rows.encode()).hexdigest()[:16]


class Embedder(Protocol):
    """Turns queries and documents into vectors that an inner product compares."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text. The same text gives the same row, whatever stands beside it."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text."""
        ...


#: Opens what a spec names; a wrong spec, a missing extra or an unreachable endpoint fails here.
OpenEmbedder = Callable[[str], Embedder]


class VectorCache(Protocol):
    """Vectors as bytes, by the digest of an embedder's identity and the digest of a text."""

    def get(self, identity: str, digests: Sequence[str]) -> list[bytes | None]:
        """The vector of each text; None where there is none of this identity."""
        ...

    def put(self, identity: str, rows: Sequence[tuple[str, bytes]]) -> None:
        """Keep vectors, each with the digest of its text."""
        ...
