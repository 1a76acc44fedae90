"""The whole loop on a small repository of its own fixes, with a scripted agent; and going on after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo
from tests.runtime.modelserver import Call, Fails, Says, serving
from tests.serving.search.rerankers.tiny import write_cross_encoder

from codenib.adapters.cli.main import cli
from codenib.core.errors import InputError, ProviderError
from codenib.evals.data.rows import LocalizeRow
from codenib.evals.flywheel.collect import DECISIONS
from codenib.evals.flywheel.command import command
from codenib.evals.flywheel.replay import Situation, replay
from codenib.evals.flywheel.rows import split_rows
from codenib.planner.model import ActionWeights, DecisionModel, ModelKind, read_model
from codenib.planner.plan import router_actions
from codenib.runtime.traces.export_rows import AIMS
from codenib.runtime.traces.trace import read_trace

TOPICS = ("cart", "mail", "storage", "tax", "stock")


@pytest.fixture
def fixes(tmp_path: Path) -> GitRepo:
    """Five modules, and ten commits that each fix one function with a message that names its topic."""
    repo = GitRepo(tmp_path / "shop")

    def source(topic: str, number: int) -> str:
        return (
            f'"""All about {topic}."""\n\n\ndef load_{topic}(key):\n    """Load the {topic}."""\n'
            f"    return key + {number}\n\n\ndef save_{topic}(key):\n    return key\n"
        )

    repo.commit({f"shop/{topic}.py": source(topic, 0) for topic in TOPICS}, "the shop")
    for number in range(1, 11):
        topic = TOPICS[number % 5]
        repo.commit(
            {f"shop/{topic}.py": source(topic, number)},
            f"Fix load_{topic} when the {topic} is empty\n\nThe key of the {topic} was wrong by one, see "
            f"load_{topic}.",
        )
    return repo


def flywheel(*words: str | Path) -> dict[str, Any]:
    done = CliRunner().invoke(command, [*map(str, words), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_loop_runs_offline_and_a_killed_one_goes_on(
    fixes: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    monkeypatch.chdir(fixes.path.parent)
    given = ("--repos", fixes.path.name, "--rounds", "2", "--per-repo", "10", "--out", out)
    first = flywheel(*given)
    assert (first["rows"], first["replayed"], first["failed"]) == (6, 4, 0)
    assert first["warning"].startswith("SIMULATED")
    assert [(each["decision"], each["round"]) for each in first["rounds"]] == [
        (kind, number) for kind in DECISIONS for number in (0, 1, 2)
    ]
    assert first["wins"] == {"router": False, "context": False}  # six decisions are too few
    lines = (out / "records.jsonl").read_text().splitlines()
    assert len(lines) == 6 * 2 + 4 * (len(DECISIONS["router"]) + len(DECISIONS["context"]))
    exported = [json.loads(line) for line in (out / "export" / "round-2.jsonl").read_text().splitlines()]
    assert {each["decision"] for each in exported} == set(DECISIONS)
    assert all(0 < each["propensity"] <= 1 and each["action"] in each["alternatives"] for each in exported)
    traced = next(each for each in exported if each["trace"])
    choice = next(each.data["choice"] for each in read_trace(out / traced["trace"]) if "choice" in each.data)
    assert (choice["action"], choice["propensity"]) == (traced["action"], traced["propensity"])
    _check_same_as_command(out, tmp_path / "by-hand")
    assert read_model((out / "policies" / "router.json").read_bytes(), "router").card["wins"] is False
    report = (out / "report.md").read_text()
    assert "does not win on the replay" in report
    assert str(tmp_path) not in report
    assert (out / "figures" / "rounds.svg").exists()

    kept = lines[: len(lines) // 2]
    (out / "records.jsonl").write_text("\n".join([*kept, lines[-1][:20]]))
    again = flywheel(*given)
    assert (out / "records.jsonl").read_text().splitlines()[: len(kept)] == kept
    assert [each["reward"] for each in again["rounds"]] == [each["reward"] for each in first["rounds"]]


def _files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def _check_same_as_command(out: Path, folder: Path) -> None:
    """A round's training data is what `codenib trace export` writes of its traces."""
    exported = [json.loads(line) for line in (out / "export" / "round-2.jsonl").read_text().splitlines()]
    files = [str(out / each["trace"]) for each in exported if each["trace"]]
    outcomes = str(out / "export" / "round-2" / "outcomes.jsonl")
    for aim in AIMS:
        words = ["trace", "export", *files, "--for", aim, "--outcomes", outcomes, "--out", str(folder / aim)]
        CliRunner().invoke(cli, words, catch_exceptions=False)
        assert _files(folder / aim) == _files(out / "export" / "round-2" / aim) != {}
    card = json.loads((folder / "context" / "card.json").read_text())
    assert card["with_outcome"] == card["runs"] == len(files)


def test_with_a_reader_the_router_also_learns_whether_it_reads(fixes: GitRepo, tmp_path: Path) -> None:
    spec, out = f"onnx:{write_cross_encoder(tmp_path / 'model')}", tmp_path / "run"
    found = flywheel(
        "--repos", fixes.path, "--rounds", "1", "--per-repo", "5", "--out", out, "--decision", "router",
        "--rerank", spec,
    )  # fmt: skip
    assert found["failed"] == 0
    records = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    every = router_actions(reads=True)
    replayed = [each for each in records if each["key"].startswith("replay|")]
    assert {each["action"] for each in replayed} == set(every)
    assert {each["default"] for each in records} == {"hybrid:learned+read30"}
    exported = [json.loads(line) for line in (out / "export" / "round-1.jsonl").read_text().splitlines()]
    assert {tuple(each["alternatives"]) for each in exported} == {every}
    assert read_model((out / "policies" / "router.json").read_bytes(), "router").card["reranker"] == spec


def test_a_model_behind_an_endpoint_is_asked_and_its_runs_are_exported(
    fixes: GitRepo, tmp_path: Path
) -> None:
    """A real HTTP server plays a model that greps once and answers."""
    place = {"path": "shop/cart.py", "start_line": 4, "end_line": 6}
    answer = json.dumps({"summary": "There.", "locations": [place]})
    script = [Says(calls=(Call("grep", {"pattern": "load_cart"}),)), Says(answer)]
    runs = 4 + 2 * len(DECISIONS["context"])
    with serving(*script * runs) as server:
        found = flywheel(
            "--repos", fixes.path, "--rounds", "2", "--per-repo", "6", "--out", tmp_path / "run",
            "--decision", "context", "--provider", "openai:m", "--base-url", server.base_url("openai"),
        )  # fmt: skip
    assert not server.script, "every turn was asked for"
    assert (found["failed"], found.get("warning")) == (0, None)
    rows = [
        json.loads(line)
        for file in (tmp_path / "run" / "export").glob("round-*/tools/messages/*.jsonl")
        for line in file.read_text().splitlines()
    ]
    assert {each["about"]["provider"] for each in rows} == {"openai"}
    assert any(each["completion"][0].get("tool_calls") for each in rows)


def test_a_model_that_fails_ends_the_run_and_what_failed_is_tried_again(
    fixes: GitRepo, tmp_path: Path
) -> None:
    place = {"path": "shop/cart.py", "start_line": 4, "end_line": 6}
    says = Says(json.dumps({"summary": "There.", "locations": [place]}))
    run = [
        "--repos", str(fixes.path), "--rounds", "1", "--per-repo", "6", "--out", str(tmp_path / "run"),
        "--decision", "context", "--provider", "openai:m",
    ]  # fmt: skip
    asked = 4 + 2 * len(DECISIONS["context"])
    with serving(says, *[Fails(401, "no such key")] * asked) as server:
        with pytest.raises(ProviderError, match="failed 3 times in a row: openai answered 401") as failed:
            command.main([*run, "--base-url", server.base_url("openai")], standalone_mode=False)
        assert len(server.requests) == 4
    assert "the same command goes on" in failed.value.hint
    with serving(*[says] * (asked - 1)) as server:
        found = flywheel(*run, "--base-url", server.base_url("openai"))
    assert not server.script, "what succeeded before is not asked again"
    assert found["failed"] == 0


def test_rounds_follow_time_and_the_replay_is_the_latest_part_or_other_repositories() -> None:
    rows = [LocalizeRow(f"{repo}{n}", repo, "c", "q", ("f",)) for repo in ("a/x", "b/y") for n in range(10)]
    split = split_rows(rows, 2)
    assert [row.id for row in split.rounds[0]] == ["a/x0", "a/x1", "a/x2", "b/y0", "b/y1", "b/y2"]
    assert [row.id for row in split.replay if row.repo == "a/x"] == ["a/x6", "a/x7", "a/x8", "a/x9"]
    apart = split_rows(rows, 1, ["b/Y"])
    assert {row.repo for row in apart.rounds[0]} == {"a/x"}
    assert {row.repo for row in apart.replay} == {"b/y"}
    with pytest.raises(InputError, match="too few"):
        split_rows(rows[:1], 1)


def test_a_policy_wins_only_by_both_intervals() -> None:
    kind: ModelKind = "router"
    actions = DECISIONS[kind]

    def situations(gain: float) -> list[Situation]:
        return [
            Situation(
                str(n), f"r{n % 6}", {"words": 1.0}, "hybrid:learned",
                {action: 0.5 + gain * (action == "lexical") for action in actions},
                {action: 5.0 if action == "lexical" else 20.0 for action in actions},
            )
            for n in range(30)
        ]  # fmt: skip

    weights = {a: ActionWeights((float(a == "lexical"), 0.0), (1.0, 0.0)) for a in actions}
    model = DecisionModel(
        kind=kind, features=("words",), means=(0.0,), scales=(1.0,), actions=weights, price=0.0, margin=0.0
    )
    cheaper = replay(model, situations(0.0), 1)
    assert cheaper.wins
    assert (cheaper.ratio.value, cheaper.changed) == (0.25, 1.0)
    assert not replay(model, situations(-0.1), 1).wins
    never = msgspec.structs.replace(model, margin=9.0)
    assert not replay(never, situations(0.0), 1).wins
    assert not replay(None, situations(0.0), 1).wins
