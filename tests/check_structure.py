"""The tree's own rules, read from the syntax alone: rooms, sizes, names and calls. Exit 1 when one is broken.

A room (package) has at most 15 modules, a file at most 500 lines; the name of a public class stands in one
module; no public name has a word that could mean anything; no call has more than five positional arguments.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

MOST_LINES = 500
MOST_MODULES = 15
MOST_POSITIONAL = 5
# Each stood for up to six things; what a search or compiler engineer would say is in DESIGN's vocabulary.
VAGUE = frozenset({"held", "kept", "made", "found", "seen", "shown", "desk"})
_FOLDERS = ("src", "tests", "benchmarks", "training")
_ENGINE_SUFFIXES = (".js", ".mjs", ".go", ".rs")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    problems = [*_sizes(root), *_rooms(root / "src" / "codenib"), *_names(root / "src" / "codenib")]
    for path in sorted((root / "src").rglob("*.py")):
        problems += _calls(path, root)
    print("\n".join(problems) or "sizes, rooms, names and calls are within bounds")
    return 1 if problems else 0


def _sources(root: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and not {"node_modules", "target"} & set(path.parts):
                yield path


def _sizes(root: Path) -> Iterator[str]:
    for path in _sources(root, (".py", *_ENGINE_SUFFIXES)):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MOST_LINES:
            yield f"{path.relative_to(root)}: {lines} lines, at most {MOST_LINES}"


def _rooms(package: Path) -> Iterator[str]:
    for folder in (package, *sorted(path for path in package.rglob("*") if path.is_dir())):
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        if len(modules) > MOST_MODULES:
            yield f"{folder.relative_to(package.parent)}: {len(modules)} modules, at most {MOST_MODULES}"


def _names(package: Path) -> Iterator[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package.parent).as_posix()
        if VAGUE & set(path.stem.split("_")):
            yield f"{name}: a module named by a vague word"
        for line, declared, is_class in _public(ast.parse(path.read_text(encoding="utf-8")).body):
            if is_class:
                places[declared].append(name)
            if VAGUE & {word.lower() for word in _WORDS.findall(declared)}:
                yield f"{name}:{line}: {declared} is named by a vague word"
    for name, where in sorted(places.items()):
        if len(where) > 1:
            yield f"class {name} stands in {len(where)} modules: {', '.join(where)}"


def _public(body: list[ast.stmt]) -> Iterator[tuple[int, str, bool]]:
    """Line, name and whether it is a class, of each public class, function, method and field."""
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            name = node.name
        else:
            continue
        if not name.startswith("_"):
            yield node.lineno, name, isinstance(node, ast.ClassDef)
            if isinstance(node, ast.ClassDef):
                yield from ((line, inner, False) for line, inner, _ in _public(node.body))


def _calls(path: Path, root: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONAL and not _variadic(node):
            yield f"{path.relative_to(root)}:{node.lineno}: {len(node.args)} positional arguments"


def _variadic(call: ast.Call) -> bool:
    """Whether the callee takes any number of like values, as `git(...)` and `max(...)` do."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _VARIADIC


_VARIADIC = {"git", "_git", "max", "min", "zip"}

if __name__ == "__main__":
    sys.exit(main())
