"""A `ServerContext` in, an MCP server out: tools, resources, prompts; every error is answered."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from codenib import __version__
from codenib.adapters.envelopes.envelope import Freshness, SnapshotId, rounded
from codenib.adapters.logs import log_event
from codenib.adapters.mcp.descriptions import (
    FILE_TEMPLATE,
    INSTRUCTIONS,
    NAME,
    PROMPTS,
    RESOURCES,
    TITLE,
)
from codenib.adapters.mcp.progress import ProgressMeter
from codenib.adapters.mcp.record import (
    record_of,
    request_name,
    requester_of,
    scope_of,
    written_arguments,
)
from codenib.adapters.mcp.sent_lines import SentLines
from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.mcp.tools.arguments import parse
from codenib.adapters.mcp.tools.catalogue import ALL_TOOLS, DEFAULT_TOOLS
from codenib.adapters.mcp.tools.hints import error_for_tools
from codenib.adapters.mcp.tools.replies import (
    FACTS_KEY,
    FILE_URI,
    STRUCTURED_KEY,
    PlaceLink,
    Rendered,
    failure,
    render,
)
from codenib.adapters.mcp.tools.tool import Call, Lane, McpTool
from codenib.adapters.mcp.turns import PATIENCE_S, Requester, Turns
from codenib.core.calls.cancellation import check_cancelled
from codenib.core.errors import UNDECODABLE, CodenibError, StateError, fault_of
from codenib.core.views import ViewKind
from codenib.learning.journal.recorder import SessionRecorder
from codenib.learning.journal.tenants import TenantRecorders
from codenib.serving.context.tokens import count
from codenib.serving.snapshots.pool import ASKED

Request = ServerRequestContext[Any, Any]
_log = logging.getLogger("codenib")
_WAIT_S = 25.0  # for the first index: clients give up after 60 s
_CALL_S = 120.0
_STEP_S = 0.1
_TELL_S = 0.5
_ERROR_TOKENS = 2000
#: Calls of each lane that run at once, and that may wait for that: a few threads are as many as make progress
#: beside the event loop. All calls but scans share a lane, so that all clients of a busy server wait as long:
#: with a lane for each kind, `read` took 50 ms while the same clients' searches took five seconds. A scan
#: waits for a process beside us and may take ten seconds, so few may queue, and no other call behind them.
#: Together they are the workspaces.
_LANES: dict[Lane, tuple[int, int]] = {"calls": (4, 256), "scans": (2, 16)}


def build_server(
    context: ServerContext,
    *,
    all_tools: bool = False,
    structured: bool = False,
    wait_s: float = _WAIT_S,
    journal: SessionRecorder | None = None,
) -> Server[Any]:
    """The server of one repository for one client: it remembers which lines that has."""
    tools = ALL_TOOLS if all_tools else DEFAULT_TOOLS
    handlers = _Handlers(context, tools, structured, wait_s, SentLines())
    if journal is not None:
        handlers.journal = lambda asker: (journal, journal.session)
    return handlers.server()


#: A request's body and who asks in; for how many seconds it had better stay away out.
Busy = Callable[[bytes, Requester], float]
Lanes = dict[Lane, Turns]
#: Who asks in; what records the call, and as part of which session, out.
Journal = Callable[[Requester], tuple[SessionRecorder, str]]


def open_lanes(patience_s: float = PATIENCE_S) -> Lanes:
    """The lanes of a server; all of its repositories share them, or tenants would not share it fairly."""
    return {lane: Turns(most, waiting, patience_s) for lane, (most, waiting) in _LANES.items()}


def build_http_server(
    context: ServerContext,
    *,
    all_tools: bool,
    structured: bool,
    lanes: Lanes | None = None,
    journals: TenantRecorders | None = None,
) -> tuple[Server[Any], Busy]:
    """The server of one repository, and what says of a request that it would wait too long.

    It holds no state of its clients, so it serves many.
    """
    handlers = _Handlers(context, ALL_TOOLS if all_tools else DEFAULT_TOOLS, structured, _WAIT_S)
    handlers.lanes = lanes or handlers.lanes
    if journals is not None:
        handlers.journal = lambda asker: journals.of(asker.tenant, asker.client)
    return handlers.server(), handlers.busy_s


class _Params(msgspec.Struct):
    name: str = ""
    arguments: dict[str, Any] = {}


class _Called(msgspec.Struct):
    method: str = ""
    params: _Params = msgspec.field(default_factory=_Params)


class _Handlers:
    def __init__(
        self,
        context: ServerContext,
        tools: tuple[McpTool, ...],
        structured: bool,
        wait_s: float,
        sent: SentLines | None = None,
    ) -> None:
        self._context = context
        self._sent = sent
        self.journal: Journal | None = None
        self._tools = {tool.name: tool for tool in tools}
        self._structured = structured
        self._wait_s = wait_s
        self.lanes = open_lanes()
        self._listed = types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.about,
                    input_schema=tool.schema,
                    annotations=types.ToolAnnotations(read_only_hint=True),
                )
                for tool in tools
            ]
        )

    def server(self) -> Server[Any]:
        return Server(
            NAME,
            version=__version__,
            title=TITLE,
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_resource_templates,
            on_read_resource=self.read_resource,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )

    def busy_s(self, body: bytes, asker: Requester) -> float:
        """See `Busy`. What is no tool call, or a wrong one, is answered at once."""
        if b'"tools/call"' not in body:
            return 0.0
        try:
            called = msgspec.json.decode(body, type=_Called).params
            tool = self._tools[called.name]
            lane = tool.lane(parse(tool.name, tool.parameters, called.arguments))
        except (*UNDECODABLE, KeyError, CodenibError):
            return 0.0
        return self.lanes[lane].busy_s(asker)

    # -- tools

    async def list_tools(
        self, request: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return self._listed

    async def call_tool(self, request: Request, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            known = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"no tool is called {params.name[:80]!r}; there are {known}")
        structured = self._structured or bool((params.meta or {}).get(STRUCTURED_KEY))
        started = time.perf_counter()
        ASKED.set(time.monotonic())
        scope = scope_of(request)
        record, name = record_of(scope), request_name(scope, request.request_id)
        record.tool, record.asked = tool.name, written_arguments(params.arguments)
        try:
            arguments = parse(tool.name, tool.parameters, params.arguments or {})
            rendered = await self._answer(request, tool, arguments, structured)
        except CodenibError as error:
            rendered = render(failure(error), _ERROR_TOKENS, structured=structured)
        except anyio.get_cancelled_exc_class():
            record.outcome = "cancelled"
            log_event(f"{tool.name} cancelled", request=name, repository=self._context.name)
            raise
        record.outcome = outcome = "failed" if rendered.failed else "answered"
        record.tokens += int(rendered.facts.get("tokens", 0))
        took = round((time.perf_counter() - started) * 1000)
        log_event(f"{tool.name} {outcome}", request=name, ms=took, repository=self._context.name)
        if self.journal is not None:
            journal, session = self.journal(requester_of(scope))
            asked = params.arguments or {}
            journal.note(tool.name, asked, rendered.facts, rendered.given, rendered.failed, session=session)
        return _result(rendered, structured)

    async def _answer(
        self, request: Request, tool: McpTool, arguments: dict[str, Any], structured: bool
    ) -> Rendered:
        """Run a tool in a thread, and tell the client of long work meanwhile."""
        scope, meter = scope_of(request), ProgressMeter()
        record, asker = record_of(scope), requester_of(scope)
        views, turns = record.grant.view_kinds, self.lanes[tool.lane(arguments)]
        if tool.waits:
            await self._until_ready(request, meter)
        if tool.needs is not None:
            self._context.require(tool.needs, views)
        cheaper, queued = tool.ranks(arguments) and turns.plan_for(asker) == "cheaper", time.monotonic()
        record.plan = "cheaper" if cheaper else ""

        def run() -> Rendered:
            began = time.monotonic()
            record.waited_s = began - queued
            try:
                return _run(
                    self._context,
                    tool,
                    arguments,
                    views=views,
                    sent=self._sent,
                    cheaper=cheaper,
                    structured=structured,
                )
            finally:
                record.served_s = time.monotonic() - began

        with anyio.move_on_after(_CALL_S):
            async with anyio.create_task_group() as group:
                group.start_soon(self._tell, request, meter)
                try:
                    rendered = await turns.run(asker, run)
                except CodenibError as error:  # inside the group, which would wrap it
                    rendered = render(failure(error), _ERROR_TOKENS, structured=structured)
                group.cancel_scope.cancel()
            return rendered
        raise StateError(f"{tool.name} took more than {_CALL_S:.0f} s", hint="narrow the question")

    async def _until_ready(self, request: Request, meter: ProgressMeter) -> None:
        """Wait for the first index; when it takes long, say how far it is."""
        if self._context.check():
            return
        problem: CodenibError | None = None
        with anyio.move_on_after(self._wait_s):
            async with anyio.create_task_group() as group:
                group.start_soon(self._tell, request, meter)
                try:
                    while not self._context.check():
                        await anyio.sleep(_STEP_S)
                except CodenibError as error:  # the group would make it an error of the protocol
                    problem = error
                group.cancel_scope.cancel()
        if problem is not None:
            raise problem
        if not self._context.check():
            what = (
                f"{self._context.name} is being indexed: {self._context.work}. read and status work meanwhile"
            )
            raise StateError(what, hint="ask again in a few seconds")

    async def _tell(self, request: Request, meter: ProgressMeter) -> None:
        """Report the background work until cancelled; what was done before this call is not reported."""
        before = self._context.work if self._context.state == "ready" else None
        while True:
            await anyio.sleep(_TELL_S)
            work = self._context.work
            if work.stage and work != before:
                done, total = meter.after(work.stage, work.done, work.total)
                await request.session.report_progress(done, total, message=str(work))

    # -- resources and prompts

    async def list_resources(
        self, request: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        rows = [
            types.Resource(uri=uri, name=name, description=about, mime_type="application/json")
            for uri, (name, about) in RESOURCES.items()
        ]
        return types.ListResourcesResult(resources=rows)

    async def list_resource_templates(
        self, request: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        uri, (name, about) = FILE_TEMPLATE
        row = types.ResourceTemplate(uri_template=uri, name=name, description=about, mime_type="text/plain")
        return types.ListResourceTemplatesResult(resource_templates=[row])

    async def read_resource(
        self, request: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        makers: dict[str, Callable[[], Any]] = {
            "codenib://status": partial(_status, self._context),
            "codenib://manifest": self._context.manifest,
        }
        maker = makers.get(str(params.uri))
        if str(params.uri).startswith(FILE_URI):
            maker = partial(_lines, self._context, str(params.uri))
        if maker is None:
            known = ", ".join((*makers, FILE_TEMPLATE[0]))
            raise MCPError(types.INVALID_PARAMS, f"no resource {str(params.uri)[:200]!r}; there are {known}")
        try:
            value = await anyio.to_thread.run_sync(maker, abandon_on_cancel=True)
        except CodenibError as error:
            message, hint = error_for_tools(error)
            raise MCPError(types.INTERNAL_ERROR, f"{message}; try: {hint}" if hint else message) from error
        plain = isinstance(value, str)
        record = record_of(scope_of(request))
        text = value if plain else msgspec.json.encode(value).decode("utf-8", "replace")
        kind = "text/plain" if plain else "application/json"
        record.asked, record.tokens = str(params.uri), record.tokens + count(text)
        content = types.TextResourceContents(uri=str(params.uri), mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(
        self, request: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        rows = [
            types.Prompt(
                name=name,
                description=about,
                arguments=[
                    types.PromptArgument(name=key, description=meaning, required=True)
                    for key, meaning in arguments.items()
                ],
            )
            for name, (about, arguments, _) in PROMPTS.items()
        ]
        return types.ListPromptsResult(prompts=rows)

    async def get_prompt(
        self, request: Request, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name not in PROMPTS:
            known = ", ".join(PROMPTS)
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name[:80]!r}; there are {known}")
        about, arguments, text = PROMPTS[params.name]
        given = params.arguments or {}
        if missing := [name for name in arguments if not given.get(name)]:
            raise MCPError(types.INVALID_PARAMS, f"prompt {params.name} needs {', '.join(missing)}")
        for name in arguments:
            text = text.replace("{" + name + "}", given[name])
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=about, messages=[message])


def _run(
    context: ServerContext,
    tool: McpTool,
    arguments: dict[str, Any],
    *,
    views: frozenset[ViewKind] | None,
    sent: SentLines | None,
    cheaper: bool,
    structured: bool,
) -> Rendered:
    """One tool call as it is sent, made in a thread: counting the tokens of a long reply takes long, too.

    Whatever goes wrong is an answer: no call may end the server.
    """
    try:
        started = time.perf_counter()
        with context.workspace(first=tool.navigates, views=views) as workspace:
            reply = tool.run(
                Call(context, workspace, arguments, sent, cheaper=cheaper, structured=structured)
            )
            reply = replace(reply, facts={**reply.facts, "seconds": rounded(time.perf_counter() - started)})
            check_cancelled()  # what nobody gets was not sent
            return render(reply, int(arguments["max_tokens"]), structured=structured)
    except CodenibError as error:
        wrong = failure(error)
    except OSError as error:
        wrong = failure(fault_of(error))
    except Exception as error:  # noqa: BLE001 - the one catch-all of the server, as main() has its own
        _log.exception("%s failed", tool.name)  # to standard error, which clients keep as the server's log
        wrong = failure(
            CodenibError(f"internal error: {type(error).__name__}: {error}", hint="codenib doctor")
        )
    return render(wrong, int(arguments["max_tokens"]), structured=structured)


def _lines(context: ServerContext, uri: str) -> str:
    """The text of a place that a reply linked."""
    path, start, end = PlaceLink.parse(uri)
    with context.workspace() as workspace:
        return workspace.read(path, start, end).text


def _status(context: ServerContext) -> dict[str, Any]:
    with context.workspace() as workspace:
        report = workspace.status()
    return {
        "repository": context.name,
        "state": context.state,
        "work": str(context.work),
        "snapshot": SnapshotId(report.snapshot, report.commit, report.dirty),
        "freshness": Freshness("fresh" if report.fresh else "stale" if report.indexed_snapshot else "absent"),
        "files": report.files,
        "skipped": report.skipped,
        "views": {kind: record.status for kind, record in report.views.items()},
        "missing": [kind for kind in ViewKind if kind not in report.views],
        "exact_events": context.events.watching,
    }


def _result(rendered: Rendered, structured: bool) -> types.CallToolResult:
    facts = msgspec.to_builtins(rendered.facts)
    links = [
        types.ResourceLink(
            type="resource_link",
            uri=link.uri,
            name=link.name,
            annotations=types.Annotations(audience=["user"]),  # the model has the places in the text
        )
        for link in rendered.links
    ]
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=rendered.text), *links],
        structured_content=facts if structured else None,
        is_error=rendered.failed,
        _meta=None if structured else {FACTS_KEY: facts},
    )
