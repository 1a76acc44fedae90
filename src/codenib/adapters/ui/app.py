"""Repositories in, an ASGI application out: the page, its files, its questions and its events. Read only."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from codenib import __version__
from codenib.adapters.envelopes.envelope import ErrorFacts, ErrorReply
from codenib.adapters.logs import CLIENT_KEY
from codenib.adapters.mcp.record import record_of
from codenib.adapters.mcp.server_context import ServerContext, names_of
from codenib.adapters.mcp.turns import Requester, Turns
from codenib.adapters.ui.access import Allows, PageAccess
from codenib.adapters.ui.assets import load_assets
from codenib.adapters.ui.feed import Feed
from codenib.adapters.ui.questions import QUESTIONS, PageQuestion, parse_parameters
from codenib.adapters.ui.runs import RunFolders
from codenib.adapters.ui.sources import DRAWINGS
from codenib.core.errors import CodenibError, InputError, StateError, fault_of
from codenib.serving.snapshots.pool import ASKED

_log = logging.getLogger("codenib")
_CALL_S = 120.0
_WAIT_S, _STEP_S = 1.0, 0.05
_STATUS = {2: 400, 3: 409, 4: 502}  # by exit code
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
#: Calls that run at once, and that may wait for that; as the MCP server has them.
_CALLS, _SCANS = (4, 64), (2, 16)
_ASKED: dict[str, PageQuestion] = {**QUESTIONS, **DRAWINGS}


class Pages:
    """The application. `access` knows who may look at what; `ending` says that the server stops."""

    def __init__(
        self, contexts: Mapping[str, ServerContext], access: PageAccess, runs: Sequence[Path] = ()
    ) -> None:
        self._contexts = list(contexts.values())
        self._folders = RunFolders(runs)
        self._access = access
        self._feeds = {id(context): Feed(context) for context in self._contexts}
        self._calls, self._scans = Turns(*_CALLS), Turns(*_SCANS)
        self._assets = load_assets()
        self.ending: Callable[[], bool] = lambda: False
        self.cookie = "codenib"
        self._app = Starlette(
            routes=[
                Route("/ui", self._to_start),
                Route("/ui/enter", self._enter, methods=["GET", "POST"]),
                Route("/ui/assets/{digest}/{name:path}", self._asset),
                Route("/ui/api/repositories", self._guarded(self._repositories)),
                Route("/ui/api/runs/{kind}", self._guarded(self._runs)),
                Route("/ui/api/{repository}/events", self._guarded(self._events)),
                Route("/ui/api/{repository}/{question}", self._guarded(self._question)),
                Route("/ui/{rest:path}", self._page),
            ]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                more = [
                    (name.encode(), value.encode())
                    for name, value in {**_HEADERS, "cache-control": "no-store"}.items()
                    if name.encode() not in present
                ]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await self._app(scope, receive, with_headers)

    # -- documents

    async def _to_start(self, request: Request) -> Response:
        return RedirectResponse("/ui/", 307)

    async def _page(self, request: Request) -> Response:
        if self._visitor(request) is None:
            return self._document("sign-in.html", 401)
        return self._document("index.html")

    async def _enter(self, request: Request) -> Response:
        """Exchange a token for a cookie. This document opens the next one, so that the cookie is sent."""
        if request.method == "POST":
            form = parse_qs((await request.body()).decode("utf-8", "replace"))
            token = form.get("token", [""])[0].strip()
        else:
            token = request.query_params.get("token", "")
        cookie = self._access.enter(token)
        if cookie is None:
            known = self._visitor(request) is not None
            return self._document("entered.html" if known else "sign-in.html", 200 if known else 401)
        response = self._document("entered.html")
        response.set_cookie(self.cookie, cookie, path="/ui", httponly=True, samesite="strict")
        return response

    async def _asset(self, request: Request) -> Response:
        asset = self._assets.files.get(request.path_params["name"])
        if asset is None or request.path_params["digest"] != self._assets.digest:
            return Response("no such file\n", 404, media_type="text/plain")
        headers = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(asset.compressed, headers=headers, media_type=asset.content_type)
        return Response(asset.data, headers=headers, media_type=asset.content_type)

    def _document(self, name: str, status: int = 200) -> Response:
        return Response(self._assets.page(name), status, media_type="text/html")

    # -- questions

    def _visitor(self, request: Request) -> Allows | None:
        return self._access.visitor(request.cookies.get(self.cookie, ""))

    def _guarded(
        self, handle: Callable[[Request, Allows], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """A handler for visitors alone, of our own pages alone; every error is an answer."""

        async def guarded(request: Request) -> Response:
            try:
                if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                    return _failure(InputError("only pages of this server may ask"), 403)
                allows = self._visitor(request)
                if allows is None:
                    return _failure(InputError("sign in first", hint="codenib ui"), 401)
                return await handle(request, allows)
            except CodenibError as error:
                return _failure(error)
            except OSError as error:
                return _failure(fault_of(error))

        return guarded

    async def _repositories(self, request: Request, allows: Allows) -> Response:
        rows = [{"name": name, "root": str(context.root)} for name, context in self._named(allows).items()]
        return _json({"version": __version__, "repositories": rows})

    async def _runs(self, request: Request, allows: Allows) -> Response:
        """Runs are of no repository: only who may see all repositories sees them."""
        if self._folders.any and not all(allows(context.root) for context in self._contexts):
            raise InputError("runs are for who may see every repository here", hint="codenib token create")
        path = request.query_params.get("path", "")
        ask: dict[str, Callable[[], Any]] = {
            "list": self._folders.listed,
            "trace": partial(self._folders.trace, path),
            "study": partial(self._folders.study, path),
            "calls": partial(self._folders.calls, path),
        }
        kind = request.path_params["kind"]
        if kind == "figure":
            data, content_type = await anyio.to_thread.run_sync(self._folders.figure, path)
            return Response(data, media_type=content_type)
        if kind not in ask:
            raise InputError(f"no runs of kind {kind[:80]!r}", hint="codenib ui --runs FOLDER")
        return _json(await anyio.to_thread.run_sync(ask[kind]))

    def _named(self, allows: Allows) -> dict[str, ServerContext]:
        """What a visitor may see; no name among it depends on what others see."""
        return names_of(context for context in self._contexts if allows(context.root))

    def _context(self, request: Request, allows: Allows) -> ServerContext:
        name = request.path_params["repository"]
        context = self._named(allows).get(name)
        if context is None:  # not there, or another's: found the same way
            raise InputError(f"no repository {name[:100]!r} is served here", hint="codenib ui PATH")
        return context

    async def _question(self, request: Request, allows: Allows) -> Response:
        context = self._context(request, allows)
        name = request.path_params["question"]
        self._write_down(request, context, name)
        question = _ASKED.get(name)
        if question is None:
            known = ", ".join(QUESTIONS)
            return _failure(InputError(f"no question {name[:80]!r}; there are {known}"), 404)
        given = parse_parameters(question.parameters, request.query_params.multi_items())
        if not question.early:
            await _until_ready(context)
        ASKED.set(time.monotonic())
        call = partial(_answer, context, question, given)
        asker = Requester(str(request.scope.get(CLIENT_KEY, "")), record_of(request.scope).grant.tenant)
        turns = self._scans if question.scans else self._calls
        return await self._until_gone(request, partial(turns.run, asker, call))

    def _write_down(self, request: Request, context: ServerContext, question: str) -> None:
        """Say for the audit log who asks what; the cookie's token is who."""
        record = record_of(request.scope)
        row = self._access.token_of(request.cookies.get(self.cookie, ""))
        if row is not None:
            record.grant, record.token = row, row.id
        record.method, record.tool, record.repository = "page", question[:80], str(context.root)
        record.asked = request.url.query

    async def _until_gone(self, request: Request, ask: Callable[[], Awaitable[Response]]) -> Response:
        """The answer, unless the browser has gone on meanwhile: then its turn goes to the next question."""
        answered: Response | None = None
        problem: CodenibError | None = None

        async def notice(scope: anyio.CancelScope) -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            scope.cancel()

        with anyio.move_on_after(_CALL_S):
            async with anyio.create_task_group() as group:
                group.start_soon(notice, group.cancel_scope)
                try:
                    answered = await ask()
                except CodenibError as error:  # inside the group, which would wrap it
                    problem = error
                group.cancel_scope.cancel()
        if problem is not None:
            raise problem
        return answered or _failure(StateError("the question was given up"), 503)

    async def _events(self, request: Request, allows: Allows) -> Response:
        feed = self._feeds[id(self._context(request, allows))]

        async def events() -> AsyncIterator[bytes]:
            async for event in feed.events(self.ending):
                if self._visitor(request) is None:
                    return  # the token was revoked
                yield event

        return StreamingResponse(events(), media_type="text/event-stream")


async def _until_ready(context: ServerContext) -> None:
    """Wait a moment for the first views; a page whose question is refused asks again."""
    with anyio.move_on_after(_WAIT_S):
        while not context.check():
            await anyio.sleep(_STEP_S)
        return
    what = f"{context.name} is being indexed: {context.work}"
    raise StateError(what, hint="the answer comes as soon as the text is indexed")


def _answer(context: ServerContext, question: PageQuestion, given: Any) -> Response:
    """One answer, made in a thread; whatever goes wrong is an answer too."""
    try:
        with context.workspace(first=question.navigates) as workspace:
            return _json(question.answer(workspace, given))
    except CodenibError as error:
        return _failure(error)
    except OSError as error:
        return _failure(fault_of(error))
    except Exception as error:  # noqa: BLE001 - the one catch-all of the page, as main() has its own
        _log.exception("a question of the page failed")
        return _failure(
            CodenibError(f"internal error: {type(error).__name__}: {error}", hint="codenib doctor")
        )


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _failure(error: CodenibError, status: int | None = None) -> Response:
    facts = ErrorFacts(type(error).__name__, error.message, error.hint)
    return _json(ErrorReply(facts), status or _STATUS.get(error.exit_code, 500))
