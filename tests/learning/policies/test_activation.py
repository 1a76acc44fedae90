"""A policy is used where its user says so, only if it won, and is gone when it is dropped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.core.requests import SearchRequest
from codenib.learning.policies.activation import activate_policy, active_policies, drop_policy
from codenib.planner.model import ActionWeights, DecisionModel
from codenib.runtime.context.learned import ACTIONS
from codenib.runtime.context.messages import Message
from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.query import query
from codenib.serving.workspace import Workspace

ANSWER = '{"summary": "s", "locations": []}'


@pytest.fixture
def repo(git_repo: Callable[..., GitRepo]) -> GitRepo:
    made = git_repo("shop")
    made.commit({f"shop/part{n}.py": f"def price_{n}(x):\n    return x * {n}\n" for n in range(6)})
    return made


def write(folder: Path, kind: Any, best: str, actions: tuple[str, ...], **card: object) -> Path:
    weights = {action: ActionWeights((float(action == best), 0.0), (1.0, 0.0)) for action in actions}
    model = DecisionModel(
        kind=kind, features=("words",), means=(0.0,), scales=(1.0,), actions=weights, price=0.0, margin=0.0,
        card=card,
    )  # fmt: skip
    file = folder / f"{kind}.json"
    file.write_bytes(msgspec.json.encode(model))
    return file


def command(repo: GitRepo, *words: str | Path) -> Any:
    return CliRunner().invoke(cli, ["-C", str(repo.path), "policy", *map(str, words)])


def test_a_router_that_won_decides_until_it_is_dropped(repo: GitRepo, tmp_path: Path) -> None:
    file = write(tmp_path, "router", "lexical", ("lexical", "hybrid:weighted"), wins=True)
    with Workspace(repo.path) as workspace:
        workspace.index()
        asked = SearchRequest("where is the price")
        assert workspace.searcher.search(asked).plan.model == ""
        model = activate_policy(repo.path, file)
        plan = workspace.searcher.search(asked).plan
        assert (plan.route.value, plan.model, plan.decided_by) == ("lexical", model.name, ("words",))
        shown = json.loads(command(repo, "show", "--json").stdout)["items"]
        assert [(each["decision"], each["model"]) for each in shown] == [
            ("router", model.name),
            ("context", ""),
        ]
        assert drop_policy(repo.path, "router")
        assert workspace.searcher.search(asked).plan.model == ""
    assert not drop_policy(repo.path, "router")


def test_a_context_policy_decides_the_runs_that_ask_for_it(repo: GitRepo, tmp_path: Path) -> None:
    activate_policy(repo.path, write(tmp_path, "context", "eager:3", ACTIONS, wins=True))

    def candidates(policy: str) -> int:
        provider = ScriptedProvider.of([Message("assistant", ANSWER)])
        result = query("where is the price", repo_path=repo.path, provider=provider, policy=policy, skills=())
        prompt = next(e.data["text"] for e in result.trace.events if e.data.get("role") == "user")
        return str(prompt).count("\n## ")

    assert candidates("eager") == 6
    assert candidates("learned") == 3


@pytest.mark.parametrize(
    ("card", "why"),
    [({}, "did not win"), ({"wins": False}, "did not win"), ({"wins": True, "simulated": True}, "scripted")],
)  # fmt: skip
def test_what_did_not_win_is_refused(repo: GitRepo, tmp_path: Path, card: dict[str, bool], why: str) -> None:
    file = write(tmp_path, "context", "eager:3", ACTIONS, **card)
    done = command(repo, "use", file)
    assert done.exit_code != 0
    assert why in str(done.exception)
    assert [item.model for item in active_policies(repo.path)] == ["", ""]


def test_a_damaged_file_leaves_the_rules_and_is_named(repo: GitRepo, tmp_path: Path) -> None:
    activate_policy(
        repo.path, write(tmp_path, "router", "lexical", ("lexical", "hybrid:weighted"), wins=True)
    )
    with Workspace(repo.path) as workspace:
        workspace.index()
        folder = workspace.searcher.costs._path.parent
        (folder / "policies" / "router.json").write_text("{")
        assert workspace.searcher.search(SearchRequest("price")).plan.model == ""
    assert "is no policy" in next(iter(active_policies(repo.path))).problem
