"""Training data: it keeps to its schema, loads as it is, holds no secret, and its traces replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest
from click.testing import CliRunner
from pyarrow import parquet
from tests.gitrepo import GitRepo
from tests.runtime.conftest import ANSWER, FILES, ISSUE, says

from codenib.adapters.cli.main import cli
from codenib.core.errors import InputError
from codenib.runtime.context.messages import Message
from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.query import query
from codenib.runtime.traces.export_dataset import ExportOptions, export_dataset, read_runs
from codenib.runtime.traces.export_outcomes import GivenOutcome, KnownAnswer, read_outcomes
from codenib.runtime.traces.export_rows import AIMS, FORMS
from codenib.runtime.traces.replay import open_snapshot_of, replay_trace
from codenib.runtime.traces.trace import Event, read_trace

TOKEN = "ghp_" + "a1" * 18
#: What tells a secret, and a text that must not come out.
PLANTED = [
    ("ghp_", "a1" * 18), ("github_pat_", "b2" * 30), ("glpat-", "c3" * 10), ("glrt-", "d4" * 10),
    ("AKIA", "E5" * 8), ("aws_secret_access_key = ", "f6" * 20), ("xoxb-", "1-g7" * 8),
    ("xapp-", "1-h8" * 10),
    ("sk-ant-", "i9" * 20), ("sk-proj-", "j1" * 24), ("sk-or-v1-", "a2" * 32), ("AIza", "k3" * 17 + "k"),
    ("npm_", "l4" * 18), ("pypi-", "m5" * 40), ("hf_", "no" * 17), ("sk_live_", "p6" * 12),
    ("sk_test_", "q7" * 12), ("gsk_", "r8" * 26), ("xai-", "s9" * 40), ("nvapi-", "t1" * 32),
    ("figd_", "u2" * 20), ("hvs.", "v3" * 14), ("dckr_pat_", "w4" * 13), ("glsa_", "x5" * 16 + "_0a1b2c3d"),
    ("postgres://app:", "y6" * 10 + "@db/shop"), ("Authorization: Bearer ", "z7" * 20),
    ("-----BEGIN PRIVATE KEY-----\n", "Q8" * 32 + "\n-----END PRIVATE KEY-----"),
]  # fmt: skip
MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any\nperson obtaining a copy\n"
LOOK = says("Look.", ("grep", {"pattern": "price"}), ("read", {"path": "shop/cart.py"}))
WRONG = says("Guess.", ("read", {"path": "shop/tax.py"}))
LAST = says(f"```json\n{ANSWER}\n```")
KNOWN = (KnownAnswer("shop/cart.py", 5, 6),)


@pytest.fixture
def shop(git_repo: Callable[..., GitRepo]) -> GitRepo:
    repository = git_repo("shop")
    secret = {"shop/settings.py": f'PRICE_TOKEN = "{TOKEN}"\n', "LICENSE": MIT}
    repository.commit({**FILES, **secret})
    return repository


def record(root: Path, *replies: Message, policy: str = "compact", issue: str = ISSUE) -> list[Event]:
    provider = ScriptedProvider.of(replies)
    return query(issue, repo_path=root, provider=provider, policy=policy, skills=[]).trace.events


def rows(folder: Path, form: str) -> list[dict[str, Any]]:
    files = sorted(folder.glob(f"{form}/*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_every_aim_keeps_to_its_schema_and_both_files_have_the_same_rows(
    shop: GitRepo, tmp_path: Path
) -> None:
    good, bad = record(shop.path, LOOK, LAST), record(shop.path, WRONG, LAST)
    right = GivenOutcome("good", tests_passed=True, answers=KNOWN)
    outcomes = {"good": right, "bad": GivenOutcome("bad", tests_passed=False), "other": GivenOutcome("other")}
    traces = {"good.jsonl": good, "bad.jsonl": bad, "copy.jsonl": good}
    for aim in AIMS:
        folder = tmp_path / aim
        card = export_dataset(traces, folder, ExportOptions(aim, outcomes, consent="The owner, 2026-11-16"))
        schema = json.loads((folder / "schema.json").read_text())
        for form in FORMS[aim]:
            written = rows(folder, form)
            assert len(written) == sum(card.rows[form].values()) > 0, (aim, form)
            for row in written:
                jsonschema.validate(row, {"$defs": schema["$defs"], **schema["properties"][form]})
            table = parquet.read_table(folder / form / "train.parquet").to_pylist()
            for row in table:  # Arrow's JSON, so that a message has the keys that it has in JSON Lines
                chats = ("prompt", "completion", "chosen", "rejected")
                row.update({name: [json.loads(each) for each in row[name]] for name in chats if name in row})
            assert [_plain(row) for row in table] == [_plain(row) for row in written]
        assert (card.runs, card.copies_dropped, card.licences, card.repositories) == (
            2, 1, {"MIT": 2}, {"shop": 2},
        )  # fmt: skip
        assert (card.with_outcome, card.outcomes_without_trace, card.masked_runs) == (2, 1, 0)
        page = (folder / "README.md").read_text()
        assert "The owner, 2026-11-16" in page and "MIT (2)" in page and f"path: {form}/train.parquet" in page
        assert msgspec.json.decode((folder / "card.json").read_bytes())["aim"] == aim
    _check_content(tmp_path)


def _check_content(folder: Path) -> None:
    """What the rows say of the two runs."""
    (pair,) = rows(folder / "tools", "pairs")
    assert pair["why"] == "better outcome"
    assert [pair["chosen"][0]["content"], pair["rejected"][0]["content"]] == ["Look.", "Guess."]
    call = pair["chosen"][0]["tool_calls"][1]["function"]
    assert (call["name"], call["arguments"]) == ("read", {"path": "shop/cart.py"})
    chosen = [row["chosen"][0]["content"] for row in rows(folder / "context", "pairs")]
    assert all(text.startswith("shop/cart.py:5-6 Cart.total_price\n```python\n") for text in chosen)
    assert "sum(item.price" in chosen[0]
    rewrites = rows(folder / "compaction", "decisions")
    assert {row["action"] for row in rewrites} == {"rewrite"}
    features = {each["name"]: each["value"] for each in rewrites[0]["features"]}
    assert features["compacted_tokens"] < features["tokens"] and features["inside"] == 1.0
    routes = rows(folder / "routing", "decisions")
    assert all(row["action"] in row["alternatives"] and row["propensity"] == 1.0 for row in routes)
    tool = rows(folder / "tools", "decisions")[0]
    assert tool["costs"]["tokens"] > 0 and tool["costs"]["tokens_to_end"] > tool["costs"]["tokens"]
    assert {row["outcome"]["recall"] for row in rows(folder / "tools", "messages")} == {1.0, None}


def _plain(value: object) -> object:
    """Without what is null."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def test_secrets_are_masked_and_an_exported_trace_replays_to_the_same_evidence(
    shop: GitRepo, tmp_path: Path
) -> None:
    events = record(shop.path, LOOK, says("", ("read", {"path": "shop/settings.py"})), LAST, policy="eager")
    planted = Event(len(events), events[-1].at, "warning", {"text": f"{TOKEN} was refused"})
    card = export_dataset({"a": [*events, planted]}, tmp_path / "out", ExportOptions("tools", parquet=False))
    assert card.masked_runs == 1
    texts = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not any(TOKEN in text for text in texts)
    (file,) = (tmp_path / "out" / "traces").iterdir()
    exported = read_trace(file)
    shop.commit({"shop/cart.py": "# another snapshot\n"})
    with open_snapshot_of(exported, str(shop.path)) as contexts:
        steps = replay_trace(exported, contexts)
    assert [(step.what, step.same) for step in steps] == [
        ("candidates", True), ("grep", True), ("read", True), ("read", True),
    ]  # fmt: skip
    changed = [
        msgspec.structs.replace(event, data={**event.data, "text": "1 other text"})
        if event.kind == "message" and event.data["role"] == "tool"
        else event
        for event in exported
    ]
    with open_snapshot_of(exported, str(shop.path)) as contexts:
        assert [step.same for step in replay_trace(changed, contexts)] == [True, False, False, False]


def test_no_secret_that_a_run_came_upon_is_in_any_file_of_any_aim(shop: GitRepo, tmp_path: Path) -> None:
    """Planted in the issue, in a call's arguments, in what tools and the model said, and in an event."""
    told = "\n".join(f"{begin}{secret}" for begin, secret in PLANTED)
    reply = says(f"I saw {told}", ("grep", {"pattern": told}), ("read", {"path": "shop/cart.py"}))
    events = record(shop.path, reply, LAST, issue=f"{ISSUE}\n\n{told}")
    events += [Event(len(events), events[-1].at, "warning", {"text": told})]
    for aim in AIMS:
        export_dataset({"a": events}, tmp_path / "data" / aim, ExportOptions(aim))
    written = b"\n".join(path.read_bytes() for path in (tmp_path / "data").rglob("*.*") if path.is_file())
    come_out = [begin for begin, secret in PLANTED if secret.split("@")[0].split("\n")[0].encode() in written]
    assert come_out == []
    assert b"[masked]" in written


def test_without_source_no_line_of_the_repository_is_exported(shop: GitRepo, tmp_path: Path) -> None:
    events = record(shop.path, LOOK, LAST)
    for aim in AIMS:
        out = tmp_path / "out" / aim
        export_dataset({"a": events}, out, ExportOptions(aim, source=False, parquet=False))
    texts = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not any("self.items.append" in text or "sum(item.price" in text for text in texts)
    assert any("shop/cart.py" in text for text in texts)


def test_what_a_killed_export_left_is_no_part_of_the_next(shop: GitRepo, tmp_path: Path) -> None:
    events = record(shop.path, LOOK, LAST)
    left = tmp_path / ".out.part" / "messages" / "left.jsonl"
    left.parent.mkdir(parents=True)
    left.write_text("{}")
    export_dataset({"a": events}, tmp_path / "out", ExportOptions("tools", parquet=False))
    assert not left.parent.parent.exists()
    assert (tmp_path / "out" / "README.md").is_file()
    assert not list((tmp_path / "out").rglob("left.jsonl"))


def test_the_command_writes_a_folder_and_replays_a_trace(shop: GitRepo, tmp_path: Path) -> None:
    file, outcomes, out = tmp_path / "run.jsonl", tmp_path / "outcomes.jsonl", tmp_path / "data"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, record(shop.path, LOOK, LAST))) + b"\n")
    outcomes.write_text('{"trace": "run.jsonl", "patch_accepted": true}\n')
    words = ["trace", "export", str(file), "--for", "tools", "--outcomes", str(outcomes), "--out", str(out)]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert "messages: 2 train, 0 validation, 0 test" in done.stdout
    with pytest.raises(InputError, match="not empty"):
        CliRunner().invoke(cli, words, catch_exceptions=False)
    done = CliRunner().invoke(
        cli, ["-C", str(shop.path), "trace", "replay", str(file), "--json"], catch_exceptions=False
    )
    assert [item["same"] for item in json.loads(done.stdout)["items"]] == [True, True, True]


def test_a_wrong_outcome_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.jsonl"
    file.write_text('{"trace": "a"}\n{"trace": "b", "passed": true}\n')
    with pytest.raises(InputError, match=r"outcomes\.jsonl:2"):
        read_outcomes(file)
    file.write_text('{"trace": "a"}\n{"trace": "a"}\n')
    with pytest.raises(InputError, match="already"):
        read_outcomes(file)


def test_outcomes_of_other_runs_and_of_several_are_refused(shop: GitRepo) -> None:
    traces = {
        "one/run.jsonl": record(shop.path, LOOK, LAST),
        "two/run.jsonl": record(shop.path, WRONG, LAST),
    }
    nobody = {"typo.jsonl": GivenOutcome("typo.jsonl", tests_passed=True)}
    with pytest.raises(InputError, match=r"no outcome is of these runs: the first names typo\.jsonl"):
        read_runs(traces, ExportOptions("tools", nobody))
    both = {"run.jsonl": GivenOutcome("run.jsonl", tests_passed=True)}
    with pytest.raises(InputError, match=r"could be that of .*/run\.jsonl or .*/run\.jsonl"):
        read_runs(traces, ExportOptions("tools", both))
