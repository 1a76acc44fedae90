"""`agent` and `trace` as a user and a script see them, with a model on a real local server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from tests.gitrepo import GitRepo
from tests.runtime.conftest import ANSWER, FILES, ISSUE
from tests.runtime.modelserver import Call, Says, Turn, serving

from codenib.adapters.cli.main import cli
from codenib.adapters.envelopes.runs import AgentReply, TraceReply
from codenib.core.errors import CodenibError, InputError

KEY = "sk-test-0123456789-secret"
SCRIPT = (
    Says("The cart sums prices.", [Call("grep", {"pattern": "total_price"})], 300, 20, 100),
    Says("", [Call("read", {"path": "shop/cart.py"})], 400, 15, 300),
    Says(ANSWER, prompt=250, completion=40),
)

Run = Callable[..., Result]


@pytest.fixture
def run(git_repo: Callable[..., GitRepo], monkeypatch: pytest.MonkeyPatch) -> Run:
    repository = git_repo("project")
    repository.commit(FILES)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("CODENIB_MODEL", raising=False)

    def run(*args: str, script: tuple[Turn, ...] = SCRIPT, which: str = "openai", given: str = "") -> Result:
        with serving(*script) as server:
            command = ["-C", str(repository.path), *args]
            if args[0] == "agent":
                command += ["--base-url", server.base_url(which)]
            return CliRunner().invoke(cli, command, input=given)

    return run


@pytest.mark.parametrize("which", ["openai", "anthropic"])
def test_agent_prints_the_answer_its_places_tokens_and_cost(run: Run, which: str) -> None:
    args = ("agent", ISSUE, "--policy", "compact", "--model", f"{which}:test", "--price", "1,10")
    done = run(*args, which=which)
    assert done.exit_code == 0
    assert done.stdout == ("total_price must multiply by count\n  shop/cart.py:5-6  Cart.total_price\n")
    prompt = 950 if which == "openai" else 950 + 400
    assert (
        f"3 turns, {prompt + 75:,} tokens ({prompt:,} prompt, 400 of it cached; 75 completion)" in done.stderr
    )
    assert f"${(prompt + 750) / 1e6:.4f}" in done.stderr
    assert "The cart sums prices." in done.stderr
    assert '→ read {"path":"shop/cart.py"}' in done.stderr
    assert "history rewritten" in done.stderr
    assert KEY not in done.output


def test_what_chance_decided_is_in_the_trace_with_its_probability(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    done = run("agent", ISSUE, "--model", "test", "--explore", "0.5", "--trace", str(file))
    assert done.exit_code == 0
    events = [json.loads(line)["data"] for line in file.read_text().splitlines()]
    chances = [each["choice"]["propensity"] for each in events if "choice" in each]
    assert chances[0] in (0.125, 0.625)  # four routes, five contexts
    assert chances[1] in (0.1, 0.6)


def test_agent_json_has_the_documented_shape(run: Run) -> None:
    done = run("agent", ISSUE, "--model", "test", "--json")
    answer = json.loads(done.stdout)
    msgspec.convert(answer, AgentReply)
    assert list(answer["usage"]) == [
        "prompt", "completion", "cached", "written", "invocations", "answer_format", "unreported", "seconds",
        "cost",
    ]  # fmt: skip
    assert answer["items"][0]["path"] == "shop/cart.py"
    assert done.stderr == ""


def test_an_issue_may_come_from_a_file_or_standard_input(run: Run, tmp_path: Path) -> None:
    (tmp_path / "issue.md").write_text(ISSUE)
    assert run("agent", "--file", str(tmp_path / "issue.md"), "--model", "test").exit_code == 0
    assert run("agent", "--file", "-", "--model", "test", "--no-stream", given=ISSUE).exit_code == 0


def test_what_the_snapshot_does_not_have_is_said(run: Run) -> None:
    answer = ANSWER.replace("shop/cart.py", "shop/basket.py")
    done = run("agent", ISSUE, "--model", "test", "--skills", "none", script=(Says(answer),))
    assert "not usable: shop/basket.py: shop/basket.py is not a file of this snapshot" in done.stdout
    silent = run("agent", ISSUE, "--model", "test", script=(Says("Hm."), Says("Hm."), Says("Hm.")))
    assert "No answer" in silent.stdout
    assert "2 answer-format calls" in silent.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("agent", "--model", "test"),
        ("agent", ISSUE, "--file", "-", "--model", "test"),
        ("agent", ISSUE, "--model", "test", "--turns", "0"),
        ("agent", ISSUE, "--model", "test", "--price", "cheap"),
        ("agent", ISSUE, "--model", "test", "--skills", "flying"),
        ("agent", ISSUE),
        ("trace", "show", "no-such-file"),
    ],
)
def test_what_cannot_be_done_is_an_input_error_with_a_hint(run: Run, args: tuple[str, ...]) -> None:
    error = run(*args).exception
    assert isinstance(error, InputError)
    assert error.hint


def test_a_trace_is_shown_as_a_person_reads_it(run: Run, tmp_path: Path) -> None:
    file = str(tmp_path / "run.jsonl")
    assert run("agent", ISSUE, "--policy", "compact", "--model", "test", "--trace", file).exit_code == 0
    assert KEY not in Path(file).read_text()
    shown = run("trace", "show", file).stdout
    for line in (
        "openai:test, policy compact, snapshot ",
        "tools: grep, read, list, search",
        '  → grep(pattern="total_price")',
        "grep: 2 in all by trigram",
        "    shop/cart.py:5: def total_price(self):",
        "rewrite: yes (first successful read)",
        "— invocation 3 (turn, 2 messages)",
        "answer: total_price must multiply by count",
        "answered after 3 turns: 1,025 tokens in 3 invocations",
    ):
        assert line in shown
    assert "You find the places" not in shown
    assert "You find the places" in run("trace", "show", file, "--full").stdout
    told = json.loads(run("trace", "show", file, "--json").stdout)
    msgspec.convert(told, TraceReply)
    assert (told["usage"]["prompt"], len(told["invocations"])) == (950, 3)


def test_a_trace_becomes_training_rows(run: Run, tmp_path: Path) -> None:
    file, out = str(tmp_path / "run.jsonl"), tmp_path / "rows.jsonl"
    run("agent", ISSUE, "--model", "test", "--trace", file)
    rows = [json.loads(line) for line in run("trace", "export", file).stdout.splitlines()]
    assert [row["about"]["invocation"] for row in rows] == [1, 2, 3]
    done = run(
        "trace", "export", file, file, "--format", "openai", "--no-source", "--out", str(out), "--json"
    )
    assert json.loads(done.stdout)["items"] == [{"file": str(out), "rows": 2, "traces": 2}]
    text = out.read_text()
    assert "[source removed]" in text
    assert "sum(item.price" not in text


def test_only_answered_runs_may_be_exported(run: Run, tmp_path: Path) -> None:
    file = str(tmp_path / "run.jsonl")
    run("agent", ISSUE, "--model", "test", "--trace", file, script=(Says("Hm."),) * 3)
    assert run("trace", "export", file, "--answered-only").stdout == ""
    assert run("trace", "export", file).stdout.count("\n") == 3


def test_a_model_that_fails_is_a_provider_error_and_the_trace_says_so(run: Run, tmp_path: Path) -> None:
    from tests.runtime.modelserver import Fails

    file = str(tmp_path / "run.jsonl")
    done = run("agent", ISSUE, "--model", "test", "--trace", file, script=(Fails(401, f"bad {KEY}"),))
    assert isinstance(done.exception, CodenibError)
    assert (done.exception.exit_code, done.exception.hint) == (4, "export OPENAI_API_KEY=…")
    assert "ModelError: openai answered 401: bad [key removed]" in run("trace", "show", file).stdout
