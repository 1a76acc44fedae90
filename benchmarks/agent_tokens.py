"""A scripted agent's questions, by our MCP tools and by grep and read: who finds the fact, at what tokens.

    python -P benchmarks/agent_tokens.py CLONE... [--calls 200] [--seed 1] [--json FILE]

The clones are git clones with source in Python, Go, JavaScript, TypeScript or Rust; nothing in them changes.
Each question has a fact that is known from the files themselves, and both sides must show it:

    define    the place of a name's only declaration, and the lines of it
    use       every line, outside of comments and its declaration, that calls a name
    locate    a function, from the first sentence of its documentation without its name
    outline   the name and line of every declaration of a file
    consequence   the functions that call a name, the test files that name it, what changed with its file
    grep      the lines with a word, with a line of context
    read      lines of a file

The other side is ripgrep as agents' grep tools print it (`path:line:text`, capped at 250 lines) and numbered
lines (`cat -n`). It is given what an agent would have to guess: patterns of declarations for the language,
the rarest words of a sentence, the best window to read. Tokens are those of arguments and results
(cl100k_base); a link is counted as the sentence that Gemini's client makes of it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, ResourceLink, TextContent

import codenib
from codenib.serving.context.tokens import count
from codenib.serving.workspace import Workspace

#: How often an agent asks what, in a hundred questions.
SHARES = {"locate": 30, "define": 25, "use": 15, "read": 10, "outline": 8, "consequence": 7, "grep": 5}
_SUFFIXES = (".py", ".go", ".js", ".ts", ".rs")
_DECLARES = r"(?:def|class|func(?: \([^)]*\))?|function|fn|struct|type|const|let|var|interface|trait|enum)"
_KINDS = frozenset(
    re.findall(r"\w+", "function method class struct interface trait enum constructor impl type")
)
_CAP = 250  # lines of one grep
_WINDOW = 100  # lines of one read around a match
_READS = 3  # files that are read for a sentence
_EXPLORE = 1500  # tokens of a pack, chosen on other repositories than the report's
_STOP = frozenset(
    re.findall(r"\w+", "with from that this when into more than for the and not use make remove")
)


@dataclass
class Side:
    """What one way of asking cost, by kind of question."""

    tokens: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    spent: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    shown: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))

    def take(self, kind: str, tokens: int, found: bool) -> None:
        self.spent[kind].append(tokens)
        self.shown[kind].append(found)


class Shell:
    """grep and read, as an agent without us has them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.tokens = 0

    def grep(self, pattern: str, *options: str, paths: tuple[str, ...] = ()) -> list[str]:
        """Lines of ripgrep, capped."""
        command = ["rg", "--no-config", "-n", "--no-heading", "--sort=path", *options, "-e", pattern]
        done = subprocess.run(
            [*command, *(paths or ("./",))], cwd=self._root, capture_output=True, text=True, check=False
        )
        lines = [line.removeprefix("./") for line in done.stdout.splitlines()][:_CAP]
        self.tokens += count(json.dumps({"pattern": pattern, "options": options, "paths": paths}))
        self.tokens += count("\n".join(lines))
        return lines

    def read(self, path: str, start: int, end: int) -> str:
        """Numbered lines, as `cat -n` has them."""
        lines = (self._root / path).read_text(errors="replace").splitlines()[max(start - 1, 0) : end]
        text = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, max(start, 1)))
        self.tokens += count(json.dumps({"path": path, "start": start, "end": end})) + count(text)
        return text

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self._root, capture_output=True, text=True, check=False
        )
        self.tokens += count(" ".join(arguments)) + count(done.stdout)
        return done.stdout


@dataclass(frozen=True)
class Unit:
    path: str
    line: int
    end: int
    name: str
    symbol: str
    body: str
    text: str


class Material:
    """What a clone's own files say: the facts."""

    def __init__(self, root: Path, workspace: Workspace) -> None:
        self.root = root
        tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
        self.files = [
            path for path in tracked.stdout.splitlines()
            if path.endswith(_SUFFIXES) and (root / path).stat().st_size < 200_000
        ]  # fmt: skip
        self.units = [unit for path in self.files for unit in _units(workspace, path)]
        by_name = Counter(unit.name for unit in self.units)
        self.alone = [unit for unit in self.units if by_name[unit.name] == 1 and len(unit.name) > 4]
        sources = [unit for unit in self.alone if not re.search(r"(?:^|[/_.])(?:test|spec)", unit.path)]
        self.described = [(query, unit) for unit in sources if (query := described(unit.name, unit.text))]


def described(name: str, text: str) -> str:
    """The first sentence of a declaration's documentation, without its name; empty where that says little."""
    found = re.search(r'"""\s*(.+?)(?:\.\s|\n\s*\n|""")', text, re.DOTALL)
    if found is None:
        found = re.match(r"\s*((?:(?:///?|\*|/\*\*)[^\n]*\n\s*)+)", text)
    if found is None:
        return ""
    prose = re.sub(r"^\s*(?:///?|\*/?|/\*\*?)|\s+", " ", found[1], flags=re.MULTILINE)
    sentence = re.sub(rf"`?\b{re.escape(name)}\b`?", "", re.split(r"\.\s|@\w+", prose)[0])
    words = sentence.split()
    return " ".join(words[:25]) if len(words) >= 6 else ""


def _units(workspace: Workspace, path: str) -> Iterator[Unit]:
    try:
        units = workspace.units(path)
    except codenib.CodenibError:
        return
    for unit in units:
        name = re.split(r"[.:#]", unit.symbol)[-1]
        lines = unit.text.split("\n")
        word = re.compile(rf"\b{re.escape(name)}\b")
        code = (
            n for n, line in enumerate(lines) if not re.match(r"\s*(?://|/?\*|#)", line) and word.search(line)
        )
        at = next(code, None)
        if unit.level.name == "L2" and name.isidentifier() and at is not None:
            line = unit.span.start_line + at
            body = "\n".join(lines[at : at + 12]).rstrip()
            if unit.kind in _KINDS:
                yield Unit(path, line, unit.span.end_line, name, unit.symbol, body, unit.text)


def has_lines(text: str, body: str) -> bool:
    """Whether every line of a body that says something is in a text, however it is indented or numbered."""
    lines = [line.strip() for line in body.split("\n") if line.strip()]
    return all(line in text for line in lines)


class Ours:
    """The MCP client's side: one question after the other, in one session."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.tokens = 0
        self.calls = 0
        self.errors: list[str] = []

    async def call(self, tool: str, **arguments: Any) -> str:
        result: CallToolResult = await self._client.call_tool(tool, arguments)
        text = "".join(each.text for each in result.content if isinstance(each, TextContent))
        self.calls += 1
        self.tokens += count(json.dumps(arguments)) + count(text)
        for each in result.content:
            if isinstance(each, ResourceLink):
                self.tokens += count(f"Resource Link: {each.name} at {each.uri}")
        if result.is_error:
            self.errors.append(f"{tool} {arguments}: {text[:200]}")
        return text


class Questions:
    """Each kind of question, asked both ways; a method gives what each side showed."""

    def __init__(self, material: Material, shell: Shell, ours: Ours, chance: random.Random) -> None:
        self._material, self._shell, self._ours, self._chance = material, shell, ours, chance

    async def define(self) -> tuple[bool, bool]:
        unit = self._chance.choice(self._material.alone)
        text = await self._ours.call("definition", name=unit.name)
        lines = self._shell.grep(rf"{_DECLARES}\s+{re.escape(unit.name)}\b")
        lines = lines or self._shell.grep(rf"\b{re.escape(unit.name)}\b")
        seen = self._shell.read(unit.path, unit.line, unit.line + 59)
        placed = any(line.startswith(f"{unit.path}:{unit.line}:") for line in lines)
        return f"{unit.path}:{unit.line}" in text and has_lines(text, unit.body), placed and has_lines(
            seen, unit.body
        )

    async def use(self) -> tuple[bool, bool]:
        unit = self._chance.choice(self._material.alone)
        calls = self._calls(unit)
        text = await self._ours.call("references", name=unit.name, max_tokens=6000)
        lines = self._shell.grep(rf"\b{re.escape(unit.name)}\b")
        seen = {tuple(line.split(":", 2)[:2]) for line in lines}
        return calls <= _places(text), {(path, str(line)) for path, line in calls} <= seen

    async def locate(self) -> tuple[bool, bool]:
        query, unit = self._chance.choice(self._material.described)
        text = await self._ours.call("explore", query=query, max_tokens=_EXPLORE)
        found = unit.path in text and re.search(rf"\b{re.escape(unit.name)}\b", text) is not None
        return found, self._search_by_words(query, unit)

    async def outline(self) -> tuple[bool, bool]:
        path = self._chance.choice([unit.path for unit in self._material.alone])
        units = [unit for unit in self._material.units if unit.path == path]
        text = await self._ours.call("outline", path=path, max_tokens=8000)
        lines = self._shell.grep(
            rf"^\s*(?:export |pub |async |static |default )*{_DECLARES}\b", paths=(path,)
        )
        names = {unit.name for unit in units}
        return all(re.search(rf"\b{name}\b", text) for name in names), all(
            any(re.search(rf"\b{name}\b", line) for line in lines) for name in names
        )

    async def consequence(self) -> tuple[bool, bool]:
        unit = self._chance.choice(self._material.alone)
        calls = {path for path, _ in self._calls(unit)}
        text = await self._ours.call("impact", name=unit.symbol if "." in unit.symbol else unit.name, k=30)
        lines = self._shell.grep(rf"\b{re.escape(unit.name)}\b")
        for line in [line for line in lines if not line.startswith(f"{unit.path}:{unit.line}:")][:5]:
            path, number, _ = line.split(":", 2)
            self._shell.read(path, int(number) - 20, int(number))  # which function is that in?
        self._shell.git("log", "--format=", "--name-only", "-n", "20", "--", unit.path)
        return all(path in text for path in calls), calls <= {line.split(":")[0] for line in lines}

    async def grep(self) -> tuple[bool, bool]:
        unit = self._chance.choice(self._material.alone)
        pattern = rf"\b{re.escape(unit.name)}\b"
        text = await self._ours.call("grep", pattern=pattern, context=1, k=_CAP, max_tokens=8000)
        lines = self._shell.grep(pattern, "-C1")
        return unit.body.split("\n")[0].strip() in text, any(
            f"{unit.path}:{unit.line}:" in it for it in lines
        )

    async def read(self) -> tuple[bool, bool]:
        unit = self._chance.choice(self._material.units)
        text = await self._ours.call("read", path=unit.path, start=unit.line, end=unit.line + 40)
        seen = self._shell.read(unit.path, unit.line, unit.line + 40)
        return has_lines(text, unit.body), has_lines(seen, unit.body)

    def _calls(self, unit: Unit) -> set[tuple[str, int]]:
        """Lines that call a name, by their look: the name before a bracket, outside of comments."""
        pattern = re.compile(rf"\b{re.escape(unit.name)}\(")
        calls = set()
        suffix = Path(unit.path).suffix
        for path in self._material.files:
            if path.endswith(suffix):
                text = (self._material.root / path).read_text(errors="replace")
                for number, line in enumerate(text.split("\n"), 1):
                    plain = re.split(r"#|//|\"|'|`|\*", line)[0]
                    if pattern.search(plain) and (path, number) != (unit.path, unit.line):
                        calls.add((path, number))
        return calls

    def _search_by_words(self, query: str, unit: Unit) -> bool:
        """The rarest words of a query, the files that have most of them, a window of each."""
        words = {word for word in re.findall(r"[A-Za-z_]{4,}", query) if word.lower() not in _STOP}
        often = {word: self._count(word) for word in words}
        rarest = sorted((word for word in words if often[word]), key=lambda word: (often[word], word))[:3]
        hits: Counter[str] = Counter()
        places: dict[str, list[int]] = defaultdict(list)
        for word in rarest:
            lines = self._shell.grep(word, "-i")
            for line in lines:
                path, number, _ = line.split(":", 2)
                places[path].append(int(number))
            hits.update({line.split(":", 1)[0] for line in lines})
        found = False
        for path, _ in sorted(hits.items(), key=lambda pair: (-pair[1], pair[0]))[:_READS]:
            best = max(
                places[path], key=lambda at: sum(abs(at - each) < _WINDOW // 2 for each in places[path])
            )
            self._shell.read(path, best - _WINDOW // 2, best + _WINDOW // 2)
            if path == unit.path and best - _WINDOW // 2 <= unit.end and unit.line <= best + _WINDOW // 2:
                found = True
                break
        return found

    def _count(self, word: str) -> int:
        """Lines with a word; an agent guesses this for nothing."""
        done = subprocess.run(
            ["rg", "--no-config", "-i", "-c", "--no-filename", "-e", word, "./"],
            cwd=self._material.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return sum(map(int, done.stdout.split()))


def _places(text: str) -> set[tuple[str, int]]:
    """The places of a reply that lists lines below their files."""
    places, path = set(), ""
    for line in text.split("\n"):
        if found := re.match(r"(\S+?):(\d+) ", line):
            path = found[1]
            places.add((path, int(found[2])))
        elif found := re.match(r"  (\d+) ", line):
            places.add((path, int(found[1])))
    return places


async def ask_all(root: Path, calls: int, seed: int, sides: tuple[Side, Side]) -> tuple[int, list[str]]:
    with codenib.open(root) as workspace:
        workspace.index()
        material = Material(root, workspace)
    chance = random.Random(seed)
    kinds = chance.choices(list(SHARES), list(SHARES.values()), k=calls)
    passed = {
        name: value for name, value in os.environ.items() if name.startswith(("CODENIB", "PATH", "HOME"))
    }
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "codenib", "mcp", "-C", str(root)], env=passed
    )
    with open(os.devnull, "w") as log:  # noqa: PTH123
        async with Client(stdio_client(command, errlog=log)) as client:
            ours, shell = Ours(client), Shell(root)
            questions = Questions(material, shell, ours, chance)
            asks: dict[str, Callable[[], Any]] = {kind: getattr(questions, kind) for kind in SHARES}
            for kind in kinds:
                before = ours.tokens, shell.tokens
                found = await asks[kind]()
                for side, had, now, shown in zip(
                    sides, before, (ours.tokens, shell.tokens), found, strict=True
                ):
                    side.take(kind, now - had, shown)
            return ours.calls, ours.errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--calls", type=int, default=200, help="in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sides = Side(), Side()
    asked = 0
    errors: list[str] = []
    for at, clone in enumerate(given.clones):
        share = given.calls // len(given.clones) + (at < given.calls % len(given.clones))
        calls, wrong = anyio.run(ask_all, clone.resolve(), share, given.seed + at, sides)
        asked, errors = asked + calls, [*errors, *wrong]
    rows = [_row(kind, sides) for kind in SHARES if sides[0].spent[kind]]
    print(f"{asked} calls over {len(given.clones)} repositories, {len(errors)} errors")
    print(
        "| question | asked | found: ours | grep and read | tokens where both found: ours | grep and read"
        " | share |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in (*rows, _total(rows)):
        share = f"{row['ours'] / row['theirs']:.0%}" if row["theirs"] else ""
        print(
            f"| {row['kind']} | {row['asked']} | {row['found_ours']} | {row['found_theirs']}"
            f" | {row['ours']:,} | {row['theirs']:,} | {share} |"
        )
    for error in errors:
        print("error:", error)
    if given.json is not None:
        given.json.write_text(json.dumps({"rows": rows, "errors": errors, "calls": asked}, indent=1))
    return 1 if errors else 0


def _row(kind: str, sides: tuple[Side, Side]) -> dict[str, Any]:
    """What a kind of question cost where both sides showed the fact."""
    ours, theirs = sides
    both = [a and b for a, b in zip(ours.shown[kind], theirs.shown[kind], strict=True)]
    return {
        "kind": kind,
        "asked": len(both),
        "found_ours": sum(ours.shown[kind]),
        "found_theirs": sum(theirs.shown[kind]),
        "ours": sum(tokens for tokens, same in zip(ours.spent[kind], both, strict=True) if same),
        "theirs": sum(tokens for tokens, same in zip(theirs.spent[kind], both, strict=True) if same),
    }


def _total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = ("asked", "found_ours", "found_theirs", "ours", "theirs")
    return {"kind": "all", **{name: sum(row[name] for row in rows) for name in names}}


if __name__ == "__main__":
    sys.exit(main())
