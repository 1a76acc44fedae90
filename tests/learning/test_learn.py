"""`codenib learn`: what is better on unseen fixes is used, else nothing changes; no future is known."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo
from tests.learning.fixrepo import SYMPTOMS, make_fix_repository, message, module

from codenib.adapters.cli.main import cli
from codenib.adapters.envelopes.learning import learn_reply
from codenib.adapters.mcp.server_context import ServerContext
from codenib.learning.learn import learn
from codenib.serving.installation import collect_garbage
from codenib.serving.search.learned.repository import decode_learned
from codenib.serving.workspace import Workspace
from codenib.snapshot.history import leads_to
from codenib.snapshot.repository import locate

NUMBER = 7
ISSUE = (
    f"{SYMPTOMS[NUMBER]} while a value is handled\n"
    f"The value was handled twice when {SYMPTOMS[NUMBER]} came again."
)


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    make_fix_repository(tmp_path / "shop")
    return GitRepo(tmp_path / "shop")


def _first(workspace: Workspace, **asked: object) -> str:
    return workspace.search(ISSUE, level="file", **asked).items[0].path  # type: ignore[arg-type]


def test_what_is_better_on_unseen_fixes_is_used_and_can_be_left_out_and_forgotten(
    repository: GitRepo,
) -> None:
    old = repository.git("rev-parse", "HEAD~30")
    with Workspace(repository.path) as workspace:
        before = [item.path for item in workspace.search(ISSUE, level="file")]
        report = learn(workspace)
        assert report.artifact
        assert report.fit_rows + report.test_rows == 110
        chosen = next(each for each in report.components if each.is_chosen)
        assert chosen.comparison.both.low > 0
        answer = workspace.search(ISSUE, level="file")
        assert answer.items[0].path == f"part_{NUMBER}.py"
        assert f"learnt at {repository.head()[:10]}" in answer.plan.reason
        without = workspace.search(ISSUE, level="file", learned=False)
        assert [item.path for item in without] == before
        assert before[0] != f"part_{NUMBER}.py"
        assert "learnt" not in without.plan.reason
        with closing(ServerContext(repository.path, learned=False)) as server, server.workspace() as lent:
            assert [item.path for item in lent.search(ISSUE, level="file")] == before, "serve --no-learned"
        # An earlier snapshot must not know it, a later one may.
        assert "learnt" not in workspace.search(ISSUE, at=old).plan.reason
        repository.commit({"more.py": "x = 1\n"}, "More")
        assert "learnt" in workspace.search(ISSUE).plan.reason
        (status,) = workspace.status().learned
        assert (status.artifact, status.applies, status.rows) == (report.artifact, True, 110)
        shown = CliRunner().invoke(cli, ["-C", str(repository.path), "status"], catch_exceptions=False)
        assert f"learned  used   at {report.commit[:10]} from 110 fixes" in shown.output
        # Weights that count only for an order that is unsure leave one alone that is not.
        stored = Path(workspace.status().store) / "learned" / f"{report.artifact}.json"
        only_unsure = msgspec.structs.replace(decode_learned(stored.read_bytes()), unsure=1.0)
        assert workspace.maintenance.forget_learned() == 1
        workspace.maintenance.store_learned(msgspec.json.encode(only_unsure))
        assert [item.path for item in workspace.search(ISSUE, level="file")] == [
            item.path for item in workspace.search(ISSUE, level="file", learned=False)
        ]
        assert workspace.maintenance.forget_learned() == 1
        assert workspace.status().learned == ()
        assert [item.path for item in workspace.search(ISSUE, level="file", learned=False)][:1] == before[:1]


def test_it_is_measured_over_the_views_that_searches_use_though_none_is_built_yet(
    repository: GitRepo,
) -> None:
    with Workspace(repository.path) as workspace:
        first = learn(workspace, dry_run=True)
        workspace.index()
        again = learn(workspace, dry_run=True)
    assert again.components == first.components
    assert again.shipped == first.shipped


def test_shuffled_labels_teach_nothing(tmp_path: Path) -> None:
    make_fix_repository(tmp_path / "noise", shuffled=True)
    with Workspace(tmp_path / "noise") as workspace:
        report = learn(workspace)
        assert report.artifact == ""
        assert report.verdict.startswith("nothing changed")
        assert workspace.status().learned == ()


def test_what_gains_as_much_with_shuffled_messages_is_not_used(tmp_path: Path) -> None:
    make_fix_repository(tmp_path / "habit", shuffled=True, often=4)
    with Workspace(tmp_path / "habit") as workspace:
        report = learn(workspace)
    (chosen,) = (each for each in report.components if each.is_chosen)
    assert chosen.comparison.is_better, "it knows which files change often"
    assert chosen.over_shuffled.low < 0
    assert report.verdict == "nothing changed: what was chosen is no better than with shuffled messages"
    assert report.artifact == ""
    assert [item.better for item in learn_reply(report).items if item.chosen] == [False]


def test_a_future_commit_changes_nothing_that_is_learnt_before_it(repository: GitRepo) -> None:
    old = repository.head()
    with Workspace(repository.path) as workspace:
        report = learn(workspace, at=old)
        assert report.artifact
        workspace.maintenance.forget_learned()
        # What would move the symptom elsewhere, were it known.
        for edition in range(5):
            repository.commit({"part_3.py": module(3, 900 + edition)}, message(SYMPTOMS[NUMBER]))
        again = learn(workspace, at=old)
        assert again.artifact == report.artifact, "named by its content"
        assert _first(workspace, at=old) == f"part_{NUMBER}.py"


def test_what_another_version_learnt_is_named_and_not_used(repository: GitRepo) -> None:
    with Workspace(repository.path) as workspace:
        report = learn(workspace)
        stored = Path(workspace.status().store) / "learned" / f"{report.artifact}.json"
        older = msgspec.structs.replace(decode_learned(stored.read_bytes()), format=1)
        workspace.maintenance.forget_learned()
        workspace.maintenance.store_learned(msgspec.json.encode(older))
        assert "learnt" not in workspace.search(ISSUE).plan.reason
        (status,) = workspace.status().learned
        assert status.error == "what was learnt is of another version"


def test_gc_keeps_what_is_whole_and_drops_what_is_damaged(repository: GitRepo) -> None:
    with Workspace(repository.path) as workspace:
        report = learn(workspace)
        path = Path(workspace.status().store) / "learned" / f"{report.artifact}.json"
        collect_garbage(keep=1)
        assert path.is_file()
        path.write_bytes(path.read_bytes()[:-1])
    with Workspace(repository.path) as workspace:
        assert "damaged" in workspace.status().learned[0].error
        assert "learnt" not in workspace.search(ISSUE).plan.reason
    assert collect_garbage(keep=1).artifacts >= 1
    assert not path.exists()


def test_what_was_learnt_too_many_commits_ago_leads_nowhere(repository: GitRepo) -> None:
    located, head = locate(repository.path), repository.head()
    assert leads_to(located, repository.git("rev-parse", "HEAD~2"), head, most=2)
    assert not leads_to(located, repository.git("rev-parse", "HEAD~3"), head, most=2)
    assert not leads_to(located, head, repository.git("rev-parse", "HEAD~1"), most=2)


def test_few_fixes_are_too_few(tmp_path: Path) -> None:
    make_fix_repository(tmp_path / "young", commits=5)
    result = CliRunner().invoke(cli, ["-C", str(tmp_path / "young"), "learn"], catch_exceptions=False)
    assert "nothing changed: 5 commits ask and answer a question, 60 are needed" in result.output


@pytest.mark.parametrize(
    ("foreign", "matching"),
    [
        (range(111), "0 earlier and 0 later of 110"),
        (range(78, 111), "77 earlier and 0 later of 110"),
        (range(78), "0 earlier and 33 later of 110"),
    ],
)
def test_messages_without_a_word_of_the_code_test_nothing(
    tmp_path: Path, foreign: range, matching: str
) -> None:
    make_fix_repository(tmp_path / "foreign", foreign=foreign)
    result = CliRunner().invoke(cli, ["-C", str(tmp_path / "foreign"), "learn"], catch_exceptions=False)
    assert result.exit_code == 0
    assert f"nothing changed: {matching} questions have words that are in the code" in result.output
    assert "gain in points" not in result.output


def test_what_decides_and_what_is_still_used_is_told(repository: GitRepo) -> None:
    with Workspace(repository.path) as workspace:
        learnt = learn(workspace)
    repository.commit({"more.py": "x = 1\n"}, "More")
    again = ["-C", str(repository.path), "learn", "--dry-run"]
    result = CliRunner().invoke(cli, again, catch_exceptions=False)
    assert f"what was learnt at {learnt.commit[:10]} is still used" in result.output
    assert "mean of both" in result.output
    assert "it is unsure of 33 of these questions: only they can change" in result.output
    reply = msgspec.json.decode(CliRunner().invoke(cli, [*again, "--json"]).stdout)
    assert (reply["earlier"], reply["unsure_rows"], reply["test_rows"]) == (learnt.commit, 33, 33)


def test_too_few_fixes_leave_what_was_not_tested_unknown(tmp_path: Path) -> None:
    make_fix_repository(tmp_path / "young", commits=5)
    result = CliRunner().invoke(
        cli, ["-C", str(tmp_path / "young"), "learn", "--json"], catch_exceptions=False
    )
    reply = msgspec.json.decode(result.stdout)
    assert (reply["fixes"], reply["fit_rows"], reply["test_rows"], reply["tested_at"]) == (5, 0, 0, "")
    assert reply["shipped_files"] is None
    assert reply["shipped_functions"] is None


def test_a_shallow_clone_says_that_its_past_is_unknown(repository: GitRepo, tmp_path: Path) -> None:
    subprocess.run(
        ["git", "clone", "-q", "--depth", "9", repository.path.as_uri(), str(tmp_path / "cut")], check=True
    )
    result = CliRunner().invoke(cli, ["-C", str(tmp_path / "cut"), "learn"], catch_exceptions=False)
    assert "nothing changed: 8 commits ask and answer a question" in result.output
    assert "git fetch --unshallow" in result.output


def test_json_marks_the_component_that_is_used(repository: GitRepo) -> None:
    with Workspace(repository.path) as workspace:
        report = learn(workspace, dry_run=True)
    passed = [item.name for item in learn_reply(report).items if item.passed]
    assert passed == [report.passed]
    assert report.verdict.startswith(f"{report.passed} would be used")


def test_every_long_step_tells_how_far_it_is(repository: GitRepo) -> None:
    told: list[tuple[str, int, int]] = []
    with Workspace(repository.path) as workspace:
        learn(workspace, dry_run=True, progress=lambda *each: told.append(each))
    asked = [(done, total) for stage, done, total in told if stage == "asking past fixes"]
    assert asked == [(number, 110) for number in range(1, 111)]
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == [
        "reading fixes",
        "asking past fixes",
        "fitting weights",
    ]
