"""Questions whose answers need every view: what a fault or damage must not change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import codenib
from codenib.core.errors import CodenibError
from codenib.core.requests import Refresh
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace

VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE, ViewKind.HISTORY, ViewKind.GRAPH)
#: Ruby: its facts come from syntax alone, so that no engine is started.
SESSION = """
class Session
  def save(path)
    path
  end
end

def load_session(path)
  Session.new.save(path)
end
"""
MAIN = """
require_relative "session"

def main
  load_session("state")
end
"""

Question = Callable[[Workspace, Refresh], tuple[str, object]]


def _words(workspace: Workspace, refresh: Refresh) -> tuple[str, object]:
    answer = workspace.search("where is a session saved", route="lexical", refresh=refresh)
    texts = workspace.texts(answer.items, at_snapshot=answer.snapshot.id)
    rows = [(item.path, item.start_line, item.symbol, round(item.score, 5)) for item in answer]
    return answer.snapshot.id, (rows, texts)


def _meaning(workspace: Workspace, refresh: Refresh) -> tuple[str, object]:
    answer = workspace.search("persisting the state", route="semantic", refresh=refresh)
    return answer.snapshot.id, [(item.path, item.start_line, round(item.score, 4)) for item in answer]


def _pattern(workspace: Workspace, refresh: Refresh) -> tuple[str, object]:
    answer = workspace.regex("def .*session|saves", refresh=refresh)
    return answer.snapshot.id, ([(match.path, match.line, match.text) for match in answer], answer.total)


def _history(workspace: Workspace, refresh: Refresh) -> tuple[str, object]:
    answer = workspace.history("src/session.rb", refresh=refresh)
    rows = [(touch.commit, touch.author, touch.subject, touch.lines) for touch in answer]
    return answer.snapshot.id, (rows, answer.total)


def _definition(workspace: Workspace, refresh: Refresh) -> tuple[str, object]:
    answer = workspace.definition("load_session", refresh=refresh)
    return answer.snapshot.id, [str(place) for place in answer.locations]


#: Each needs one view by name, so that it has one right answer for a snapshot, or none.
QUESTIONS: dict[str, Question] = {
    "words": _words,
    "meaning": _meaning,
    "pattern": _pattern,
    "history": _history,
    "definition": _definition,
}


def ask_all(repository: Path, refresh: Refresh = "auto") -> dict[str, tuple[str, object]]:
    """The snapshot and the answer to each question; `error` in place of a snapshot for one of our errors."""
    answers: dict[str, tuple[str, object]] = {}
    for name, question in QUESTIONS.items():
        try:
            with codenib.open(repository) as workspace:
                answers[name] = question(workspace, refresh)
        except CodenibError as error:
            clear = bool(error.message and error.hint)
            answers[name] = ("error" if clear else "an error without a hint", error.message)
    return answers
