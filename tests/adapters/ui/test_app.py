"""Who may look at the pages, what they are served with, and how an error reads."""

from __future__ import annotations

import json
from urllib.parse import urlencode, urlsplit

import pytest
from tests.adapters.mcp.transport.test_http import running
from tests.adapters.ui.conftest import Visit, running_pages
from tests.gitrepo import GitRepo

from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.adapters.ui.assets import load_assets

MOST_BYTES = 400_000


def test_the_address_works_once_and_its_cookie_from_then_on(shop: GitRepo) -> None:
    with running_pages(shop.path) as visit:
        parts = urlsplit(visit.address)
        first, _ = visit.get("/ui/api/repositories")
        assert first.status == 401
        visit.enter()
        answer, body = visit.get("/ui/api/repositories")
        assert (answer.status, json.loads(body)["repositories"][0]["name"]) == (200, "shop")

        stranger = Visit(visit.address)
        again, _ = stranger.get(f"{parts.path}?{parts.query}")
        assert (again.status, again.getheader("set-cookie")) == (401, None)
        guessed, _ = stranger.get("/ui/api/repositories", cookie=f"codenib-{visit.port}=guess")
        assert guessed.status == 401


def test_the_cookie_is_strict_and_no_script_reads_it(shop: GitRepo) -> None:
    with running_pages(shop.path) as visit:
        parts = urlsplit(visit.address)
        answer, _ = visit.get(f"{parts.path}?{parts.query}")
        cookie = (answer.getheader("set-cookie") or "").lower()

    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/ui" in cookie


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example:1"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
    ],
)
def test_other_pages_and_names_are_refused(shop: GitRepo, headers: dict[str, str], status: int) -> None:
    with running_pages(shop.path) as visit:
        visit.enter()
        assert visit.get("/ui/api/shop/status", **headers)[0].status == status


def test_every_response_forbids_other_scripts_and_hosts(shop: GitRepo) -> None:
    with running_pages(shop.path) as visit:
        visit.enter()
        digest = load_assets().digest
        for path in ("/ui/", f"/ui/assets/{digest}/app.js", "/ui/api/shop/status", "/ui/api/shop/nothing"):
            answer, _ = visit.get(path)
            policy = answer.getheader("content-security-policy") or ""
            assert "default-src 'none'" in policy
            assert "script-src 'self';" in policy
            assert "unsafe" not in policy
            assert answer.getheader("x-content-type-options") == "nosniff"


def test_nothing_but_reading_is_possible(shop: GitRepo) -> None:
    with running_pages(shop.path) as visit:
        visit.enter()
        for method in ("POST", "PUT", "DELETE"):
            assert visit.get("/ui/api/shop/search?query=x", method=method)[0].status == 405
        for path in ("/mcp", "/shop/mcp", "/ui/api/shop/index", "/ui/api/shop/update", "/ui/assets/x/app.js"):
            assert visit.get(path)[0].status in (404, 405), path


def test_an_error_is_that_of_the_command_line(shop: GitRepo) -> None:
    with running_pages(shop.path) as visit:
        visit.enter()
        answer, body = visit.get("/ui/api/shop/read?place=no/such/file.py")
        error = json.loads(body)["error"]

    assert answer.status == 400
    assert error["kind"] == "InputError"
    assert "no/such/file.py" in error["message"]


def test_the_files_of_the_page_are_small_and_have_no_markup_from_text() -> None:
    assets = load_assets()
    scripts = {name: asset.data.decode() for name, asset in assets.files.items() if name.endswith(".js")}
    ours = {name: text for name, text in scripts.items() if not name.startswith("vendor/")}

    assert assets.compressed_bytes < MOST_BYTES
    for name, text in ours.items():
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
        ):
            assert word not in text, (name, word)
    for name, asset in assets.files.items():
        if name.endswith(".html"):
            assert b"<script>" not in asset.data
            assert b" style=" not in asset.data


def test_a_server_of_agents_serves_the_pages_behind_its_tokens_and_scopes(shop: GitRepo) -> None:
    other = GitRepo(shop.path.parent / "other")
    other.commit({"a.py": "def secret_of_other(): ...\n"})
    with running(shop.path, other.path, pages=True) as server:
        tokens = AccessTokens()
        row, text = tokens.create("one", [str(shop.path)])
        visit = Visit(server.url("/ui/"))
        assert visit.get("/ui/")[0].status == 401
        assert visit.get("/ui/enter", method="POST", body=urlencode({"token": "cnb_1_2"}))[0].status == 401
        answer, _ = visit.get("/ui/enter", method="POST", body=urlencode({"token": text}))
        visit.cookie = (answer.getheader("set-cookie") or "").partition(";")[0]

        names = [each["name"] for each in json.loads(visit.get("/ui/api/repositories")[1])["repositories"]]
        assert names == ["shop"]
        assert visit.ask("shop", "search", query="total")["items"]
        refused, body = visit.get("/ui/api/other/search?query=secret_of_other")
        assert (refused.status, b"a.py" in body) == (400, False)

        tokens.revoke(row.id)
        assert visit.get("/ui/api/shop/status")[0].status == 401
