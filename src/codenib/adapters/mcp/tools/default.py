"""The tools that every client gets: a call's arguments in, a reply out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.mcp.tools.arguments import Parameter, schema_of
from codenib.adapters.mcp.tools.replies import (
    LEAST_TOKENS,
    ToolReply,
    counted,
    head_line,
    numbered,
    shown_snapshot,
    snapshot_facts,
)
from codenib.core.answers import Answer, RegexAnswer
from codenib.core.requests import CURRENT
from codenib.core.symbols import NavigationAnswer
from codenib.core.views import Status, ViewKind
from codenib.serving.context.excerpt import declared_as
from codenib.serving.workspace import Workspace

_WIDEST = 200  # characters of a source line in a list
_BODIES = 1  # definitions that are shown with their lines: parsing a file takes 8 ms for 900 lines
_BODY_LINES = 60
_HEAD_TOKENS = 45  # what the head of a pack may take


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: its checked arguments, and the workspace that it may use."""

    context: ServerContext
    workspace: Workspace
    arguments: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: what a model is told of it, and what it does.

    `waits` says that it needs the first index; `navigates` that it may ask a language server; `needs` names
    the view without which it is an error.
    """

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    run: Callable[[Call], ToolReply]
    waits: bool = True
    navigates: bool = False
    needs: ViewKind | None = None

    @property
    def schema(self) -> dict[str, Any]:
        return schema_of(self.parameters)


def budget(default: int) -> Parameter:
    """The argument that every tool has."""
    return Parameter("max_tokens", "integer", "limit of the reply", default, least=LEAST_TOKENS, most=100_000)


QUERY = Parameter("query", "string", required=True)
K = Parameter("k", "integer", "how many results", 10, least=1, most=200)
PATHS = Parameter("paths", "strings", "only these globs, e.g. src/**; !glob excludes")
WHERE = (
    Parameter("name", "string", "the symbol, e.g. parse or Cart.total"),
    Parameter("path", "string", "a file that has the name"),
    Parameter("line", "integer", "where in that file (1-based); near is enough", least=1),
)


def explore(call: Call) -> ToolReply:
    """A context pack."""
    pack = call.workspace.explore(
        call["query"],
        max_tokens=max(call["max_tokens"] - _HEAD_TOKENS, 1),
        paths=call["paths"] or (),
    )
    head = head_line(str(pack.plan.route), shown_snapshot(pack.snapshot))
    facts = {
        **snapshot_facts(pack.snapshot, pack.refreshed),
        "provider": str(pack.plan.route),
        "plan": pack.plan,
        "total": pack.total,
        "shown": pack.total - pack.omitted,
        "truncated": pack.omitted > 0,
        "places": [
            {
                "path": block.path,
                "line": block.start_line,
                "end_line": block.end_line,
                "symbol": block.symbol,
                "form": block.form,
            }
            for block in pack.blocks
        ],
    }
    return ToolReply(
        head, [pack.text.rstrip("\n").replace("all lines: codenib read", "all lines: read")], facts
    )


def search(call: Call) -> ToolReply:
    """Ranked units, or with `regex` exact lines."""
    if call["regex"]:
        found = call.workspace.regex(call["query"], k=call["k"], paths=call["paths"] or ())
        return lines_reply(found)
    return ranked_reply(call, "auto")


def ranked_reply(call: Call, route: str) -> ToolReply:
    """Ranked units, a line each: place, name, declaration."""
    answer = call.workspace.search(call["query"], k=call["k"], route=route, paths=call["paths"] or ())
    texts = call.workspace.texts(answer.items, at_snapshot=answer.snapshot.id)
    entries = []
    for item, text in zip(answer.items, texts, strict=True):
        declared = declared_as(text, item.symbol)
        entries.append(f"{item.path}:{item.start_line}-{item.end_line} {_named(item.symbol, declared)}")
    what = counted(len(answer.items), answer.total, "units")
    head = head_line(what, str(answer.plan.route), shown_snapshot(answer.snapshot))
    return ToolReply(head, entries, _search_facts(answer), "raise max_tokens or k", total=answer.total)


def lines_reply(found: RegexAnswer) -> ToolReply:
    """Matching lines below their files."""
    entries, last = [], ""
    for match in found.items:
        place = match.path if match.path != last else ""
        last = match.path
        entries.append(f"{place}{':' if place else '  '}{match.line} {_short(match.text.strip())}")
    what = counted(len(found.items), found.total, "lines")
    notes = "" if found.complete else "stopped by its time limit"
    head = head_line(
        f"{what} in {found.files:,} files", found.provider, shown_snapshot(found.snapshot), notes
    )
    facts = {
        **snapshot_facts(found.snapshot, found.refreshed),
        "provider": found.provider,
        "total": found.total,
        "shown": len(found.items),
        "truncated": found.truncated,
        "complete": found.complete,
        "places": [{"path": match.path, "line": match.line} for match in found.items],
    }
    return ToolReply(head, entries, facts, "raise max_tokens or k, or narrow paths", total=found.total)


def place_of(call: Call) -> tuple[str, str]:
    """Where to ask, and the name that stands there."""
    return call.workspace.navigator.places.near(call["name"], call["path"], call["line"], CURRENT)


def definition(call: Call) -> ToolReply:
    """Where a name is declared, with the lines of the declaration."""
    where, name = place_of(call)
    answer = call.workspace.definition(where, name=name)
    entries = []
    for at, (place, line) in enumerate(zip(answer.locations, call.workspace.lines(answer), strict=True)):
        body = _body(call, answer.snapshot.id, place.path, place.line) if at < _BODIES else []
        shown = body or [_short(line.strip())]
        entries.append("\n".join([f"{place.path}:{place.line}", *shown]))
    return _navigated(answer, entries, "definitions", call["name"])


def references(call: Call) -> ToolReply:
    """Every use of a name, a line each, below their files."""
    where, name = place_of(call)
    answer = call.workspace.references(where, name=name, limit=call["k"])
    entries, last = [], ""
    for place, line in zip(answer.locations, call.workspace.lines(answer), strict=True):
        shown = f"{place.path}:" if place.path != last else "  "
        last = place.path
        entries.append(f"{shown}{place.line} {_short(line.strip())}")
    return _navigated(answer, entries, "references", call["name"])


def read(call: Call) -> ToolReply:
    """Lines of a file, numbered."""
    passage = call.workspace.read(call["path"], call["start"], call["end"])
    lines = numbered(passage.text, passage.start_line) if passage.text or passage.lines else []
    span = f"{passage.path}:{passage.start_line}-{passage.end_line}"
    head = head_line(span, f"{passage.lines:,} lines", shown_snapshot(passage.snapshot))
    facts = {
        **snapshot_facts(passage.snapshot),
        "provider": "snapshot",
        "total": passage.lines,
        "shown": len(lines),
        "truncated": len(lines) < passage.lines,
        "places": [{"path": passage.path, "line": passage.start_line, "end_line": passage.end_line}],
    }
    return ToolReply(head, lines, facts, "raise max_tokens, or give start and end")


def status(call: Call) -> ToolReply:
    """What is ready, for which snapshot, and what is being done."""
    context = call.context
    report = call.workspace.status()
    manifest = context.manifest()
    views = {kind: record.status for kind, record in (manifest.views if manifest else {}).items()}
    entries = [f"{report.files:,} files; changed since the last index: {report.added + report.changed}"]
    entries.append(f"state: {context.state}{f' ({context.work})' if context.work.stage else ''}")
    for kind in ViewKind:
        state = views.get(kind)
        how = "" if state is Status.FRESH else f" (codenib index --views {kind})"
        entries.append(f"{kind}: {state or 'not built'}{how}")
    exact = "at once" if context.events.watching else f"within a second ({context.events.note or 'starting'})"
    entries.append(f"edits are seen {exact}")
    if report.skipped:
        entries.append("not indexed: " + ", ".join(f"{often} {why}" for why, often in report.skipped.items()))
    facts = {
        "snapshot": {"id": report.snapshot, "commit": report.commit, "dirty": report.dirty},
        "fresh": report.fresh,
        "provider": "status",
        "state": context.state,
        "files": report.files,
        "views": {str(kind): str(state) for kind, state in views.items()},
        "total": len(entries),
    }
    commit = (report.commit or report.snapshot)[:7]
    return ToolReply(head_line(context.name, f"{commit}{'+edits' if report.dirty else ''}"), entries, facts)


def _body(call: Call, snapshot: str, path: str, line: int) -> list[str]:
    """The lines of the smallest unit that begins at or around a line."""
    unit = call.workspace.reader.declared_at(path, line, snapshot)
    if unit is None:
        return []
    first, last = unit.span.start_line, unit.span.end_line
    lines = unit.text.rstrip().split("\n")
    blank = next((at for at, each in enumerate(lines) if each.strip()), 0)
    lines = lines[blank:]
    shown = numbered("\n".join(lines[:_BODY_LINES]), first + blank)
    left = len(lines) - _BODY_LINES
    return [*shown, f"… {left} lines: read {path} {first}-{last}"] if left > 0 else shown


def _navigated(answer: NavigationAnswer, entries: Sequence[str], what: str, name: str | None) -> ToolReply:
    note = answer.note if answer.provider != "live" else ""
    outside = f"{answer.outside} outside the repository" if answer.outside else ""
    head = head_line(
        f"{counted(len(answer.locations), answer.total, what)} of {answer.asked or name or answer.position}",
        f"{answer.provider} {answer.backend}" if answer.provider != "syntactic" else "by name alone",
        outside,
        shown_snapshot(answer.snapshot),
        note,
    )
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "provider": answer.provider,
        "backend": answer.backend,
        "granularity": answer.granularity,
        "completeness": answer.completeness,
        "asked": str(answer.position),
        "total": answer.total,
        "shown": len(answer.locations),
        "outside": answer.outside,
        "truncated": answer.total > len(answer.locations),
        "note": answer.note,
        "places": [
            {"path": place.path, "line": place.line, "column": place.column + 1} for place in answer.locations
        ],
    }
    return ToolReply(head, entries, facts, "raise max_tokens or k", total=answer.total)


def _search_facts(answer: Answer) -> dict[str, Any]:
    return {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "provider": str(answer.plan.route),
        "plan": answer.plan,
        "total": answer.total,
        "shown": len(answer.items),
        "truncated": answer.truncated,
        "places": [
            {
                "path": item.path,
                "line": item.start_line,
                "end_line": item.end_line,
                "symbol": item.symbol,
                "score": round(item.score, 3),
            }
            for item in answer.items
        ],
    }


def _named(symbol: str, declared: str) -> str:
    """The owner of a declaration with its first line; the name alone is in it already."""
    owner = symbol.rpartition(".")[0]
    return f"{owner} · {_short(declared)}" if owner else _short(declared)


def _short(line: str) -> str:
    return line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…"


DEFAULT_TOOLS = (
    McpTool(
        "explore",
        "Start here. Answers a question about this repository (words, an error, an issue's text) with the"
        " most relevant code, within max_tokens.",
        (QUERY, PATHS, budget(4000)),
        explore,
    ),
    McpTool(
        "search",
        "Ranked functions, classes and sections that match words or identifiers: place and declaration."
        " With regex=true: exact lines that match a pattern.",
        (QUERY, Parameter("regex", "boolean", default=False), K, PATHS, budget(2000)),
        search,
    ),
    McpTool(
        "definition",
        "Where a name is declared, with its code. Give name, or path and line with the name on it.",
        (*WHERE, budget(2000)),
        definition,
        navigates=True,
    ),
    McpTool(
        "references",
        "Every use of a name. Give name, or path and line with the name on it.",
        (*WHERE, Parameter("k", "integer", "how many places", 100, least=1, most=2000), budget(2000)),
        references,
        navigates=True,
    ),
    McpTool(
        "read",
        "A file of the repository, or lines start to end (1-based), as it is now.",
        (
            Parameter("path", "string", required=True),
            Parameter("start", "integer", least=1),
            Parameter("end", "integer", least=1),
            budget(6000),
        ),
        read,
        waits=False,
    ),
    McpTool("status", "What is indexed and ready, and how fresh.", (budget(500),), status, waits=False),
)
