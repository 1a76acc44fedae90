"""What `src` imports is what `pyproject.toml` declares: nothing comes by way of another package."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Distributions of modules that need not be installed where the tests run.
_KNOWN = {
    "faiss": "faiss-cpu",
    "huggingface_hub": "huggingface-hub",
    "sentence_transformers": "sentence-transformers",
    "torch": "torch",
    "transformers": "transformers",
}
#: A peer of an evaluation, which has a process and an environment of its own.
_PEERS = {"semble"}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _normal(requirement: str) -> str:
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def _declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {name: rows for name, rows in project["optional-dependencies"].items() if name != "dev"}
    return {_normal(row) for rows in (project["dependencies"], *extras.values()) for row in rows}


def test_every_package_that_src_imports_is_declared() -> None:
    imported = {name for path in (ROOT / "src").rglob("*.py") for name in _imports(path)}
    outside = imported - sys.stdlib_module_names - _PEERS - {"codenib"}
    distributions = packages_distributions()
    undeclared = {
        name
        for name in outside
        if not {_normal(each) for each in distributions.get(name, [_KNOWN.get(name, name)])} & _declared()
    }

    assert undeclared == set()


def test_a_library_whose_insides_we_use_has_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    bounds = {_normal(row): row for row in project["dependencies"]}

    for name in ("mcp", "mcp-types", "uvicorn", "starlette", "anyio"):
        assert "<" in bounds[name], name
