"""Calls of a session become entries, by consent alone and never at an answer's cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.client.client import Client
from tests.adapters.mcp.clients import talk, text_of
from tests.gitrepo import GitRepo
from tests.serving.conftest import SHOP

from codenib.core.errors import StateError
from codenib.learning.journal.consent import (
    LEAST_BYTES,
    consent_file,
    give_consent,
    journal_file,
    read_consent,
    withdraw_consent,
)
from codenib.learning.journal.entries import MOST_TEXT, CallEntry, EditEntry
from codenib.learning.journal.feedback import answer_outcomes
from codenib.learning.journal.recorder import SessionRecorder
from codenib.learning.journal.review import (
    forget_entries,
    forget_everything,
    journal_entries,
    journal_state,
)
from codenib.snapshot.repository import locate

FACTS = {"items": [{"path": "cart.py", "line": 1, "end_line": 2}, {"path": ".env", "line": 1}], "tokens": 7}


@pytest.fixture
def shop(git_repo: Callable[..., GitRepo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "no-tools"))
    repository = git_repo("shop")
    repository.commit(SHOP)
    return repository


def record(path: Path, *questions: str) -> SessionRecorder:
    recorder = SessionRecorder(path)
    for question in questions:
        recorder.note("search", {"query": question, "odd": {"a": 1}}, FACTS, 2, False)
    recorder.close()
    return recorder


def test_a_real_session_is_recorded_from_question_to_edit(shop: GitRepo) -> None:
    give_consent(shop.path)
    file = next(path for path in SHOP if path.endswith(".py"))

    async def ask(client: Client) -> None:
        answer = await client.call_tool("search", {"query": "cart total"})
        assert file in text_of(answer)
        await client.call_tool("read", {"path": file})
        (shop.path / file).write_text(SHOP[file] + "\n# edited\n")
        await client.call_tool("search", {"query": "cart total"})
        (shop.path / "later.py").write_text("x = 1\n")

    talk(shop.path, ask)
    entries = journal_entries(shop.path)
    kinds = [entry.tool if isinstance(entry, CallEntry) else entry.paths for entry in entries]
    assert kinds == ["search", "read", (file,), "search", ("later.py",)]
    first, _, edit, second, _ = entries
    assert isinstance(first, CallEntry) and isinstance(second, CallEntry) and isinstance(edit, EditEntry)
    assert first.plan.route and first.tokens > 0 and first.commit and not first.dirty and second.dirty
    assert (edit.before, edit.after) == (first.snapshot, second.snapshot)
    assert len({entry.session for entry in entries}) == 1
    outcome = answer_outcomes(entries)[0]
    rank = outcome.follow_ups[0].rank
    assert first.places[rank - 1].path == file
    assert [each.how for each in outcome.follow_ups] == ["read", "edit"]


def test_a_token_that_is_cut_at_the_limit_is_masked_all_the_same(shop: GitRepo) -> None:
    give_consent(shop.path)
    secret = "k7Q2" * 9
    for shown in (5, 20, 35):
        record(shop.path, "w" * (MOST_TEXT - shown - 5) + f" ghp_{secret}")
    assert len(journal_entries(shop.path)) == 3
    for file in journal_file(locate(shop.path)).parent.iterdir():
        assert secret[:5].encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("path", "config/.env"),
        ("path", "id_rsa:1-4"),
        ("paths", ["src/**", "server.pem"]),
        ("like", ".env:3"),
    ],
)
def test_a_file_that_holds_secrets_is_not_named_when_it_is_asked_for(
    shop: GitRepo, name: str, value: str | list[str]
) -> None:
    give_consent(shop.path)
    recorder = SessionRecorder(shop.path)
    recorder.note("read", {name: value}, {}, 0, True)
    recorder.close()
    (entry,) = journal_entries(shop.path)
    assert isinstance(entry, CallEntry)
    assert entry.arguments[name] == ("[secrets file]" if name != "paths" else ["src/**", "[secrets file]"])


def test_a_large_call_takes_no_other_entry_with_it(shop: GitRepo) -> None:
    give_consent(shop.path, max_bytes=LEAST_BYTES)
    record(shop.path, "an earlier question")
    recorder = SessionRecorder(shop.path)
    large = {f"odd{number}": ["z" * 9000] * 99 for number in range(300)}
    recorder.note("search", {"query": "later", "paths": ["src/**", "lib/**"], **large}, FACTS, 2, False)
    recorder.close()
    earlier, later = journal_entries(shop.path)
    assert isinstance(earlier, CallEntry) and isinstance(later, CallEntry)
    assert (earlier.query, later.query) == ("an earlier question", "later")
    assert later.arguments["paths"] == ["src/**", "lib/**"]


def test_nothing_is_recorded_until_somebody_consents_nor_afterwards(shop: GitRepo) -> None:
    record(shop.path, "before")
    assert journal_entries(shop.path) == []
    assert not journal_file(locate(shop.path)).exists()
    consent = give_consent(shop.path, now=1000.0)
    assert consent.recorded and read_consent(consent_file(locate(shop.path))) == consent
    recorder = SessionRecorder(shop.path)
    recorder.note("search", {"query": "during"}, FACTS, 2, False)
    withdrawn = withdraw_consent(shop.path, now=2000.0)
    recorder.note("search", {"query": "after"}, FACTS, 2, False)
    recorder.close()
    assert (withdrawn.on, withdrawn.at) == (False, 2000.0)
    questions = [entry.query for entry in journal_entries(shop.path) if isinstance(entry, CallEntry)]
    assert "after" not in questions


def test_places_that_the_text_did_not_have_and_secret_files_are_not_recorded(shop: GitRepo) -> None:
    give_consent(shop.path)
    recorder = SessionRecorder(shop.path)
    recorder.note("search", {"query": "a", "odd": {"a": 1}}, FACTS, 2, False)
    recorder.note("search", {"query": "b"}, FACTS, 0, False)
    recorder.close()
    first, second = journal_entries(shop.path)
    assert isinstance(first, CallEntry) and isinstance(second, CallEntry)
    assert [place.path for place in first.places] == ["cart.py"]
    assert first.arguments["odd"] == "{'a': 1}"
    assert second.places == ()


def test_a_journal_that_cannot_be_written_loses_entries_and_nothing_else(shop: GitRepo) -> None:
    give_consent(shop.path)
    journal_file(locate(shop.path)).mkdir(parents=True)
    recorder = record(shop.path, "one", "two")
    assert recorder.lost == 2


def test_a_damaged_consent_is_none(shop: GitRepo) -> None:
    give_consent(shop.path)
    file = consent_file(locate(shop.path))
    file.write_text(file.read_text().replace("true", "7"))
    record(shop.path, "one")
    assert not journal_file(locate(shop.path)).exists()
    with pytest.raises(StateError, match="damaged"):
        read_consent(file)


def test_forgetting_takes_one_repository_or_all(shop: GitRepo, git_repo: Callable[..., GitRepo]) -> None:
    other = git_repo("other")
    other.commit({"a.py": "x = 1\n"})
    for repository in (shop, other):
        give_consent(repository.path)
        record(repository.path, "one", "two")
    assert forget_entries(shop.path) == 2
    assert (journal_state(shop.path).entries, journal_state(other.path).entries) == (0, 2)
    withdraw_consent(other.path)
    assert forget_everything() == 2
    left = {path.name for path in journal_file(locate(other.path)).parent.iterdir()}
    assert not any(name.startswith(locate(other.path).key) and "sqlite" in name for name in left)
    assert journal_state(other.path).consent is None
    assert journal_state(shop.path).consent is not None
