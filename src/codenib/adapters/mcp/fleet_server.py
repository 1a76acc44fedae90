"""A fleet in, one MCP server over all of its repositories out: tools with an optional `repo`.

Answers are from what `codenib fleet index` published last; nothing is built for a question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from codenib import __version__
from codenib.adapters.envelopes.envelope import snapshot_id
from codenib.adapters.envelopes.fleet_answers import coverage_item
from codenib.adapters.mcp.fleet_calls import FleetCalls
from codenib.adapters.mcp.record import record_of, scope_of, written_arguments
from codenib.adapters.mcp.server import open_lanes
from codenib.adapters.mcp.tools.arguments import Parameter, parse, schema_of
from codenib.adapters.mcp.tools.catalogue import PATHS, K, budget
from codenib.adapters.mcp.tools.replies import (
    FACTS_KEY,
    Rendered,
    ToolReply,
    counted,
    describe_snapshot,
    failure,
    head_line,
    numbered,
    render,
    shorten,
)
from codenib.adapters.mcp.tools.tool import Lane
from codenib.core.errors import CodenibError
from codenib.core.views import ViewKind
from codenib.fleet.search.answers import FleetCoverage, FleetSymbols
from codenib.fleet.search.fleet import Fleet

Arguments = Mapping[str, Any]
_ERROR_TOKENS = 2000
_INSTRUCTIONS = (
    "Code of many repositories. search finds places by words in all of them, definition where an imported"
    " name is declared; then read. repo narrows to names or globs. Each answer says who was asked."
)
_REPO = Parameter("repo", "string", "name or glob of repositories; all without it")


@dataclass(frozen=True, slots=True)
class FleetTool:
    """A tool over many repositories: what a model is told of it, what answers, and with which view."""

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    run: Callable[[Fleet, Arguments], ToolReply]
    needs: ViewKind | None = ViewKind.LEXICAL
    lane: Lane = "calls"


def _search(fleet: Fleet, given: Arguments) -> ToolReply:
    answer = fleet.search(given["query"], k=given["k"], paths=given["paths"] or (), repos=_repos(given))
    entries: list[str] = []
    items: list[dict[str, Any]] = []
    for item in answer:
        place = item.place
        entries.append(f"{item.repository} {place.path}:{place.start_line} {place.symbol or place.kind}")
        items.append({"repository": item.repository, "path": place.path, "line": place.start_line,
                      "end_line": place.end_line, "symbol": place.symbol, "score": item.score})  # fmt: skip
    head = head_line(counted(len(entries), answer.total, "units"), _asked(answer.coverage), answer.note)
    return ToolReply(head, entries, _facts(items, answer.total, answer.coverage))


def _grep(fleet: Fleet, given: Arguments) -> ToolReply:
    answer = fleet.regex(
        given["pattern"], k=given["k"], ignore_case=given["ignore_case"], paths=given["paths"] or (),
        repos=_repos(given),
    )  # fmt: skip
    entries = [
        f"{item.repository} {item.match.path}:{item.match.line} {shorten(item.match.text)}" for item in answer
    ]
    items = [
        {"repository": item.repository, "path": item.match.path, "line": item.match.line} for item in answer
    ]
    whole = "complete" if answer.complete else "not complete"
    counts = counted(len(entries), answer.total, "lines")
    head = head_line(counts, whole, _asked(answer.coverage), answer.note)
    return ToolReply(head, entries, _facts(items, answer.total, answer.coverage))


def _definition(fleet: Fleet, given: Arguments) -> ToolReply:
    return _declared(fleet.definitions(given["name"], k=given["k"], repos=_repos(given)))


def _declared(answer: FleetSymbols) -> ToolReply:
    entries: list[str] = []
    items: list[dict[str, Any]] = []
    for item in answer:
        symbol = item.symbol
        package = f" ({item.package})" if item.package else ""
        entries.append(
            f"{item.repository} {symbol.path}:{symbol.line} {symbol.kind} {symbol.qualified}{package}"
        )
        place = {"repository": item.repository, "path": symbol.path, "line": symbol.line}
        items.append(
            place | {"end_line": symbol.end_line, "symbol": symbol.qualified, "package": item.package}
        )
    head = head_line(
        counted(len(entries), answer.total, "declarations"), _asked(answer.coverage), answer.note
    )
    return ToolReply(head, entries, _facts(items, answer.total, answer.coverage))


def _read(fleet: Fleet, given: Arguments) -> ToolReply:
    passage = fleet.read(given["repo"], given["path"], given["start"], given["end"])
    lines = numbered(passage.text, passage.start_line) if passage.text or passage.lines else []
    span = f"{given['repo']} {passage.path}:{passage.start_line}-{passage.end_line}"
    head = head_line(span, f"{passage.lines:,} lines", describe_snapshot(passage.snapshot))
    item = {"repository": given["repo"], "path": passage.path, "line": passage.start_line,
            "end_line": passage.end_line}  # fmt: skip
    facts = {"snapshot": snapshot_id(passage.snapshot), "total": 1, "items": [item]}
    return ToolReply(head, lines, facts, "raise max_tokens, or give start and end")


FLEET_TOOLS = (
    FleetTool(
        "search",
        "Places by words in all repositories, best first; the most promising ones are opened.",
        (Parameter("query", "string", required=True), _REPO, K, PATHS, budget(1500)),
        _search,
    ),
    FleetTool(
        "grep",
        "Every line that matches a regex, in all repositories.",
        (
            Parameter("pattern", "string", required=True),
            _REPO,
            Parameter("ignore_case", "boolean", default=False),
            Parameter("k", "integer", "how many lines", 100, least=1, most=2000),
            PATHS,
            budget(2000),
        ),
        _grep,
        needs=ViewKind.TRIGRAM,
        lane="scans",
    ),
    FleetTool(
        "definition",
        "Where a name that code imports (requests.Session, a.org/chi.NewMux) is declared.",
        (Parameter("name", "string", required=True), _REPO, K, budget(1000)),
        _definition,
    ),
    FleetTool(
        "read",
        "Lines of a file.",
        (
            Parameter("repo", "string", "its name", required=True),
            Parameter("path", "string", required=True),
            Parameter("start", "integer", least=1),
            Parameter("end", "integer", least=1),
            budget(4000),
        ),
        _read,
        needs=None,
    ),
)


def build_fleet_server(calls: FleetCalls) -> Server[Any]:
    """The server of fleets: each call asks that of its own token."""
    tools = {tool.name: tool for tool in FLEET_TOOLS}
    listed = types.ListToolsResult(
        tools=[
            types.Tool(
                name=tool.name,
                description=tool.about,
                input_schema=schema_of(tool.parameters),
                annotations=types.ToolAnnotations(read_only_hint=True),
            )
            for tool in FLEET_TOOLS
        ]
    )

    async def list_tools(
        request: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return listed

    async def call_tool(
        request: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool, given = tools.get(params.name), params.arguments or {}
        if tool is None:
            known = ", ".join(tools)
            raise MCPError(types.INVALID_PARAMS, f"no tool is called {params.name[:80]!r}; there are {known}")
        scope = scope_of(request)
        record = record_of(scope)
        record.tool, record.asked = tool.name, written_arguments(given)
        try:
            ask = _rendering(tool, parse(tool.name, tool.parameters, given))
            rendered = await calls.run(scope, tool.name, ask, needs=tool.needs, lane=tool.lane)
        except CodenibError as error:
            record.outcome = "failed"
            rendered = render(failure(error), _ERROR_TOKENS, structured=False)
        record.tokens += int(rendered.facts.get("tokens", 0))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=rendered.text)],
            is_error=rendered.failed,
            _meta={FACTS_KEY: msgspec.to_builtins(rendered.facts)},
        )

    return Server(
        "codenib-fleet",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_fleet() -> None:
    """Serve the fleet of this home to one client, until it closes our standard input."""

    async def main(fleet: Fleet) -> None:
        server = build_fleet_server(FleetCalls(lambda grant: fleet, open_lanes()))
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    with Fleet() as fleet:
        fleet.members()  # an empty fleet is an error now, not at every call
        anyio.run(main, fleet)


def _rendering(tool: FleetTool, arguments: Arguments) -> Callable[[Fleet], Rendered]:
    """What asks a fleet and writes the reply, within the tokens that it may have."""

    def ask(fleet: Fleet) -> Rendered:
        return render(tool.run(fleet, arguments), arguments["max_tokens"], structured=False)

    return ask


def _repos(given: Arguments) -> Sequence[str]:
    return [given["repo"]] if given["repo"] else ()


def _asked(coverage: FleetCoverage) -> str:
    """Who answered, and whether somebody could not."""
    said = f"asked {len(coverage.asked):,} of {coverage.repositories:,} repositories"
    if coverage.unlikely:
        said += f", {coverage.unlikely:,} fit less"
    if coverage.unavailable:
        said += (
            f", {len(coverage.unavailable):,} could not be asked: {', '.join(list(coverage.unavailable)[:3])}"
        )
    return said


def _facts(items: list[dict[str, Any]], total: int, coverage: FleetCoverage) -> dict[str, Any]:
    return {
        "items": items,
        "total": total,
        "truncated": total > len(items),
        "provider": "fleet",
        "coverage": coverage_item(coverage),
    }
