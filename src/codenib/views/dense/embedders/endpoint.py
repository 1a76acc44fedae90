"""OpenAI-compatible embeddings endpoints: a base URL and a model's name in, an embedder out."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from codenib.core.embedding import EmbedderIdentity
from codenib.core.errors import UNDECODABLE, InputError, ProviderError
from codenib.views.dense.embedders.known import find_embedder
from codenib.views.dense.embedders.post import (
    DEFAULT_RETRIES,
    EMBED_KEYS,
    Poster,
    RetryPolicy,
    choose_key,
    post_addresses,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SPEC_HINT = "endpoint:https://HOST/v1#MODEL"
BATCH_TEXTS = 64
# OpenAI takes 300,000 tokens a request, and code has more than two characters a token.
BATCH_CHARACTERS = 600_000
# Servers refuse a text over their cap rather than cut it. 8,192 tokens is OpenAI's; three characters a token
# is what code comes to, so that what is cut off would mostly not have been read.
MAX_TOKENS = 8192
CHARACTERS_PER_TOKEN = 3


class _Row(msgspec.Struct):
    index: int
    embedding: list[float]


class _Rows(msgspec.Struct):
    data: list[_Row]
    model: str = ""


@dataclass(frozen=True, slots=True)
class EndpointEmbedder:
    """Embeds by requests of bounded size; each reply must have the dimension and the model of the first."""

    poster: Poster
    model: str
    identity: EmbedderIdentity

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, self.identity.document_prefix)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, self.identity.query_prefix)

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        import numpy as np

        longest = self.identity.max_tokens * CHARACTERS_PER_TOKEN
        rows = np.zeros((len(texts), self.identity.dimension), dtype=np.float32)
        start = 0
        # A text without anything to read stays zero: servers refuse it.
        filled = [row for row, text in enumerate(texts) if text.strip()]
        for batch in _batches([(prefix + texts[row])[:longest] for row in filled]):
            reply = _request(self.poster, self.model, batch)
            self._check(reply)
            rows[filled[start : start + len(batch)]] = [row.embedding for row in reply.data]
            start += len(batch)
        return rows

    def _check(self, reply: _Rows) -> None:
        expected = self.identity.dimension
        wrong = next((len(row.embedding) for row in reply.data if len(row.embedding) != expected), None)
        if wrong is not None:
            raise ProviderError(f"{self.identity.model} gave {wrong} dimensions after {expected}")
        if reply.model != self.identity.revision:
            raise ProviderError(
                f"{self.identity.model} answered with {reply.model} after {self.identity.revision}"
            )


def open_endpoint(
    base_url: str,
    model: str,
    *,
    patience: RetryPolicy = DEFAULT_RETRIES,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.time,
) -> EndpointEmbedder:
    """Ask for one vector: its dimension, its norm and the model that answers go into the identity.

    A model of the paper, served under its Hub id, gets its prefixes; any other gets none.
    """
    url, shown = post_addresses(base_url, "/embeddings", SPEC_HINT, EMBED_KEYS[0])
    if not model:
        raise InputError(f"which model of {shown}?", hint=SPEC_HINT)
    poster = Poster(url, shown, choose_key(dict(os.environ), url), patience=patience, sleep=sleep, now=now)
    reply = _request(poster, model, ["def probe(): ..."], first=True)
    vector = reply.data[0].embedding
    known = find_embedder(model)
    identity = EmbedderIdentity(
        model=f"{shown}#{model}",
        revision=reply.model,
        dimension=len(vector),
        pooling="model",
        normalized=abs(math.hypot(*vector) - 1.0) < 1e-3,
        query_prefix=known.query_prefix if known else "",
        document_prefix=known.document_prefix if known else "",
        max_tokens=known.max_tokens if known else MAX_TOKENS,
    )
    if known is not None and known.dimension != len(vector):
        raise ProviderError(
            f"{identity.model} has {len(vector)} dimensions, {known.hub_id} {known.dimension}"
        )
    return EndpointEmbedder(poster, model, identity)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _request(poster: Poster, model: str, texts: list[str], *, first: bool = False) -> _Rows:
    """One row for each text, in their order."""
    body = msgspec.json.encode({"model": model, "input": texts, "encoding_format": "float"})
    answer = poster.post(body, first=first)
    try:
        reply = msgspec.json.decode(answer, type=_Rows)
    except UNDECODABLE as error:
        raise ProviderError(
            f"{poster.address} did not answer with embeddings: {error}",
            hint=f"name the base URL, which mostly ends in /v1: {SPEC_HINT}",
        ) from error
    reply.data.sort(key=lambda row: row.index)
    if [row.index for row in reply.data] != list(range(len(texts))):
        raise ProviderError(
            f"{poster.address} gave {len(reply.data)} rows for {len(texts)} texts, or repeats some"
        )
    if not all(row.embedding and math.isfinite(math.fsum(row.embedding)) for row in reply.data):
        raise ProviderError(f"{poster.address} gave a vector that is empty or not finite")
    return reply
