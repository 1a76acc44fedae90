"""Decisions that chance has a part in: taken and recorded as it says, and replayed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.core.errors import InputError
from codenib.planner.plan import router_actions
from codenib.runtime.context.exploration import Exploration, explore
from codenib.runtime.context.learned import ACTIONS
from codenib.runtime.context.messages import Message
from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.query import query
from codenib.runtime.traces.export_dataset import ExportOptions, read_runs
from codenib.runtime.traces.export_decisions import decision_rows
from codenib.runtime.traces.replay import open_snapshot_of, replay_trace
from codenib.runtime.traces.trace import AgentRunTrace, read_trace

ISSUE = "The price of parcels is wrong by one"


@pytest.fixture
def repo(git_repo: Callable[..., GitRepo]) -> GitRepo:
    made = git_repo("parcels")
    made.commit({f"parcels/part{n}.py": f"def price_{n}(x):\n    return x * {n}\n" for n in range(6)})
    return made


def agent(repo: GitRepo, policy: str, exploration: Exploration, file: Path | None = None) -> AgentRunTrace:
    provider = ScriptedProvider.of([Message("assistant", '{"summary": "s", "locations": []}')])
    with AgentRunTrace(file) as trace:
        query(
            ISSUE, repo_path=repo.path, provider=provider, policy=policy, skills=(), trace=trace,
            exploration=exploration,
        )  # fmt: skip
    return trace


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_exploration_takes_actions_as_often_as_it_says(share: float) -> None:
    taken = [explore("b", ("a", "b", "c"), share, draw) for draw in np.linspace(0, 0.9999, 3_000)]
    for action, chance in set(taken):
        assert sum(each == action for each, _ in taken) / len(taken) == pytest.approx(chance, abs=0.002)
    assert sum(chance for _, chance in set(taken)) == pytest.approx(1.0)


def test_a_run_records_both_choices_with_their_chances_and_its_searches_replay(
    repo: GitRepo, tmp_path: Path
) -> None:
    file = tmp_path / "run.jsonl"
    draws = iter((0.6, 0.9))  # the third of four routes, the last of five contexts
    agent(repo, "eager", Exploration(1.0, lambda: next(draws)), file)
    events = read_trace(file)
    found = next(event.data for event in events if event.kind == "candidates")
    route, plan = found["choice"], found["plan"]
    assert (route["action"], route["propensity"]) == (router_actions(reads=False)[2], 0.25)
    assert f"{plan['route']}:{plan['fusion']}" == route["action"] != route["default"]
    context = next(event.data["choice"] for event in events if event.kind == "decision")
    assert (context["action"], context["propensity"]) == (ACTIONS[-1], 0.2)
    with open_snapshot_of(events, str(repo.path)) as contexts:
        assert [step.same for step in replay_trace(events, contexts)] == [True]
    runs, _ = read_runs({str(file): events}, ExportOptions("routing"))
    row = next(decision_rows(runs[0], "routing"))
    assert (row.action, row.propensity, row.alternatives) == (
        route["action"],
        0.25,
        router_actions(reads=False),
    )


def test_a_small_share_mostly_keeps_to_the_rules(repo: GitRepo) -> None:
    trace = agent(repo, "learned", Exploration(0.2, lambda: 0.5))
    choices = [event.data["choice"] for event in trace.events if "choice" in event.data]
    assert [each["propensity"] for each in choices] == [
        pytest.approx(0.8 + 0.2 / len(each["alternatives"])) for each in choices
    ]
    assert all(each["action"] == each["default"] for each in choices)


def test_chance_stands_beside_the_rules_or_what_was_learned_alone(repo: GitRepo) -> None:
    with pytest.raises(InputError, match="eager or learned"):
        agent(repo, "compact", Exploration(0.5, Random(1).random))
    with pytest.raises(InputError, match="above 0"):
        Exploration(0.0)


def test_the_command_wants_a_trace_of_what_chance_decided(repo: GitRepo) -> None:
    words = ["-C", str(repo.path), "agent", "what is wrong", "--explore", "0.5"]
    done = CliRunner().invoke(cli, words)
    assert "worth its trace" in str(done.exception)
