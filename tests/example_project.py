"""The small repository that the command lines of the docs are run on."""

from __future__ import annotations

from pathlib import Path

from tests.gitrepo import GitRepo

_SESSIONS = '''class SessionStore:
    """Where sessions are saved."""

    def save_session(self, session, response):
        """Save a session in a signed cookie, at the end of each request."""
        response.set_cookie("session", sign(session))

    def drop_session(self, response):
        """Forget a session."""
        response.delete_cookie("session")


def sign(session):
    """Sign a session with the secret key."""
    return f"{session}.signature"
'''
_APP = '''from scaffold import Scaffold
from settings import load_settings


class App(Scaffold):
    """A web application."""

    def run(self, path):
        """Load the settings and serve requests."""
        self.settings = load_settings(path)
        return self.dispatch_request({"path": "/"})

    def dispatch_request(self, request):
        """Answer one request."""
        return request["path"]
'''
_SCAFFOLD = '''class Scaffold:
    """What every application has."""

    def route(self, path):
        return path
'''
_SETTINGS = '''def load_settings(path):
    """Read the settings of a file."""
    return path.read_text()
'''
_FILES = {
    "src/sessions.py": _SESSIONS.replace("signed cookie", "cookie"),
    "src/app.py": _APP,
    "src/scaffold.py": _SCAFFOLD,
    "src/settings.py": _SETTINGS,
    "tests/test_sessions.py": "from sessions import sign\n\n\ndef test_sign():\n    assert sign(1)\n",
    "issue.md": "# The session is lost\n\nAfter a redirect the session cookie is gone.\n",
    ".gitignore": "*.jsonl\n*.svg\n",
}


def make_project(path: Path) -> GitRepo:
    """A repository with two commits, a tag v1.0 on the first of them, and rows of questions."""
    repository = GitRepo(path)
    repository.commit(_FILES, "Add an application with sessions")
    repository.git("tag", "v1.0")
    repository.commit({"src/sessions.py": _SESSIONS}, "Sign the cookie")
    repository.write("rows.jsonl", '{"id": 1, "query": "session cookie name"}\n')
    return repository
