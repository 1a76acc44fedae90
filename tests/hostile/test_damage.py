"""Every file of a store, damaged in five ways: the same answer or a clear error, and the next index heals.

Each file takes one of the five by a seeded choice; `CODENIB_DAMAGE=all` tries all five on each.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.faults.questions import MAIN, SESSION, VIEWS
from tests.gitrepo import GitRepo

import codenib
from codenib.core.errors import CodenibError
from codenib.core.updates import Outcome
from codenib.core.views import Status
from codenib.manifest.home import home
from codenib.serving.workspace import Workspace


def _flip(data: bytes, choice: random.Random) -> bytes:
    at = choice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << choice.randrange(8))]) + data[at + 1 :]


Damage = Callable[[bytes, random.Random], bytes | None]
DAMAGES: dict[str, Damage] = {
    "flip": _flip,
    "truncate": lambda data, choice: data[: choice.randrange(len(data))],
    "zero": lambda data, _: bytes(len(data)),
    "remove": lambda *_: None,
    "extend": lambda data, _: data + b"\x00extended\xff" * 7,
}


def _search(workspace: Workspace) -> object:
    answer = workspace.search("where is a session saved")
    texts = workspace.texts(answer.items, at_snapshot=answer.snapshot.id)
    return [(item.path, item.start_line, item.symbol, round(item.score, 5)) for item in answer], texts


def _regex(workspace: Workspace) -> object:
    answer = workspace.regex("def .*session")
    return [(match.path, match.line, match.text) for match in answer], answer.total


def _history(workspace: Workspace) -> object:
    answer = workspace.history("src/session.rb")
    return [(touch.commit, touch.author, touch.subject, touch.lines) for touch in answer], answer.total


def _definition(workspace: Workspace) -> object:
    answer = workspace.definition("load_session")
    return [str(place) for place in answer.locations]


def _status(workspace: Workspace) -> object:
    report = workspace.status()
    return report.files, report.snapshot, report.commit


QUESTIONS = (_search, _regex, _history, _definition, _status)


class Store:
    """The store of a small repository with an uncommitted edit, and what it answers when nothing is wrong."""

    def __init__(self, repo: GitRepo) -> None:
        self.repo = repo
        repo.commit({"src/session.rb": SESSION}, "sessions are saved")
        repo.commit({"src/main.rb": MAIN}, "a program")
        repo.write("src/main.rb", f"{MAIN}\n\nmain  # saves a session\n")
        self.index()
        self.index()  # what is written only when there is something already
        self.expected = [self.ask(question) for question in QUESTIONS]

    def ask(self, question: Callable[[Workspace], object]) -> object:
        with codenib.open(self.repo.path) as workspace:
            return question(workspace)

    def index(self) -> Outcome:
        with codenib.open(self.repo.path) as workspace:
            return workspace.index(VIEWS)

    def files(self) -> dict[str, Path]:
        """Every file with content, by a name that stays when the store is made again."""
        paths = [path for path in sorted(home().rglob("*")) if path.is_file() and path.stat().st_size]
        return {re.sub(r"[0-9a-f]{8,}", "*", str(path.relative_to(home()))): path for path in paths}

    def differing(self) -> Iterator[str]:
        """The questions with another answer than before that are no clear error."""
        for question, expected in zip(QUESTIONS, self.expected, strict=True):
            try:
                answer = self.ask(question)
            except CodenibError as error:
                if not error.message or not error.hint:
                    yield f"{question.__name__}: an error without a hint: {error}"
                continue
            except Exception as error:  # noqa: BLE001 - a trace is what this test is about
                yield f"{question.__name__}: {type(error).__name__}: {error}"
                continue
            if answer != expected:
                yield f"{question.__name__}: {answer}"

    def unhealed(self) -> Iterator[str]:
        """What is not as before after an index."""
        try:
            outcome = self.index()
        except CodenibError as error:
            yield f"index: {error}"
            outcome = self.index()
        failed = [kind for kind, view in outcome.manifest.views.items() if view.status is not Status.FRESH]
        if failed:
            yield f"not fresh: {failed}"
        for question, expected in zip(QUESTIONS, self.expected, strict=True):
            if self.ask(question) != expected:
                yield f"{question.__name__} did not heal"


@pytest.fixture
def store(git_repo: Callable[..., GitRepo]) -> Store:
    return Store(git_repo("sessions"))


def test_no_damaged_file_gives_a_wrong_answer_or_a_trace_and_the_next_index_heals(store: Store) -> None:
    choice = random.Random(8)
    found: list[str] = []
    tried = 0
    for name in store.files():
        every = os.environ.get("CODENIB_DAMAGE") == "all"
        for how in DAMAGES if every else [choice.choice(list(DAMAGES))]:
            path = store.files().get(name)
            if path is None:  # a log or a lock that only some commands leave
                continue
            damaged = DAMAGES[how](path.read_bytes(), choice)
            if damaged is None:
                path.unlink()
            else:
                path.write_bytes(damaged)
            tried += 1
            found += [f"{name} {how}: {what}" for what in store.differing()]
            found += [f"{name} {how}: {what}" for what in store.unhealed()]
    assert tried > 60
    assert not found, "\n".join(found)
