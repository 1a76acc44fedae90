"""The ordinary tools, over the files of the run's snapshot: grep, read and list; shell by explicit option."""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Mapping
from typing import Any

from codenib.core.errors import InputError
from codenib.runtime.context.messages import ToolSpec
from codenib.runtime.tools.registry import AgentTool, ToolRegistry, ToolResult
from codenib.runtime.views import Contexts

GREP_MATCHES = 50
LIST_ENTRIES = 200
READ_LINES = 400
_LINE_CHARACTERS = 300
_SHELL_S = 60
_SHELL_CHARACTERS = 20_000
# A command that a model writes has no business with the keys that pay for the model.
#: What a command may know of the user's environment: no address, password or key is among them.
_SHELL_VARIABLES = frozenset(
    (
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ", "VIRTUAL_ENV",
        "CONDA_PREFIX", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "GOCACHE", "JAVA_HOME",
    )
)  # fmt: skip


def ordinary_tools(*, shell: bool = False) -> ToolRegistry:
    """What every arm of the paper's study shares; `shell` adds commands of the model's choice."""
    registry = ToolRegistry()
    registry.extend([AgentTool(_GREP, grep), AgentTool(_READ, read), AgentTool(_LIST, list_files)])
    if shell:
        registry.add(AgentTool(_SHELL, run_shell))
    return registry


_GREP = ToolSpec(
    "grep",
    f"Search all files for a regular expression. Up to {GREP_MATCHES} matching lines as path:line: text.",
    {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "Regular expression."},
            "paths": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Globs such as src/**/*.py; !GLOB excludes.",
            },
            "ignore_case": {"type": "boolean"},
        },
        "required": ["pattern"],
    },
)
_READ = ToolSpec(
    "read",
    f"Read a file, or lines of it, with line numbers. At most {READ_LINES} lines a call.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Path from the repository's root."},
            "start_line": {"type": "integer", "minimum": 1},
            "end_line": {"type": "integer", "minimum": 1},
        },
        "required": ["path"],
    },
)
_LIST = ToolSpec(
    "list",
    "List a folder: its files, and its folders with how many files they hold.",
    {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Folder from the root; root by default."}},
    },
)
_SHELL = ToolSpec(
    "shell",
    f"Run a shell command in the worktree; {_SHELL_S} seconds at most.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)


def grep(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """Matching lines in path order."""
    answer = contexts.workspace.regex(
        arguments["pattern"],
        k=GREP_MATCHES,
        ignore_case=arguments.get("ignore_case", False),
        paths=arguments.get("paths", ()),
        refresh="never",
    )
    lines = [f"{match.path}:{match.line}: {_short(match.text)}" for match in answer.items]
    more = answer.total - len(answer.items)
    if more > 0 or not answer.complete:
        least = "" if answer.complete else "at least "
        lines.append(f"[{least}{answer.total} matches in {answer.files} files; narrow the pattern or paths]")
    text = "\n".join(lines) or "No line matches."
    return ToolResult(text, answer.provider, answer.total, more > 0 or not answer.complete)


def read(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """Numbered lines under a head that says which of how many they are."""
    path = relative(contexts, arguments["path"])
    start, end = arguments.get("start_line", 1), arguments.get("end_line")
    if end is not None and end < start:
        raise InputError(f"lines {start} to {end} are none", hint="give start_line before end_line")
    last = min(end or start + READ_LINES - 1, start + READ_LINES - 1)
    passage = contexts.workspace.read(path, start, last, refresh="never")
    if not passage.lines:
        return ToolResult(f"{passage.path} is empty", "snapshot", 0)
    rows = passage.text.split("\n")
    shown = [f"{number}\t{line}" for number, line in enumerate(rows, passage.start_line)]
    wanted = passage.lines if end is None else min(end, passage.lines)
    truncated = passage.end_line < wanted
    head = f"{passage.path}:{passage.start_line}-{passage.end_line} of {passage.lines} lines"
    if truncated:
        head += f"; go on with start_line={passage.end_line + 1}"
    return ToolResult("\n".join([head, *shown]), "snapshot", passage.lines, truncated)


def list_files(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """One level of a folder."""
    folder = relative(contexts, arguments.get("path", "."))
    prefix = "" if folder == "." else f"{folder}/"
    files: list[str] = []
    folders: dict[str, int] = {}
    for path in contexts.workspace.files:
        if path.startswith(prefix):
            name, _, rest = path[len(prefix) :].partition("/")
            if rest:
                folders[name] = folders.get(name, 0) + 1
            else:
                files.append(name)
    rows = [f"{name}/  ({count} files)" for name, count in sorted(folders.items())] + files
    if not rows:
        raise InputError(f"{folder} is not a folder of this snapshot", hint="list the root first")
    shown = rows[:LIST_ENTRIES]
    if len(rows) > len(shown):
        shown.append(f"[{len(rows)} entries; {LIST_ENTRIES} are shown]")
    return ToolResult("\n".join(shown), "snapshot", len(rows), len(rows) > LIST_ENTRIES)


def run_shell(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """What a command prints. Runs code of the model's choice: only there when the user asked for it."""
    env = {name: value for name, value in os.environ.items() if name in _SHELL_VARIABLES or name[:3] == "LC_"}
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", arguments["command"]],
            cwd=contexts.workspace.root,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SHELL_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"the command ran longer than {_SHELL_S} s", hint="a smaller command") from error
    output = done.stdout.decode("utf-8", "replace")
    cut = len(output) > _SHELL_CHARACTERS
    text = output[:_SHELL_CHARACTERS] + (f"\n[{len(output):,} characters in all]" if cut else "")
    return ToolResult(f"{text.rstrip()}\n[exit {done.returncode}]".lstrip(), "shell", len(output), cut)


def relative(contexts: Contexts, path: str) -> str:
    """A model's path, written from the root: `./a`, `/a` and the absolute path all mean `a`."""
    root = contexts.workspace.root.as_posix()
    inside = path.strip().removeprefix(f"{root}/") if path.strip() != root else "."
    name = posixpath.normpath(inside.lstrip("/") or ".")
    if name.startswith("../") or name == "..":
        raise InputError(f"{path} is outside the repository", hint="list the root first")
    return name


def _short(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _LINE_CHARACTERS else f"{text[:_LINE_CHARACTERS]}…"
