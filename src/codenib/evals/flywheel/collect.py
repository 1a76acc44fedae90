"""Rows and a way to choose actions in, records of what each search and each agent's run gave and cost out.

Two decisions are made for a row: how its search is routed (reward: Symbol Recall@10, cost: milliseconds), and
what context an agent gets and keeps (reward: AnswerRecall@5, cost: tokens). Each is recorded with its chance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from random import Random

from codenib.compiler.compiler import IndexCompiler
from codenib.core.answers import Answer, Route
from codenib.core.errors import CodenibError, ProviderError
from codenib.core.requests import PUBLISHED, SearchRequest
from codenib.core.views import ViewKind
from codenib.evals.data.clones import Clones
from codenib.evals.data.rows import LocalizeRow
from codenib.evals.metrics.scoring import SourceBlock, answer_recall, block_recall, recall
from codenib.evals.runs import Record, StudyRun
from codenib.manifest.store import Store
from codenib.planner.model import DecisionModel, ModelKind, query_features
from codenib.planner.plan import RERANK, ROUTER_ACTIONS, RouterAction, action_of, router_actions
from codenib.planner.signals import read_signals
from codenib.runtime.context.exploration import explore
from codenib.runtime.context.learned import ACTIONS, LearnedContext
from codenib.runtime.providers.provider import ModelError, Provider
from codenib.runtime.query import query
from codenib.runtime.traces.trace import AgentRunTrace
from codenib.runtime.views import Contexts, load_views
from codenib.snapshot.repository import locate

VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE)
Actions = Mapping[ModelKind, tuple[str, ...]]
#: What is decided, and what can be done each time; a reader adds to what a router can do.
DECISIONS: Actions = {"router": router_actions(reads=False), "context": ACTIONS}
UNITS: Mapping[ModelKind, str] = {"router": "milliseconds", "context": "tokens"}
REWARDS: Mapping[ModelKind, str] = {"router": "Symbol Recall@10", "context": "AnswerRecall@5"}
K = 10
ANSWERS = 5
MOST_FAILURES = 3  # of the model in a row: each took its own retries, and the next would fail as well
_REPEATS = 2  # timed searches after one that warms up; the faster one is what the route costs

#: The action that the model or the rules prefer in; the action that is taken and its chance out.
Chooser = Callable[[str], tuple[str, float]]
Models = Mapping[ModelKind, DecisionModel]


@dataclass(frozen=True, slots=True)
class Assignment:
    """One decision to make and to record under `key`."""

    key: str
    kind: ModelKind
    choose: Chooser
    model: DecisionModel | None = None


@dataclass(frozen=True, slots=True)
class Collector:
    """Runs rows and records them; the traces of an agent's runs lie beside the records."""

    run: StudyRun
    clones: Clones
    provider: Provider
    seed: int
    decisions: Actions
    note: Callable[[str], None]
    reranker: str | None = None  # what may read the first places of a search

    def explore(self, part: str, rows: Sequence[LocalizeRow], models: Models, share: float) -> None:
        """One action for each decision of a row: the model's or the rules', or with chance `share` any."""

        def assigned(row: LocalizeRow) -> Iterator[Assignment]:
            for kind in self.decisions:
                key = f"{part}|{row.id}|{kind}"
                draw = Random(f"{self.seed}|{key}").random()
                choose = partial(_explore, actions=self.decisions[kind], share=share, draw=draw)
                yield Assignment(key, kind, choose, models.get(kind))

        self._collect(part, rows, assigned)

    def every_action(self, part: str, rows: Sequence[LocalizeRow]) -> None:
        """All actions for each row, so that what any policy would have given there is known."""

        def assigned(row: LocalizeRow) -> Iterator[Assignment]:
            for kind in self.decisions:
                for action in self.decisions[kind]:
                    yield Assignment(
                        f"{part}|{row.id}|{kind}|{action}", kind, partial(_always, action=action)
                    )

        self._collect(part, rows, assigned)

    def _collect(
        self, part: str, rows: Sequence[LocalizeRow], assigned: Callable[[LocalizeRow], Iterator[Assignment]]
    ) -> None:
        todo = [row for row in rows if any(not self._is_done(each.key) for each in assigned(row))]
        if len(todo) < len(rows):
            self.note(f"{part}: {len(rows) - len(todo)} of {len(rows)} rows are there already")
        done = len(rows) - len(todo)
        failures = 0
        ordered = sorted(todo, key=lambda row: row.cluster)  # stable: time stays the order of a repository
        for repo, found in groupby(ordered, key=lambda row: row.cluster):
            mine = list(found)
            for row, contexts in self._opened(mine):
                for each in assigned(row):
                    if self._is_done(each.key):
                        continue
                    record = self.run.add("decision", each.key, self._decided(row, contexts, each))
                    if each.kind == "context":
                        failures = failures + 1 if record.get("failed") == "model" else 0
                    if failures == MOST_FAILURES:
                        raise ProviderError(
                            f"the model failed {failures} times in a row: {record['error']}",
                            hint="the same command goes on from here, and tries again what failed",
                        )
            done += len(mine)
            self.note(f"{part}: {repo}, {done} of {len(rows)} rows")

    def _is_done(self, key: str) -> bool:
        """Whether a decision was made; one that failed in an earlier run is tried again."""
        record = self.run.get(key)
        return record is not None and "error" not in record

    def _opened(self, rows: Sequence[LocalizeRow]) -> Iterator[tuple[LocalizeRow, Contexts | str]]:
        """Each row with the views of its commit opened, or why they are not there."""
        clone = self.clones.find(rows[0].repo)
        repository = locate(clone)
        compiler = IndexCompiler(repository, Store(repository.key))
        with closing(compiler.dense):
            for commit, found in groupby(rows, key=lambda row: row.base_commit):
                here = list(found)
                try:
                    manifest = compiler.ensure(compiler.take(commit), VIEWS, head=True).manifest
                    contexts = load_views(manifest, VIEWS, repository=clone)
                except CodenibError as error:
                    yield from ((row, error.message) for row in here)
                    continue
                with contexts:
                    yield from ((row, contexts) for row in here)

    def _decided(self, row: LocalizeRow, contexts: Contexts | str, assignment: Assignment) -> Record:
        about: Record = {"row": row.id, "repo": row.cluster, "decision": assignment.kind}
        if isinstance(contexts, str):
            return {**about, "error": contexts}
        try:
            if assignment.kind == "router":
                return {**about, **_searched(row, contexts, assignment, self.reranker)}
            traces = self.run.folder / "traces"
            traces.mkdir(exist_ok=True)
            name = "".join(c if c.isalnum() or c in "-_." else "-" for c in assignment.key)
            return {**about, **self._agent_run(row, contexts, assignment, traces / f"{name}.jsonl")}
        except ModelError as error:
            return {**about, "error": error.message, "failed": "model"}
        except CodenibError as error:
            return {**about, "error": error.message}

    def _agent_run(self, row: LocalizeRow, contexts: Contexts, given: Assignment, file: Path) -> Record:
        policy = LearnedContext(given.model, explorer=lambda preferred, _: given.choose(preferred))
        with AgentRunTrace(file) as trace:
            result = query(
                row.query, contexts=contexts, provider=self.provider, policy=policy, skills=(), trace=trace
            )
        decision = next(each.data for each in result.trace.events if "choice" in each.data)
        spans = [SourceBlock(span.path, span.start_line, span.end_line) for span in result.located.spans]
        choice = decision["choice"]
        return {
            "action": choice["action"],
            "propensity": choice["propensity"],
            "default": choice["default"],
            "features": choice["features"],
            "model": choice["model"],
            "reward": answer_recall(spans, row.targets, ANSWERS),
            "cost": result.usage.total,
            "turns": result.turns,
            "trace": f"traces/{file.name}",
        }


def _searched(row: LocalizeRow, contexts: Contexts, given: Assignment, reranker: str | None) -> Record:
    """The search of a row by the chosen route, read by the reranker or not."""
    signals = read_signals(row.query)
    features = query_features(signals)
    asked = SearchRequest(row.query, k=K, reranker=reranker, snapshot=PUBLISHED)
    default = action_of(contexts.workspace.searcher.explain(asked).plan)
    if default not in ROUTER_ACTIONS:  # a structural question goes by the graph, whatever a model says
        default = RouterAction(Route.HYBRID, "learned", RERANK if reranker else 0).name
    allowed = router_actions(reads=reranker is not None)
    preferred = given.model.choose(features, allowed, default).action if given.model else default
    action, propensity = given.choose(preferred)
    route, fusion, cut = ROUTER_ACTIONS[action]
    request = SearchRequest(
        row.query,
        k=K,
        route=route.value,
        fusion=fusion or "auto",
        reranker=reranker if cut else None,
        cut=cut or None,
        snapshot=PUBLISHED,
    )
    answer, _ = _timed(contexts, request)
    times = [_timed(contexts, request)[1] for _ in range(_REPEATS)]
    blocks = [SourceBlock(each.path, each.start_line, each.end_line) for each in answer.items]
    return {
        "action": action,
        "propensity": propensity,
        "default": default,
        "features": features,
        "model": given.model.name if given.model else "",
        "reward": block_recall(blocks, row.targets, K),
        "file_recall": recall([each.path for each in answer.items], row.gold_files, K),
        "cost": round(1000 * min(times), 3),
    }


def _timed(contexts: Contexts, request: SearchRequest) -> tuple[Answer, float]:
    started = time.perf_counter()
    answer = contexts.workspace.searcher.search(request)
    return answer, time.perf_counter() - started


def _explore(preferred: str, *, actions: Sequence[str], share: float, draw: float) -> tuple[str, float]:
    return explore(preferred, actions, share, draw)


def _always(preferred: str, *, action: str) -> tuple[str, float]:
    return action, 1.0
