"""Requests that ended and the state of a server in, the text of Prometheus out. Needs the extra `observe`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from codenib.adapters.mcp.record import CallRecord
from codenib.core.errors import ProviderError, extra_hint

_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Busyness(Protocol):
    """How many calls of a lane have their turn, and how many wait."""

    @property
    def running(self) -> int: ...
    @property
    def waiting(self) -> int: ...


class OpenMemory(Protocol):
    """What is open of a server's repositories, and what that may take."""

    @property
    def budget_bytes(self) -> float: ...
    @property
    def size_bytes(self) -> float: ...
    @property
    def evicted(self) -> int: ...
    @property
    def reopened(self) -> int: ...
    @property
    def names(self) -> Sequence[str]: ...


class BuildLoad(Busyness, Protocol):
    """The builds beside a server, and what those that run were given."""

    @property
    def memory_bytes(self) -> float: ...


class ModelLoad(Protocol):
    """How often models were asked, in how many batches."""

    @property
    def asks(self) -> int: ...
    @property
    def batches(self) -> int: ...


class Metrics:
    """The numbers of one server. A tenant's name is a label, a repository's is not: there are too many."""

    def __init__(
        self, lanes: Iterable[tuple[str, Busyness]] = (), states: Callable[[], Sequence[str]] = tuple
    ) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
        except ImportError:
            raise ProviderError("prometheus-client is not installed", hint=extra_hint("observe")) from None
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        labels = ["tenant", "tool", "outcome"]
        self._requests = Counter("codenib_requests", "Requests that ended.", labels, registry=registry)
        by_status = ["tenant", "status"]
        self._refused = Counter("codenib_refusals", "Refusals by HTTP status.", by_status, registry=registry)
        name, about = "codenib_request_seconds", "From arrival to the end."
        self._seconds = Histogram(name, about, ["tool"], buckets=_BUCKETS_S, registry=registry)
        self._waited = Histogram(
            "codenib_wait_seconds", "For a turn.", ["tenant"], buckets=_BUCKETS_S, registry=registry
        )
        self._tokens = Counter("codenib_reply_tokens", "Tokens of replies.", ["tenant"], registry=registry)
        self._cheaper = Counter(
            "codenib_cheaper_plans", "Answers by a cheaper plan.", ["tenant"], registry=registry
        )
        running = Gauge("codenib_calls_running", "Calls that have their turn.", ["lane"], registry=registry)
        waiting = Gauge("codenib_calls_waiting", "Calls that wait for it.", ["lane"], registry=registry)
        for lane, turns in lanes:
            running.labels(lane).set_function(lambda turns=turns: turns.running)
            waiting.labels(lane).set_function(lambda turns=turns: turns.waiting)
        self._repositories = Gauge(
            "codenib_repositories", "Repositories by state.", ["state"], registry=registry
        )
        self._states = states

    def observe_memory(self, memory: OpenMemory) -> None:
        """Show what is open."""
        self._show("codenib_open_repositories", "Repositories that are open.", lambda: len(memory.names))
        self._show("codenib_open_bytes", "What they take at most.", lambda: memory.size_bytes)
        self._show("codenib_open_budget_bytes", "What they may take.", lambda: memory.budget_bytes)
        self._show("codenib_opened", "Times that one was opened.", lambda: memory.reopened)
        self._show("codenib_evicted", "Times that one was closed for another.", lambda: memory.evicted)

    def observe_builds(self, builds: BuildLoad) -> None:
        """Show what is built beside the server."""
        self._show("codenib_builds_running", "Builds beside the server.", lambda: builds.running)
        self._show("codenib_builds_waiting", "Builds that wait for that.", lambda: builds.waiting)
        self._show("codenib_builds_bytes", "Memory that those were given.", lambda: builds.memory_bytes)

    def observe_models(self, models: ModelLoad) -> None:
        """Show how often models were asked, and in how many batches."""
        self._show("codenib_model_asks", "Asks of named models.", lambda: models.asks)
        self._show("codenib_model_batches", "Calls of those models.", lambda: models.batches)

    def _show(self, name: str, about: str, value: Callable[[], float]) -> None:
        from prometheus_client import Gauge

        Gauge(name, about, registry=self._registry).set_function(value)

    def count(self, record: CallRecord) -> None:
        """Count a request that ended."""
        tenant = record.grant.tenant
        tool = (
            record.tool if record.method == "tools/call" and record.tool else "other"
        )  # ours, no client's word
        self._requests.labels(tenant, tool, record.outcome).inc()
        if record.outcome == "refused":
            self._refused.labels(tenant, str(record.status)).inc()
            return
        self._seconds.labels(tool).observe(record.seconds)
        if record.tool:
            self._waited.labels(tenant).observe(record.waited_s)
        self._tokens.labels(tenant).inc(record.tokens)
        if record.plan:
            self._cheaper.labels(tenant).inc()

    def text(self) -> bytes:
        """All numbers, in the text format of Prometheus."""
        from prometheus_client import generate_latest

        states = list(self._states())
        for state in ("starting", "indexing", "ready", "failed"):
            self._repositories.labels(state).set(states.count(state))
        return bytes(generate_latest(self._registry))
