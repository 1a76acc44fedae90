"""Questions to many repositories over HTTP: a JSON object in, what the command prints with `--json` out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from codenib.adapters.envelopes.answers import read_reply
from codenib.adapters.envelopes.envelope import Envelope, ErrorFacts, ErrorReply, whole
from codenib.adapters.envelopes.fleet_answers import (
    FleetNameItem,
    fleet_regex_reply,
    fleet_search_reply,
    fleet_symbols_reply,
)
from codenib.adapters.mcp.fleet_calls import FleetCalls
from codenib.adapters.mcp.record import record_of, written_arguments
from codenib.adapters.mcp.tools.arguments import Parameter, parse
from codenib.adapters.mcp.tools.catalogue import PATHS, K
from codenib.adapters.mcp.tools.tool import Lane
from codenib.adapters.mcp.transport.guard import Site
from codenib.adapters.mcp.turns import Requester
from codenib.core.errors import UNDECODABLE, CodenibError, InputError
from codenib.core.views import ViewKind
from codenib.fleet.search.fleet import Fleet
from codenib.fleet.search.ranked import DEFAULT_ASKED
from codenib.serving.context.tokens import count

#: Where the addresses of questions begin.
FLEET_API = "/v1"
#: Where the site of all repositories is, for the audit log.
FLEET = Path("fleet")
_STATUS = {2: 400, 3: 409, 4: 502}  # by exit code
_REPOS = Parameter("repos", "strings", "names or globs of repositories; !glob excludes")
_NAME = (
    Parameter("name", "string", required=True),
    Parameter("k", "integer", default=20, least=1, most=1000),
)

Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FleetQuestion:
    """A question as data: its arguments, what answers it, by which view, and whom it takes turns with."""

    ask: Callable[[Fleet, Given], Envelope[Any]]
    parameters: tuple[Parameter, ...] = ()
    needs: ViewKind | None = ViewKind.LEXICAL
    lane: Lane = "calls"


def _search(fleet: Fleet, given: Given) -> Envelope[Any]:
    answer = fleet.search(
        given["query"], k=given["k"], level=given["level"], paths=given["paths"] or (), tests=given["tests"],
        ask=given["ask"], repos=given["repos"] or (),
    )  # fmt: skip
    return fleet_search_reply(answer)


def _regex(fleet: Fleet, given: Given) -> Envelope[Any]:
    answer = fleet.regex(
        given["pattern"], k=given["k"], ignore_case=given["ignore_case"], literal=given["literal"],
        multiline=given["multiline"], paths=given["paths"] or (), repos=given["repos"] or (),
    )  # fmt: skip
    return fleet_regex_reply(answer)


def _symbols(fleet: Fleet, given: Given) -> Envelope[Any]:
    return fleet_symbols_reply(fleet.symbols(given["name"], k=given["k"], repos=given["repos"] or ()))


def _definition(fleet: Fleet, given: Given) -> Envelope[Any]:
    return fleet_symbols_reply(fleet.definitions(given["name"], k=given["k"], repos=given["repos"] or ()))


def _read(fleet: Fleet, given: Given) -> Envelope[Any]:
    started = time.perf_counter()
    passage = fleet.read(given["repo"], given["path"], given["start"], given["end"])
    return read_reply(passage, time.perf_counter() - started)


def _repositories(fleet: Fleet, given: Given) -> Envelope[Any]:
    started = time.perf_counter()
    items = tuple(FleetNameItem(member.name) for member in fleet.members(given["repos"] or ()))
    return whole(items, "catalogue", time.perf_counter() - started)


FLEET_QUESTIONS = {
    "search": FleetQuestion(
        _search,
        (
            Parameter("query", "string", required=True),
            K,
            Parameter("level", "string", default="unit", choices=("unit", "file")),
            PATHS,
            Parameter("tests", "string", choices=("include", "exclude", "lower")),
            Parameter("ask", "integer", "repositories to open", DEFAULT_ASKED, least=1, most=100),
            _REPOS,
        ),
    ),
    "regex": FleetQuestion(
        _regex,
        (
            Parameter("pattern", "string", required=True),
            Parameter("k", "integer", "how many lines", 100, least=1, most=2000),
            Parameter("ignore_case", "boolean", default=False),
            Parameter("literal", "boolean", default=False),
            Parameter("multiline", "boolean", default=False),
            PATHS,
            _REPOS,
        ),
        ViewKind.TRIGRAM,
        "scans",
    ),
    "symbols": FleetQuestion(_symbols, (*_NAME, _REPOS)),
    "definition": FleetQuestion(_definition, (*_NAME, _REPOS)),
    "read": FleetQuestion(
        _read,
        (
            Parameter("repo", "string", "its name", required=True),
            Parameter("path", "string", required=True),
            Parameter("start", "integer", least=1),
            Parameter("end", "integer", least=1),
        ),
        None,
    ),
    "repositories": FleetQuestion(_repositories, (_REPOS,), None),
}


def question_sites(calls: FleetCalls) -> dict[str, Site]:
    """The address of each question, and what answers there."""
    return {
        f"{FLEET_API}/{name}": Site(
            FLEET, _app(name, question, calls), "fleet", busy_s=_busy(question, calls)
        )
        for name, question in FLEET_QUESTIONS.items()
    }


def _busy(question: FleetQuestion, calls: FleetCalls) -> Callable[[bytes, Requester], float]:
    return lambda body, asker: calls.lanes[question.lane].busy_s(asker)


def _app(name: str, question: FleetQuestion, calls: FleetCalls) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        record = record_of(scope)
        record.tool = name
        try:
            given = _object(await Request(scope, receive).body())
            record.asked = written_arguments(given)
            arguments = parse(name, question.parameters, given)

            def ask(fleet: Fleet) -> tuple[bytes, int]:
                body = msgspec.json.encode(question.ask(fleet, arguments))
                return body, count(body.decode("utf-8", "replace"))

            body, tokens = await calls.run(scope, name, ask, needs=question.needs, lane=question.lane)
        except CodenibError as error:
            record.outcome = "failed"
            facts = ErrorFacts(type(error).__name__, error.message, error.hint)
            body, status = msgspec.json.encode(ErrorReply(facts)), _STATUS.get(error.exit_code, 500)
        else:
            record.tokens += tokens
            status = 200
        await Response(body, status, media_type="application/json")(scope, receive, send)

    return answer


def _object(body: bytes) -> dict[str, Any]:
    """The arguments of a question; without a body there are none."""
    try:
        return msgspec.json.decode(body or b"{}", type=dict[str, Any])
    except UNDECODABLE as error:
        raise InputError(
            f"the body is not a JSON object: {error}", hint='{"query": "parse config"}'
        ) from error
