"""Policies from a user's own recorded runs: learned where chance had a part, refused where a rule decided."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.core.errors import InputError
from codenib.evals.data.clones import Clones
from codenib.evals.data.rows import LocalizeRow
from codenib.evals.flywheel.collect import DECISIONS, Actions, Collector
from codenib.evals.flywheel.command import command
from codenib.evals.flywheel.offline import OfflineLearner, estimate, refusal
from codenib.evals.flywheel.offline_report import report_offline
from codenib.evals.flywheel.recorded import read_recorded
from codenib.evals.runs import Record, StudyRun
from codenib.evals.studies.context.agent import simulated_agent
from codenib.learning.policies.fit import PRICE, LoggedDecision, fit_policy
from codenib.planner.model import read_model
from codenib.runtime.context.exploration import Exploration
from codenib.runtime.context.learned import ACTIONS
from codenib.runtime.context.messages import Message, ToolSpec
from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.query import compile_views, query
from codenib.runtime.views import Contexts, load_views

TOPICS = tuple(
    f"{left}{right}" for left in ("cart", "mail", "tax") for right in ("store", "load", "sum", "key")
)
ISSUES = 100


class Helper(ScriptedProvider):
    """Stands for a real model: its runs are not marked as a script's."""

    name = "helper"


def answer(messages: Sequence[Message], tools: Sequence[ToolSpec], may_call: bool) -> Message:
    return Message("assistant", '{"summary": "s", "locations": []}')


@pytest.fixture
def shop(tmp_path: Path) -> GitRepo:
    """Twelve functions with bodies long enough that ten of them cost more tokens than three."""
    repo = GitRepo(tmp_path / "shop")
    body = "".join(f"    total = total + {n} * key  # step {n} of the sum of the price\n" for n in range(12))
    source = '"""All about {0}."""\n\n\ndef price_{0}(key):\n    total = 0\n{1}    return total\n'
    repo.commit({f"shop/{topic}.py": source.format(topic, body) for topic in TOPICS}, "the shop")
    return repo


def record(repo: GitRepo, folder: Path, count: int, *, explored: bool = True) -> Path:
    """Traces of runs, and their outcomes: tests pass with three candidates, with ten now and then.

    A script does the same for every customer, so a run for each action is made and written again with other
    numbers and times.
    """
    folder.mkdir()
    with load_views(compile_views(repo.path, set())) as contexts:
        made = [_run(contexts, (at + 0.5) / len(ACTIONS)) for at in range(len(ACTIONS))] if explored else []
        made = made or [_run(contexts, None)]
    random, lines = Random(5), []
    for number in range(count):
        trace, given = random.choice(made)
        when = f"2026-01-{1 + number // 24:02}T{number % 24:02}:00:00+00:00"
        text = trace.replace("customer 1000", f"customer {1000 + number}").replace("TIME", when)
        (folder / f"{number:03}.jsonl").write_text(text)
        place = {"path": f"shop/{TOPICS[0]}.py", "start_line": 4, "end_line": 8}
        passed = given == 3 or (given > 3 and number % 8 == 0)
        lines.append({"trace": f"{number:03}.jsonl", "tests_passed": passed, "answers": [place]})
    outcomes = folder / "outcomes.json"
    outcomes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return outcomes


def _run(contexts: Contexts, draw: float | None) -> tuple[str, int]:
    """A trace without its time, and how many candidates the first prompt had."""
    exploration = None if draw is None else Exploration(1.0, lambda: draw)
    result = query(
        f"The price of {TOPICS[0]} is wrong for customer 1000", contexts=contexts, skills=(),
        provider=Helper(answer), exploration=exploration,
    )  # fmt: skip
    events = result.trace.events
    prompt = next(str(each.data["text"]) for each in events if each.data.get("role") == "user")
    lines = "".join(msgspec.json.encode(each).decode() + "\n" for each in events)
    return lines.replace(events[0].data["started"], "TIME"), prompt.count("\n## ")


def flywheel(*words: str | Path) -> Any:
    return CliRunner().invoke(command, [*map(str, words), "--json"])


def test_runs_that_chance_had_a_part_in_teach_a_policy_that_is_measured_and_used(
    shop: GitRepo, tmp_path: Path
) -> None:
    outcomes = record(shop, tmp_path / "runs", ISSUES)
    given = ("--traces", tmp_path / "runs" / "*.jsonl", "--outcomes", outcomes, "--out", tmp_path / "run")
    found = json.loads(flywheel(*given, "--decision", "context").stdout)
    context = found["decisions"][0]
    assert (found["runs"], found["measure"], found["simulated"]) == (ISSUES, "tests_passed", False)
    assert (context["used"], context["later"], context["refused"]) == (ISSUES, 40, "")
    assert context["measured_by"] == "doubly robust estimate"
    assert context["gain"]["low"] > 0
    assert context["cost_ratio"]["high"] < 1
    file = tmp_path / "run" / "policies" / "context.json"
    card = read_model(file.read_bytes(), "context").card
    assert (card["data"], card["digest"], card["repositories"]) == (
        "recorded runs",
        found["digest"],
        {"shop": ISSUES},
    )
    assert card["wins"] is context["wins"] is True
    done = CliRunner().invoke(cli, ["-C", str(shop.path), "policy", "use", str(file)])
    assert "context: context@" in done.output
    assert "wins: `codenib policy use" in (tmp_path / "run" / "report.md").read_text()


def test_a_router_is_replayed_where_outcomes_name_functions(shop: GitRepo, tmp_path: Path) -> None:
    """Runs that a rule decided do as well: every route is run again on their snapshots.

    All but one row are there already, as after a kill.
    """
    outcomes = record(shop, tmp_path / "runs", 60, explored=False)
    recorded = read_recorded([str(tmp_path / "runs" / "*.jsonl")], str(outcomes))
    learned, later = recorded.rows([str(shop.path)])
    assert (len(learned), len(later)) == (36, 24)
    assert recorded.rows(["/elsewhere/other"]) == ([], [])
    run = StudyRun(tmp_path / "run", "flywheel", {})
    decisions: Actions = {"router": DECISIONS["router"]}
    for part, rows in (("learned", learned), ("later", later[:-1])):
        for row, action in product(rows, DECISIONS["router"]):
            run.add("decision", f"{part}|{row.id}|router|{action}", _decided(row, action))
    run.use_state(tmp_path / "state")
    clones = Clones(None, tmp_path / "clones")
    collector = Collector(run, clones, simulated_agent(), 1, decisions, note=lambda line: None)
    router = OfflineLearner(recorded, collector, [str(shop.path)], PRICE).learn(decisions)[0]
    assert router.measured is not None
    assert (router.measured.by, router.measured.n, router.used) == ("replay", 24, 60)
    assert (router.measured.changed, router.measured.wins) == (1.0, True)
    card = read_model((tmp_path / "run" / "policies" / "router.json").read_bytes(), "router").card
    assert (card["measured_by"], card["simulated"], card["runs"]) == ("replay", False, 60)


def _decided(row: LocalizeRow, action: str) -> Record:
    """Words alone give the same as the rules, at a fifth of the time."""
    return {
        "row": row.id, "repo": row.cluster, "decision": "router", "action": action, "propensity": 1.0,
        "default": "hybrid:weighted", "features": {"words": 2.0}, "model": "",
        "reward": 1.0 if action in ("lexical", "hybrid:weighted") else 0.5,
        "cost": 200.0 if action == "lexical" else 1000.0,
    }  # fmt: skip


def test_what_a_rule_decided_is_refused_whatever_it_gave(shop: GitRepo, tmp_path: Path) -> None:
    outcomes = record(shop, tmp_path / "runs", 4, explored=False)
    done = flywheel(
        "--traces", tmp_path / "runs" / "*.jsonl", "--outcomes", outcomes, "--out", tmp_path / "run"
    )
    assert isinstance(done.exception, InputError)
    for kind in ("router", "context"):
        assert f"{kind}: no run left this decision to chance (4 decided by a rule" in done.exception.message
    assert "nothing follows about the alternatives" in done.exception.message
    assert not (tmp_path / "run" / "policies").exists()


def test_a_script_in_the_place_of_a_model_is_no_evidence(shop: GitRepo, tmp_path: Path) -> None:
    outcomes, file = record(shop, tmp_path / "runs", 1), tmp_path / "runs" / "000.jsonl"
    assert not read_recorded([str(file)], str(outcomes)).simulated
    file.write_text(file.read_text().replace('"provider":"helper"', '"provider":"scripted"'))
    assert read_recorded([str(file)], str(outcomes)).simulated
    assert report_offline([], read_recorded([str(file)], str(outcomes)))[0].warning.startswith("SIMULATED")


def test_outcomes_are_needed_and_say_what_runs_are_judged_by(shop: GitRepo, tmp_path: Path) -> None:
    outcomes = record(shop, tmp_path / "runs", 1, explored=False)
    traces = ("--traces", tmp_path / "runs" / "*.jsonl", "--out", tmp_path / "run")
    assert "not in their traces" in str(flywheel(*traces).exception)
    judged = flywheel(*traces, "--outcomes", outcomes, "--measure", "patch_accepted")
    assert "says nothing about patch_accepted of 1 runs" in str(judged.exception)
    assert "no trace is" in str(flywheel("--traces", "none-*.jsonl", "--outcomes", outcomes).exception)
    assert "nothing to run on" in str(flywheel().exception)


ABC = ("a", "b", "c")


def log(count: int, share: float, seed: int, *, gain: float = 0.4) -> list[LoggedDecision]:
    """The rules take a; b gives more by `gain` at the same cost, c nothing."""
    random, rows = np.random.default_rng(seed), []
    for number in range(count):
        chances = [share / 3 + (1 - share) * (each == "a") for each in ABC]
        at = int(random.choice(3, p=chances))
        good = {"a": 0.4, "b": 0.4 + gain, "c": 0.0}[ABC[at]]
        reward = float(random.random() < good)
        rows.append(
            LoggedDecision(
                features={"words": float(random.normal())},
                default="a",
                action=ABC[at],
                propensity=chances[at],
                reward=reward,
                cost=10.0,
                cluster=f"issue {number}",
            )
        )
    return rows


def test_an_estimate_wins_where_there_is_a_gain_and_not_where_there_is_none() -> None:
    model = fit_policy("context", log(300, 0.6, 1), ABC).model
    measured = estimate(model, log(300, 0.6, 2), ABC, "tests_passed", 1)
    assert measured.wins
    assert measured.gain.low < 0.4 < measured.gain.high
    assert measured.ratio.value == pytest.approx(1.0)
    assert not estimate(model, log(300, 0.6, 2, gain=0.0), ABC, "tests_passed", 1).wins


def test_a_log_that_is_too_thin_is_refused() -> None:
    none: Counter[str] = Counter()
    assert refusal(log(100, 0.6, 1), log(60, 0.6, 2), none, 3) == ""
    assert "too few" in refusal(log(20, 0.6, 1), log(60, 0.6, 2), none, 3)
    assert "larger --explore" in refusal(log(100, 0.1, 1), log(60, 0.1, 2), none, 3)
