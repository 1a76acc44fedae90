"""Named models in, one of each for all workspaces of a process out: what calls ask at once is one batch.

While a model works, further calls wait; the next one takes all that wait along. Nobody waits for a batch to
fill, so a call alone is as fast as before. What is not faster in batches is not batched: the embedded model
takes a tenth of a millisecond, endpoints answer many requests at once, and on a processor a batch of an ONNX
model costs as much as its texts one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from codenib.compiler.dense import open_named
from codenib.core.embedding import Embedder, EmbedderIdentity, OpenEmbedder
from codenib.core.protocols import OpenReranker, Reranker
from codenib.core.reranking import RerankerIdentity
from codenib.serving.configuration import user_value
from codenib.serving.search.rerankers.choose import open_reranker, parse_reranker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AskT = TypeVar("AskT")
ReplyT = TypeVar("ReplyT")
#: Texts, or pairs of a query and a document, that one call of a model takes along from others.
MOST_TOGETHER = 512


class _Ticket(Generic[AskT, ReplyT]):
    def __init__(self, ask: AskT) -> None:
        self.ask = ask
        self.reply: ReplyT | None = None
        self.error: Exception | None = None
        self.done = False


class ModelQueue(Generic[AskT, ReplyT]):
    """Asks of many threads to one model, which answers one batch at a time.

    `run` answers several asks at once; `size` says how much an ask is. Where a batch fails, each ask is made
    alone, so that nobody's text spoils another's answer.
    """

    def __init__(
        self, run: Callable[[Sequence[AskT]], Sequence[ReplyT]], size: Callable[[AskT], int]
    ) -> None:
        self._run = run
        self._size = size
        self._queue: list[_Ticket[AskT, ReplyT]] = []
        self._changed = threading.Condition()
        self._busy = False  # whether a thread uses the model
        self.asks = self.batches = 0

    @property
    def waiting(self) -> int:
        """How many asks wait for the model."""
        return len(self._queue)

    def ask(self, ask: AskT) -> ReplyT:
        """The model's answer, in a batch with what others asked meanwhile."""
        mine: _Ticket[AskT, ReplyT] = _Ticket(ask)
        with self._changed:
            self._queue.append(mine)
            while self._busy and not mine.done:  # another thread may take it along
                self._changed.wait()
            mine_to_run = not mine.done
            self._busy = self._busy or mine_to_run
        if mine_to_run:
            try:
                while not mine.done:
                    self._answer(self._take())
            finally:
                self._leave()
        if mine.error is not None:
            raise mine.error
        assert mine.reply is not None
        return mine.reply

    def alone(self, work: Callable[[], ReplyT]) -> ReplyT:
        """Use the model while nobody else does."""
        with self._changed:
            while self._busy:
                self._changed.wait()
            self._busy = True
        try:
            return work()
        finally:
            self._leave()

    def _leave(self) -> None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()

    def _take(self) -> list[_Ticket[AskT, ReplyT]]:
        """The first that wait, as many as go together; at least one."""
        with self._changed:
            total, count = 0, 0
            for ticket in self._queue:
                total += self._size(ticket.ask)
                if count and total > MOST_TOGETHER:
                    break
                count += 1
            batch, self._queue[:] = self._queue[:count], self._queue[count:]
            self.asks += count
            self.batches += 1
        return batch

    def _answer(self, batch: list[_Ticket[AskT, ReplyT]]) -> None:
        try:
            replies = self._run([ticket.ask for ticket in batch])
            for ticket, reply in zip(batch, replies, strict=True):
                ticket.reply, ticket.done = reply, True
        except Exception as error:  # noqa: BLE001 - raised by the thread that asked
            if len(batch) == 1:
                batch[0].error, batch[0].done = error, True
                return
            for ticket in batch:
                self._answer([ticket])


@dataclass(frozen=True, slots=True)
class BatchedEmbedder:
    """An embedder that embeds the queries of several threads together."""

    model: Embedder
    queue: ModelQueue[Sequence[str], NDArray[np.float32]]

    @property
    def identity(self) -> EmbedderIdentity:
        return self.model.identity

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.queue.alone(lambda: self.model.embed_documents(texts))

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.queue.ask(texts)


@dataclass(frozen=True, slots=True)
class BatchedReranker:
    """A reranker that scores the pairs of several threads together."""

    identity: RerankerIdentity
    queue: ModelQueue[tuple[str, Sequence[str]], list[float]]

    def scores(self, query: str, documents: Sequence[str]) -> list[float]:
        return self.queue.ask((query, documents))


class SharedModels:
    """The models of one process, each opened once, whichever workspace asks first."""

    def __init__(
        self, open_embedder: OpenEmbedder = open_named, open_reranker: OpenReranker = open_reranker
    ) -> None:
        self._open_embedder = open_embedder
        self._open_reranker = open_reranker
        self._embedders: dict[str, Embedder] = {}
        self._rerankers: dict[str, Reranker | None] = {}
        self._queues: list[ModelQueue[Any, Any]] = []
        self._opening = threading.Lock()

    def embedder(self, spec: str) -> Embedder:
        """What `spec` names; an `OpenEmbedder`."""
        with self._opening:
            if spec not in self._embedders:
                self._embedders[spec] = self._batched_embedder(self._open_embedder(spec))
            return self._embedders[spec]

    def reranker(self, spec: str) -> Reranker | None:
        """What `spec` names; None for `none`."""
        with self._opening:
            if spec not in self._rerankers:
                self._rerankers[spec] = self._batched_reranker(self._open_reranker(spec))
            return self._rerankers[spec]

    @property
    def asks(self) -> int:
        """How many asks the batched models have answered."""
        return sum(queue.asks for queue in self._queues)

    @property
    def batches(self) -> int:
        """How many calls of models those took."""
        return sum(queue.batches for queue in self._queues)

    def _batched_embedder(self, model: Embedder) -> Embedder:
        if not _gains_by_batches(model):
            return model
        import numpy as np

        def run(asked: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
            rows = model.embed_queries([text for texts in asked for text in texts])
            return np.split(rows, np.cumsum([len(texts) for texts in asked])[:-1])

        queue: ModelQueue[Sequence[str], NDArray[np.float32]] = ModelQueue(run, len)
        self._queues.append(queue)
        return BatchedEmbedder(model, queue)

    def _batched_reranker(self, model: Reranker | None) -> Reranker | None:
        from codenib.serving.search.rerankers.pointwise import PointwiseReranker

        if not isinstance(model, PointwiseReranker):
            return model  # a language model behind an endpoint reads one list at a time
        queue: ModelQueue[tuple[str, Sequence[str]], list[float]] = ModelQueue(
            model.score_many, lambda ask: len(ask[1])
        )
        self._queues.append(queue)
        return BatchedReranker(model.identity, queue)


def configured_reranker() -> str | None:
    """The reranker that the user chose for searches, with its spelling checked; None where none was."""
    spec = str(user_value("search.reranker"))
    return None if parse_reranker(spec).kind == "none" else spec


def _gains_by_batches(model: Embedder) -> bool:
    """Whether a model on a device of its own embeds; see the top for the others."""
    from codenib.views.dense.embedders.onnx import OnnxEmbedder
    from codenib.views.dense.embedders.sentence_transformers import SentenceTransformersEmbedder

    if isinstance(model, OnnxEmbedder):
        return str(model.graph.session.get_providers()[0]) != "CPUExecutionProvider"
    return isinstance(model, SentenceTransformersEmbedder)
