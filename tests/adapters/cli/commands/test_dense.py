"""The dense view from the command line: a real endpoint on this machine, and the embedded model."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from tests.adapters.cli.test_commands import FILES, Terminal
from tests.gitrepo import GitRepo
from tests.views.dense.hashing import HashEmbedder, open_hashing

from codenib.adapters.cli.output import pace
from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace


class _Endpoint(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = HashEmbedder().embed_queries(asked["input"]).tolist()
        data = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
        body = json.dumps({"model": "hashing", "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"endpoint:http://127.0.0.1:{server.server_port}/v1#hashing"
        server.shutdown()
        thread.join()


@pytest.fixture
def terminal(git_repo: Callable[..., GitRepo]) -> Terminal:
    repository = git_repo("project")
    repository.commit(FILES)
    return Terminal(repository)


def test_index_search_status_update_and_verify_with_an_embedder_of_choice(
    terminal: Terminal, endpoint: str
) -> None:
    done = terminal.run("index", "--views", "lexical,dense", "--embedder", endpoint)
    assert "4 documents, 24 dimension" in done.stdout
    assert "embedding 4/4" in done.stderr
    answer = terminal.json("search", "drop session", "--route", "semantic", "-k", "1")
    assert answer["plan"]["route"] == "semantic"
    assert answer["items"][0]["symbol"] == "drop_session"
    report = terminal.run("status").stdout
    assert "#hashing [" in report
    assert endpoint in report
    terminal.repository.write("src/new.py", "def renew_session():\n    return 1\n")
    assert terminal.json("update")["done"] == {"lexical": "maintained", "dense": "maintained"}
    verified = terminal.json("verify")
    assert (verified["clean"], sorted(verified["views"])) == (True, ["dense", "lexical"])
    assert "src/new.py" in terminal.run("search", "renew session", "--route", "semantic").stdout


def test_a_wrong_embedder_is_an_input_error_before_any_work(terminal: Terminal) -> None:
    failed = terminal.run("index", "--views", "lexical,dense", "--embedder", "nonsense", code=2)
    assert "nonsense" in failed.stderr
    assert "not indexed" in terminal.run("status").stdout
    assert "dense view" in terminal.run("index", "--views", "lexical", "--embedder", "static", code=2).stderr


def test_a_noop_update_of_a_dense_view_loads_no_heavy_library(terminal: Terminal) -> None:
    path = terminal.repository.path
    with Workspace(path, open_embedder=open_hashing) as workspace:
        workspace.index([*TEXT_VIEWS, ViewKind.DENSE])
    code = (
        "import sys; from codenib.serving.workspace import Workspace\n"
        f"assert Workspace({str(path)!r}).update().nothing_to_do\n"
        "print([name for name in ('numpy', 'faiss', 'tree_sitter') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_lexical_question_loads_no_faiss(terminal: Terminal) -> None:
    path = terminal.repository.path
    with Workspace(path, open_embedder=open_hashing) as workspace:
        workspace.index([*TEXT_VIEWS, ViewKind.DENSE])
    code = (
        "import sys; from codenib.serving.workspace import Workspace\n"
        f"assert Workspace({str(path)!r}).search('session').items\n"
        "print([name for name in sys.modules if 'faiss' in name or 'dense.store' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_embedded_model_answers_without_any_choice(terminal: Terminal) -> None:
    answer = terminal.json("search", "remove the session of a user", "--route", "semantic")
    assert {item["symbol"] for item in answer["items"]} <= {"save_session", "drop_session", "login", ""}
    assert terminal.json("verify")["clean"] is True
    assert "codenib-static" in terminal.run("status").stdout


def test_pace_tells_speed_and_time_left() -> None:
    assert pace(300, 1200, 2.0) == " (150/s, 6 s left)"
    assert pace(1200, 1200, 2.0) == " (600/s)"
    assert pace(0, 1200, 0.0) == ""
