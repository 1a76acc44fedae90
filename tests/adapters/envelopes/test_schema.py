"""The published JSON schema is that of the types, and every command keeps to it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import COMMANDS, cli
from codenib.adapters.envelopes.envelope import Envelope
from codenib.adapters.envelopes.schema import REPLIES, json_schema
from codenib.core.errors import CodenibError

PAGE = Path(__file__).parents[3] / "docs" / "schema" / "replies.json"
KEYS = ["items", "total", "truncated", "snapshot", "freshness", "provider", "seconds"]
FILES = {
    "shop/cart.py": (
        "class Cart:\n    def total(self, prices):\n        return add(prices)\n\n\n"
        "def add(prices):\n    return sum(prices)\n"
    ),
    "shop/page.py": "from shop.cart import Cart\n\n\ndef page(cart: Cart):\n    return cart.total([1])\n",
}
#: A line for each command; `search --batch` and those that start a server, a model or a download are below.
LINES = [
    "index --views lexical,trigram,graph,history",
    "search add prices",
    "search --batch rows.jsonl",
    "explore 'how are prices added'",
    "map",
    "overview",
    "modules",
    "updates",
    "plan 'where are prices added'",
    "regex def",
    "read shop/cart.py:1-3",
    "read shop",
    "units shop/cart.py",
    "history shop/cart.py",
    "blame shop/cart.py",
    "impact add",
    "def Cart",
    "refs add",
    "callers add",
    "callees page",
    "deps shop/page.py",
    "path page add",
    "symbols Cart",
    "outline shop/cart.py",
    "graph add",
    "update",
    "status",
    "verify",
    "gc",
    "tools",
    "trust",
    "config",
    "install --dry-run --client cursor",
    "install --print --client cursor",
    "uninstall --dry-run --client cursor",
    "learn",
    "policy show",
    "policy drop router",
    "journal on",
    "journal show",
    "journal export --out entries.jsonl",
    "journal forget",
    "journal off",
    "token create laptop",
    "token list",
    "token revoke laptop",
    "export views.codenib",
    "import views.codenib",
    "fleet add shop",
    "fleet list",
    "fleet sync",
    "fleet index --views lexical",
    "fleet status",
    "fleet search add prices",
    "fleet regex def",
    "fleet symbols Cart",
    "fleet def shop.Cart",
    "fleet remove shop",
    "read nothing.py",
]
#: They need a model, a language server, a download, an index of another program, never end, or look
#: at the whole machine: own tests.
ELSEWHERE = {
    "agent", "trace show", "trace export", "trace replay", "compare-navigation", "tools install",
    "import-scip", "watch", "verify --sample", "doctor", "policy use", "fleet verify", "fleet gc",
}  # fmt: skip


def test_the_published_schema_is_that_of_the_types() -> None:
    text = json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("CODENIB_WRITE_SCHEMA"):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, "CODENIB_WRITE_SCHEMA=1 pytest tests/adapters/envelopes"


def test_every_answer_has_the_seven_keys_first() -> None:
    for name, kind in REPLIES.items():
        if name not in ("error", "watch", "search --batch"):
            fields = msgspec.structs.fields(getattr(kind, "__origin__", kind))
            assert [field.name for field in fields][:7] == KEYS, name


def test_every_command_prints_what_the_schema_says(
    git_repo: Callable[..., GitRepo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "no-tools"))
    monkeypatch.setenv("HOME", str(tmp_path))
    repository = git_repo("shop")
    repository.commit(FILES, "Add the shop")
    (tmp_path / "rows.jsonl").write_text('{"id": 7, "query": "add prices"}\n')
    monkeypatch.chdir(tmp_path)
    schema, checked = json_schema(), set()
    for line in LINES:
        answer = _run(repository.path, line)
        name = "error" if "error" in answer else _named(line)
        jsonschema.validate(answer, {"$defs": schema["$defs"], **schema["properties"][name]})
        # Decoding and encoding again shows what the schema of plain values allows: further keys.
        kind = REPLIES[name]
        assert json.loads(msgspec.json.encode(msgspec.convert(answer, kind))) == answer, line
        if name != "error":
            assert answer["total"] >= len(answer["items"]), line
            merged = name == "explore"  # neighbouring units are one block
            assert answer["truncated"] or merged or answer["total"] == len(answer["items"]), line
        checked.add(name)
    assert checked | ELSEWHERE == set(REPLIES)
    assert {name.partition(" ")[0] for name in REPLIES} - {"error"} == set(COMMANDS) - {
        "mcp",
        "serve",
        "ui",
        "completion",
    }


def _named(line: str) -> str:
    if line == "read shop":
        return "read FOLDER"
    words = line.split()
    fitting = [name for name in REPLIES if name.split()[0] == words[0] and set(name.split()) <= set(words)]
    return max(fitting, key=len)


def _run(root: Path, line: str) -> Any:
    done = CliRunner().invoke(cli, ["-C", str(root), *shlex.split(line), "--json"])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        assert isinstance(done.exception, CodenibError), (line, done.exception)
        error = done.exception
        return {"error": {"kind": type(error).__name__, "message": error.message, "hint": error.hint}}
    return json.loads(done.stdout)


def test_a_list_that_is_about_no_snapshot_says_so() -> None:
    empty: Envelope[str] = Envelope(
        items=(), total=0, truncated=False, snapshot=None, freshness=None, provider="x", seconds=0.0
    )
    assert list(json.loads(msgspec.json.encode(empty))) == KEYS
