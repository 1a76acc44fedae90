"""Every tool, as data: what a model is told, which arguments it takes, and what answers.

`DEFAULT_TOOLS` are those that every client gets; `ALL_TOOLS` are the paper's whole surface (`--tools all`).
"""

from __future__ import annotations

from codenib.adapters.mcp.tools.arguments import Parameter
from codenib.adapters.mcp.tools.files import history, outline, read
from codenib.adapters.mcp.tools.impact import impact
from codenib.adapters.mcp.tools.navigate import callees, callers, definition, dependencies, references, route
from codenib.adapters.mcp.tools.replies import LEAST_TOKENS
from codenib.adapters.mcp.tools.search import (
    explore,
    grep,
    map,
    search,
    search_bm25,
    search_regex,
    search_semantic,
    search_zoekt,
)
from codenib.adapters.mcp.tools.status import get_manifest, status
from codenib.adapters.mcp.tools.tool import McpTool
from codenib.core.views import ViewKind


def budget(default: int) -> Parameter:
    """The argument that every tool has; its name says what it is."""
    return Parameter("max_tokens", "integer", default=default, least=LEAST_TOKENS, most=100_000)


QUERY = Parameter("query", "string", required=True)
K = Parameter("k", "integer", default=10, least=1, most=200)
PATHS = Parameter("paths", "strings", "globs, e.g. src/**; !glob excludes")
NAME = Parameter("name", "string", "e.g. parse or Cart.total")
WHERE = (
    NAME,
    Parameter("path", "string", "a file that has it"),
    Parameter("line", "integer", "about where", least=1),
)
_DEPTH = Parameter("depth", "integer", "steps", 1, least=1, most=5)
_MANY = Parameter("k", "integer", default=50, least=1, most=500)
_PATTERN = (
    Parameter("pattern", "string", "a regular expression", required=True),
    Parameter("ignore_case", "boolean", default=False),
    Parameter("k", "integer", "how many lines", 100, least=1, most=2000),
    PATHS,
    budget(2000),
)
_AROUND = (*WHERE, _DEPTH, _MANY, budget(2000))

DEFAULT_TOOLS = (
    McpTool(
        "explore",
        "Start here instead of grep and reading files: the code that answers a question, an error or an"
        " issue's text, ranked, within max_tokens.",
        (
            QUERY,
            PATHS,
            Parameter("again", "boolean", "repeat lines already sent", False),
            budget(4000),
        ),
        explore,
        ranks=lambda arguments: True,
    ),
    McpTool(
        "search",
        "Places by words or meaning, where grep needs the exact text: ranked functions and classes, without"
        " code. like=path:line finds code that resembles a place.",
        (Parameter("query", "string"), Parameter("like", "string"), K, PATHS, budget(1500)),
        search,
        ranks=lambda arguments: not arguments["like"],
    ),
    McpTool(
        "grep",
        "Every line that matches a regex. For text that is no name: messages, settings, comments.",
        (
            Parameter("pattern", "string", required=True),
            Parameter("mode", "string", default="lines", choices=("lines", "files", "count")),
            Parameter("context", "integer", default=0, least=0, most=50),
            Parameter("ignore_case", "boolean", default=False),
            Parameter("multiline", "boolean", default=False),
            Parameter("k", "integer", default=100, least=1, most=2000),
            PATHS,
            budget(2000),
        ),
        grep,
        scans=lambda arguments: True,
    ),
    McpTool(
        "outline",
        "What a file declares, with lines, or what a folder holds. Before reading a long file.",
        (Parameter("path", "string", default="."), budget(2000)),
        outline,
    ),
    McpTool(
        "definition",
        "Where a name is declared, with its code. Give name; path and line where several things have it.",
        (*WHERE, budget(2000)),
        definition,
        navigates=True,
    ),
    McpTool(
        "references",
        "Every use of a name, resolved where it can be: without grep's comments and namesakes. callers=true:"
        " the functions that call it.",
        (
            *WHERE,
            Parameter("callers", "boolean", default=False),
            Parameter("k", "integer", default=100, least=1, most=2000),
            budget(2000),
        ),
        references,
        navigates=True,
    ),
    McpTool(
        "impact",
        "Before or after an edit: what depends on it, which tests reach it, what usually changes with it. Of"
        " a name, a diff, or without both of what is not committed.",
        (
            *WHERE,
            Parameter("diff", "string", "unified"),
            Parameter("k", "integer", default=20, least=1, most=500),
            budget(2000),
        ),
        impact,
        navigates=True,
    ),
    McpTool(
        "read",
        "Lines start to end of a file, as it is now.",
        (
            Parameter("path", "string", required=True),
            Parameter("start", "integer", least=1),
            Parameter("end", "integer", least=1),
            budget(6000),
        ),
        read,
        waits=False,
    ),
    McpTool("status", "What is ready, and how fresh.", (budget(500),), status, waits=False),
)

MORE_TOOLS = (
    McpTool("search_semantic", "Units by meaning.", (QUERY, K, PATHS, budget(2000)), search_semantic,
         needs=ViewKind.DENSE),
    McpTool("search_bm25", "Units by shared words (BM25).", (QUERY, K, PATHS, budget(2000)), search_bm25),
    McpTool("search_regex", "Exact lines, as a scan of every file would find them.", _PATTERN, search_regex,
         scans=lambda arguments: True),
    McpTool("search_zoekt", "The same by zoekt.", _PATTERN, search_zoekt, needs=ViewKind.ZOEKT,
         scans=lambda arguments: True),
    McpTool(
        "dependencies",
        "What a symbol or file uses (out) and what uses it (in).",
        (*WHERE, Parameter("direction", "string", default="both", choices=("in", "out", "both")), _DEPTH,
         _MANY, budget(2000)),
        dependencies, navigates=True,
    ),
    McpTool("callers", "What calls a function.", _AROUND, callers, navigates=True),
    McpTool("callees", "What a function calls.", _AROUND, callees, navigates=True),
    McpTool(
        "route",
        "An ordered list of places to look at, and why: for a query, for symbols, or the shortest chain of"
        " uses between two symbols.",
        (Parameter("query", "string"), Parameter("symbols", "strings"),
         Parameter("k", "integer", "how many", 20, least=1, most=200), budget(1500)),
        route, navigates=True,
    ),
    McpTool(
        "history",
        "Who changed a file or lines of it, when and why.",
        (Parameter("path", "string", required=True), Parameter("start", "integer", least=1),
         Parameter("end", "integer", least=1), Parameter("k", "integer", "how many", 20, least=1, most=500),
         budget(1500)),
        history, needs=ViewKind.HISTORY,
    ),
    McpTool("map", "Folders, files and their most important declarations.",
         (Parameter("query", "string", "prefer what this is about"), budget(1000)), map),
    McpTool("get_manifest", "Which views exist, of which profile.", (budget(4000),), get_manifest,
         waits=False),
)  # fmt: skip

ALL_TOOLS = (*DEFAULT_TOOLS, *MORE_TOOLS)
