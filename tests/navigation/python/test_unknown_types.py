"""Uses through values of unknown types: the engine cannot say what they are, and no answer hides them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.navigation.following import indexed, need

from codenib.core.requests import NeighboursRequest
from codenib.serving.workspace import Workspace

pytestmark = pytest.mark.tools
FILES: dict[str, str | None] = {
    "lib.py": "class Client:\n    def send(self, what):\n        inner = what\n        return inner\n\n"
    "def wrap(function):\n    return function\n",
    "use.py": "from lib import Client\n\nsend = len\nClient().send(send('a'))\n",
    "wrapped.py": "from lib import wrap, Client\n\n@wrap\ndef plain(): pass\n\nclass Own(Client):\n"
    "    def send(self, what):\n        return super().send(what)\n",
    "outer.py": "def outer():\n    def closure():\n        return 1\n    return closure\n",
    "test_use.py": """
        def test_send(client):
            # client.send(3)
            assert "client.send"
            client.send(2)
            client.inner()
            client.closure()
        """,
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    need("python")
    with indexed(tmp_path / "project", FILES) as (_, found):
        yield found


def test_references_list_the_name_where_its_type_is_not_known_and_claim_no_more(workspace: Workspace) -> None:
    answer = workspace.references("lib.py:2", name="send")
    assert [(each.path, each.line, each.scope) for each in answer] == [
        ("lib.py", 2, "project"),
        ("use.py", 4, "project"),
        ("wrapped.py", 8, "project"),
        ("test_use.py", 4, "name"),
    ]
    assert (answer.provider, answer.completeness, answer.total) == ("static", "partial", 4)
    assert "1 where the type of what has the name is not known" in answer.note


def test_callers_have_who_may_call_it_last_and_labelled(workspace: Workspace) -> None:
    answer = workspace.navigator.neighbours(NeighboursRequest("Client.send", "callers"))
    users = [(each.qualified, each.scope) for each in answer if each.depth]
    assert users == [("Own.send", "project"), ("use.py", "project"), ("test_send", "name")]
    assert answer.completeness == "partial"


def test_a_function_that_calls_a_method_of_its_name_is_one_of_the_callers(tmp_path: Path) -> None:
    need("python")
    files: dict[str, str | None] = {
        "app.py": "class App:\n    def url_for(self) -> str:\n        return ''\n\n"
        "app = App()\n\ndef url_for() -> str:\n    return app.url_for()\n",
        "page.py": "from app import url_for\n\ndef page() -> str:\n    return url_for()\n",
    }
    with indexed(tmp_path / "project", files) as (_, workspace):
        callers = workspace.navigator.neighbours(NeighboursRequest("url_for", "callers"))
        assert {each.qualified for each in callers.starts} == {"url_for", "App.url_for"}
        assert [each.qualified for each in callers if each.depth] == ["url_for", "page"]
        assert (callers.total, callers.completeness) == (2, "all")
        callees = workspace.navigator.neighbours(NeighboursRequest("url_for", "callees"))
        assert [each.qualified for each in callees if each.depth] == ["App.url_for"]


def test_what_decorates_is_called_by_what_it_decorates(workspace: Workspace) -> None:
    answer = workspace.navigator.neighbours(NeighboursRequest("wrap", "callers"))
    assert [(each.qualified, each.depth) for each in answer if each.depth] == [("plain", 1)]


def test_callees_count_the_calls_that_nobody_resolved(workspace: Workspace) -> None:
    answer = workspace.navigator.neighbours(NeighboursRequest("test_send", "callees"))
    assert (answer.completeness, answer.total) == ("partial", 0)
    assert "3 names in it not resolved" in answer.note


def test_what_a_name_of_an_unknown_type_is_goes_by_name(workspace: Workspace) -> None:
    answer = workspace.definition("test_use.py:4", name="send")
    assert (answer.provider, answer.completeness) == ("syntactic", "unknown")
    assert ("lib.py", 2) in [(each.path, each.line) for each in answer.locations]
    assert "does not know what send is there" in answer.note


def test_what_no_other_function_can_name_is_known_to_be_all(workspace: Workspace) -> None:
    answer = workspace.references("lib.py:3", name="inner")
    assert (answer.completeness, answer.total) == ("all", 2)


def test_a_function_inside_another_may_be_handed_out(workspace: Workspace) -> None:
    answer = workspace.references("outer.py:2", name="closure")
    assert [(each.path, each.line, each.scope) for each in answer][-1] == ("test_use.py", 6, "name")
    assert answer.completeness == "partial"


def test_a_method_may_be_called_through_what_it_overrides(workspace: Workspace) -> None:
    answer = workspace.navigator.neighbours(NeighboursRequest("Own.send", "callers"))
    assert [each.qualified for each in answer if each.depth] == ["test_send"]
    assert answer.completeness == "partial"
    assert (
        "calls of Client.send, which it overrides, may reach it too: codenib callers lib.py:2" in answer.note
    )


def test_callers_of_a_name_that_others_override_are_those_of_the_first(workspace: Workspace) -> None:
    answer = workspace.navigator.neighbours(NeighboursRequest("send", "callers"))
    assert answer.symbols[0].qualified == "Client.send"
