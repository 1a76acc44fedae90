"""Tenants of one real server: nothing tells of another's repository, and quotas say when to come back."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.adapters.mcp.transport.test_http import Running, request, running
from tests.gitrepo import GitRepo

from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.fleet.tenants.audit import read_audit
from codenib.fleet.tenants.grant import Grant
from codenib.learning.journal.consent import consent_files, give_consent, withdraw_consent
from codenib.learning.journal.entries import CallEntry
from codenib.learning.journal.feedback import answer_outcomes
from codenib.learning.journal.review import forget_everything, journal_entries, journal_state

_TIMES = re.compile(rb'\\?"(seconds|[a-z_]*ms)\\?":[0-9.e-]+')
#: Every kind of question, on one's own code and on names that only the other tenant's code has.
_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "convert currency"}),
    ("search", {"query": "zebra_secret"}),
    ("explore", {"query": "where is zebra_secret and how are prices converted"}),
    ("grep", {"pattern": "zebra_secret"}),
    ("grep", {"pattern": "def ", "mode": "count"}),
    ("definition", {"name": "zebra_secret"}),
    ("references", {"name": "convert"}),
    ("outline", {"path": "."}),
    ("read", {"path": "zebra.py"}),
    ("read", {"path": "../shop/zebra.py"}),
    ("impact", {"name": "convert"}),
    ("status", {}),
]
_PATHS = ("/shop/mcp", "/shop-2/mcp", "/mcp", "/zebra/mcp", "/nobody/mcp", "/ui/mcp", "/metrics", "/")


def _answers(server: Running, token: str) -> dict[str, tuple[int, bytes]]:
    """All that a token gets from a server, without times."""
    bearer = {"Authorization": f"Bearer {token}"}
    got: dict[str, tuple[int, bytes]] = {}
    for tool, arguments in _CALLS:
        body = request("tools/call", {"name": tool, "arguments": arguments})
        got[f"{tool} {arguments}"] = server.post(body, "/shop/mcp", **bearer)
    for path in _PATHS:
        got[f"POST {path}"] = server.post(request("tools/list"), path, **bearer)
        for method in ("GET", "DELETE"):
            got[f"{method} {path}"] = _get(server, path, method, bearer)
    for uri in ("codenib://status", "codenib://manifest", "codenib://file/zebra.py"):
        got[uri] = server.post(request("resources/read", {"uri": uri}), "/shop/mcp", **bearer)
    cookie = _sign_in(server, token)
    for path in (
        "repositories",
        "runs/list",
        "shop-2/status",
        "zebra/status",
        "shop/search?query=zebra_secret",
    ):
        got[f"page {path}"] = _get(server, f"/ui/api/{path}", "GET", {"Cookie": cookie})
    return {name: (status, _TIMES.sub(b"", body)) for name, (status, body) in got.items()}


def _get(server: Running, path: str, method: str, headers: dict[str, str]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _sign_in(server: Running, token: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/ui/enter", urlencode({"token": token}), form)
        answer = connection.getresponse()
        answer.read()
        # The cookie's name has the port, which differs between servers.
        return str(answer.getheader("Set-Cookie", "")).partition(";")[0]
    finally:
        connection.close()


@pytest.fixture
def others(git_repo: Callable[..., GitRepo]) -> list[GitRepo]:
    """Repositories of another tenant: one has the same name and file, one is called ui."""
    rows = []
    for name in ("elsewhere/shop", "zebra", "ui"):
        repository = git_repo(name)
        repository.commit(
            {"zebra.py": "def zebra_secret():\n    return 1\n", "shop/currency.py": "RATE = 2\n"}
        )
        rows.append(repository)
    return rows


def test_answers_are_equal_with_and_without_another_tenants_repositories(
    shop: GitRepo, others: list[GitRepo]
) -> None:
    _, mine = AccessTokens().create(
        "mine", grant=Grant(tenant="red", repositories=(str(shop.path.resolve()),))
    )
    other_roots = tuple(str(other.path.resolve()) for other in others)
    _, theirs = AccessTokens().create("theirs", grant=Grant(tenant="blue", repositories=other_roots))
    with running(shop.path, pages=True) as server:
        alone = _answers(server, mine)
    with running(*(other.path for other in others), shop.path, pages=True) as server:
        asked = request("tools/call", {"name": "search", "arguments": {"query": "zebra_secret"}})
        status, body = server.post(asked, "/zebra/mcp", Authorization=f"Bearer {theirs}")
        assert (status, b"zebra.py" in body) == (200, True)  # it is there
        beside = _answers(server, mine)
    assert {name: got for name, got in beside.items() if got != alone[name]} == {}
    assert not any(b"return 1" in body for _, body in beside.values())
    # What is another's and what nobody has is the same answer.
    assert beside["POST /zebra/mcp"][1].replace(b"zebra", b"nobody") == beside["POST /nobody/mcp"][1]


def test_a_text_of_another_repository_is_never_in_the_cache_of_texts(
    shop: GitRepo, git_repo: Callable[..., GitRepo]
) -> None:
    """A read that is fast the first time would tell that somebody else has the same file."""
    from codenib.serving.snapshots import pinned
    from codenib.serving.workspace import Workspace

    text = "def guessed():\n    return 42\n"
    other = git_repo("other")
    other.commit({"guess.py": text})
    shop.write("guess.py", text)
    shop.commit()
    with Workspace(other.path) as theirs, Workspace(shop.path) as mine:
        theirs.index()
        mine.index()
        theirs.read("guess.py")
        digests = [key for key in pinned._RECENT._texts if key[0] == str(mine._compiler.store.folder)]
        assert digests == []
        mine.read("guess.py")
        assert len([key for key in pinned._RECENT._texts if key[0] == str(mine._compiler.store.folder)]) == 1


def test_a_token_with_views_is_answered_by_those_alone(shop: GitRepo) -> None:
    grant = Grant(repositories=("*",), views=("trigram",))
    _, text = AccessTokens().create("narrow", grant=grant)
    with running(shop.path, pages=True) as server:
        narrow = {"Authorization": f"Bearer {text}"}

        def ask(tool: str, **arguments: str) -> bytes:
            body = request("tools/call", {"name": tool, "arguments": arguments})
            return server.post(body, **narrow)[1]

        assert b"shop/currency.py" in ask("grep", pattern="def convert")
        assert b"this token is not for the lexical view" in ask("search", query="convert")
        assert b"def convert" in ask("read", path="shop/currency.py")
        assert _sign_in(server, text) == ""  # pages have no such limits
        assert "shop/currency.py" in server.call("search", {"query": "convert"})  # others go on


def test_quotas_answer_429_and_say_when_to_come_back(shop: GitRepo) -> None:
    def post(server: Running, text: str) -> tuple[int, str | None, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        try:
            body = request("tools/call", {"name": "search", "arguments": {"query": "convert"}})
            connection.request("POST", "/mcp", body, server.headers(text))
            answer = connection.getresponse()
            return answer.status, answer.getheader("Retry-After"), answer.read()
        finally:
            connection.close()

    tokens = AccessTokens()
    _, slow = tokens.create("slow", grant=Grant(repositories=("*",), requests_per_s=0.001))
    _, small = tokens.create("small", grant=Grant(repositories=("*",), tokens_per_day=1))
    with running(shop.path) as server:
        assert post(server, slow)[0] == 200
        status, wait, _ = post(server, slow)
        assert status == 429 and 990 <= int(wait or 0) <= 1000
        assert post(server, small)[0] == 200
        status, wait, body = post(server, small)
        assert status == 429 and 1 <= int(wait or 0) <= 86_400
        assert b"1 tokens of this day" in body
        assert post(server, server.token)[0] == 200
    with running(shop.path) as server:  # another server of this home knows what was used
        assert post(server, small)[0] == 429


def test_the_audit_log_says_who_asked_what_and_how_it_ended(shop: GitRepo) -> None:
    row, text = AccessTokens().create("one", grant=Grant(tenant="red", repositories=("*",)))
    with running(shop.path, pages=True, audit="text") as server:
        bearer = {"Authorization": f"Bearer {text}"}
        asked = {"name": "search", "arguments": {"query": "convert currency"}}
        server.post(request("tools/call", asked), **bearer)
        server.post(request("tools/call", {"name": "read", "arguments": {"path": "no.py"}}), **bearer)
        server.post(request("tools/list"), "/nobody/mcp", **bearer)
        server.post(request("tools/list"), "/nobody/mcp", **bearer)
        server.post(request("tools/list"), Authorization="Bearer guess")
        cookie = _sign_in(server, text)
        assert _get(server, "/ui/api/shop/search?query=price", "GET", {"Cookie": cookie})[0] == 200
    rows = [each for each in read_audit() if each.token == row.id]
    assert len(rows) == len(list(read_audit()))  # who has no token fills no log
    said = [(each.outcome, each.status, each.method, each.tool) for each in rows]
    assert said == [
        ("answered", 200, "tools/call", "search"),
        ("failed", 200, "tools/call", "read"),
        ("refused", 404, "", ""),
        ("answered", 200, "page", "search"),
    ]
    assert json.loads(rows[0].asked) == {"query": "convert currency"}
    assert {each.tenant for each in rows} == {"red"}
    assert rows[0].tokens > 0 and rows[0].ms > 0
    assert rows[0].repository == str(shop.path.resolve())


def test_calls_are_recorded_by_consent_alone_and_each_tenant_has_its_own_journal(shop: GitRepo) -> None:
    roots = (str(shop.path.resolve()),)
    texts = {
        tenant: AccessTokens().create(tenant, grant=Grant(tenant=tenant, repositories=roots))[1]
        for tenant in ("red", "blue")
    }
    give_consent(shop.path)  # of `codenib mcp`: it says nothing of HTTP
    give_consent(shop.path, tenant="red")
    give_consent(shop.path, tenant="blue")
    withdraw_consent(shop.path, tenant="blue")

    with running(shop.path) as server:

        def ask(who: str, tool: str, **arguments: Any) -> None:
            bearer = {"Authorization": f"Bearer {texts.get(who, server.token)}"}
            body = request("tools/call", {"name": tool, "arguments": arguments})
            assert server.post(body, **bearer)[0] == 200

        for who in ("red", "blue", ""):
            ask(who, "search", query=f"convert {who} currency")
        ask("red", "read", path="shop/currency.py")
        give_consent(shop.path, over_http=True)  # a server that runs notices
        ask("", "search", query="convert by anybody")
    red, own = journal_entries(shop.path, tenant="red"), journal_entries(shop.path)
    assert [(each.tool, each.query) for each in red if isinstance(each, CallEntry)] == [
        ("search", "convert red currency"),
        ("read", ""),
    ]
    assert [each.query for each in own if isinstance(each, CallEntry)] == ["convert by anybody"]
    (outcome,) = answer_outcomes(red)
    assert [each.how for each in outcome.follow_ups] == ["read"], "the calls of a token are a session"
    assert journal_entries(shop.path, tenant="blue") == []
    assert journal_state(shop.path, tenant="blue").entries == 0
    assert all("red" not in file.name for file in consent_files()), "a tenant's name may be anything"
    assert forget_everything() == 3
