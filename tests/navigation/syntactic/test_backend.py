"""The graph without tools: containment, imports that are certain, and names; never a resolved answer."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import astuple

from codenib.core.facts import Role, WireFacts
from codenib.navigation.syntactic.backend import SyntacticBackend
from codenib.navigation.syntactic.imports import QUERIES, Imports
from codenib.units.languages import LANGUAGES


def quiet(stage: str, done: int, total: int) -> None: ...


def produce(root: Path, sources: dict[str, str]) -> dict[str, WireFacts]:
    for path, text in sources.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    lines = SyntacticBackend().produce(root, sorted(sources), quiet, trusted=False)
    return {wire.path: wire for wire in (msgspec.json.decode(line, type=WireFacts) for line in lines)}


def rows(wire: WireFacts) -> list[list[int]]:
    return [wire.occurrences[at : at + 8] for at in range(0, len(wire.occurrences), 8)]


def keys(wire: WireFacts, row: list[int]) -> list[object]:
    return [wire.targets[item] for item in wire.lists[row[6]]]


def imports(wire: WireFacts) -> list[str]:
    """What is imported: a path of the repository, or the name as written."""
    found = []
    for row in rows(wire):
        if row[4] == Role.IMPORT | Role.INEXACT:
            found += [key[0] if isinstance(key, list) else key for key in keys(wire, row)]
    return [str(one) for one in found if not str(one).startswith("name:")]


def outline(wire: WireFacts) -> list[str]:
    shown = []
    for node in wire.nodes:
        parent = f"{wire.nodes[node.parent].name}." if node.parent >= 0 else ""
        shown.append(f"{node.kind} {parent}{node.name}")
    return shown


PYTHON = '''"""load things"""
from .store import Store

class Loader:
    def load(self, path):  # load it
        total = path
        return self.load(total)

def run():
    def inner(): ...
    return "load"
'''


def test_nodes_are_definitions_inside_of_each_other(tmp_path: Path) -> None:
    wire = produce(tmp_path, {"a.py": PYTHON})["a.py"]
    assert outline(wire) == ["class Loader", "method Loader.load", "function run", "function run.inner"]
    assert astuple(wire.nodes[1])[3:10] == (4, 4, 6, 31, 4, 8, 12)


def test_names_are_tokens_outside_of_comments_and_strings_and_have_no_definition(tmp_path: Path) -> None:
    wire = produce(tmp_path, {"a.py": PYTHON})["a.py"]
    loads = [row for row in rows(wire) if "name:load" in keys(wire, row)]
    assert [(row[0], row[1], row[4]) for row in loads] == [(4, 8, Role.DECLARATION), (6, 20, Role.CALL)]
    assert keys(wire, loads[0]) == ["name:load", ["a.py", 4, 8]]
    assert keys(wire, loads[1]) == ["name:load"]
    assert all(row[5] == -1 for row in loads)


def test_a_name_declared_in_one_file_is_found_in_the_others(tmp_path: Path) -> None:
    found = produce(tmp_path, {"a.py": "def load(): ...\n", "b.go": "package b\nfunc x() { load() }\n"})
    (row,) = [row for row in rows(found["b.go"]) if keys(found["b.go"], row) == ["name:load"]]
    assert (row[:2], row[4]) == ([1, 11], Role.CALL)


def test_certain_python_imports_are_files(tmp_path: Path) -> None:
    sources = dict.fromkeys(["src/app/__init__.py", "src/app/store.py", "src/app/deep/__init__.py"], "")
    sources["src/app/deep/x.py"] = "from ..store import a\nfrom . import b\nimport app.store as s, os.path\n"
    sources["tests/test_x.py"] = "from app import store\nfrom ... import nothing\n"
    found = produce(tmp_path, sources)
    assert imports(found["src/app/deep/x.py"]) == [
        "src/app/store.py", "src/app/deep/__init__.py", "src/app/store.py", "import:python:os.path",
    ]  # fmt: skip
    assert imports(found["tests/test_x.py"]) == ["src/app/__init__.py", "import:python:..."]


def test_a_module_that_two_roots_have_is_not_certain() -> None:
    files = ["a/p/__init__.py", "a/p/m.py", "b/p/__init__.py", "b/p/m.py"]
    assert Imports(files).resolve("x.py", "python", "p.m", "") is None
    assert Imports(files[:2]).resolve("x.py", "python", "p.m", "") == "a/p/m.py"


def test_relative_script_imports_are_files(tmp_path: Path) -> None:
    sources = {
        "src/a.ts": (
            "import x from './b';\nexport * from '../lib';\nimport c = require('./c.js')\n"
            "import React from 'react';\nconst l = import('./gone');\n"
        ),
        "src/b.tsx": "",
        "src/c.ts": "",
        "lib/index.js": "const a = require('../src/b')\n",
    }
    found = produce(tmp_path, sources)
    assert imports(found["src/a.ts"]) == [
        "src/b.tsx", "lib/index.js", "src/c.ts", "import:typescript:react", "import:typescript:./gone",
    ]  # fmt: skip
    assert imports(found["lib/index.js"]) == ["src/b.tsx"]


@pytest.mark.parametrize(
    ("path", "text", "others", "expected"),
    [
        ("a/x.c", '#include "y.h"\n#include <stdio.h>\n', ["a/y.h"], ["a/y.h", "import:c:<stdio.h>"]),
        ("a/x.cc", '#include "util/y.h"\n', ["src/util/y.h"], ["src/util/y.h"]),
        (
            "src/lib.rs",
            "mod foo;\nuse a::b;\nmod own { }\n",
            ["src/foo.rs"],
            ["src/foo.rs", "import:rust:a::b"],
        ),
        ("src/foo.rs", "pub mod bar;\n", ["src/foo/bar.rs"], ["src/foo/bar.rs"]),
        ("lib/x.rb", "require_relative '../y'\nrequire 'json'\n", ["y.rb"], ["y.rb", "import:ruby:json"]),
        ("X.java", "import a.b.C;\nimport d.*;\n", ["src/a/b/C.java"], ["src/a/b/C.java", "import:java:d"]),
        ("x.lua", "local y = require('a.b')\n", ["a/b.lua"], ["a/b.lua"]),
        ("x.go", 'package x\nimport (\n\t"fmt"\n\tz "a/b"\n)\n', [], ["import:go:fmt", "import:go:a/b"]),
        ("x.php", "<?php\nuse A\\B;\nrequire 'y.php';\n", [], ["import:php:A\\B", "import:php:y.php"]),
        ("x.cs", "using System.Text;\n", [], ["import:csharp:System.Text"]),
        ("x.kt", "import a.b.C\n", [], ["import:kotlin:a.b.C"]),
        ("x.swift", "import Foundation\n", [], ["import:swift:Foundation"]),
        ("x.hs", "module X where\nimport Data.Y (z)\n", ["src/Data/Y.hs"], ["src/Data/Y.hs"]),
        ("src/x.zig", 'const y = @import("y.zig");\n', ["src/y.zig"], ["src/y.zig"]),
        (
            "lib/x.dart",
            "import 'dart:io';\nexport 'src/y.dart';\n",
            ["lib/src/y.dart"],
            ["import:dart:'dart:io'", "lib/src/y.dart"],
        ),
        ("x.ex", "defmodule X do\n  alias A.B\nend\n", [], ["import:elixir:A.B"]),
        ("x.tf", 'module "db" {\n  source = "./db"\n}\n', [], ["import:terraform:./db"]),
        ("x.sh", "source lib/y.sh\n", [], ["import:bash:lib/y.sh"]),
    ],
)
def test_imports_of_other_languages(
    tmp_path: Path, path: str, text: str, others: list[str], expected: list[str]
) -> None:
    found = produce(tmp_path, {**dict.fromkeys(others, ""), path: text})
    assert imports(found[path]) == expected


def test_names_in_imports_have_that_role(tmp_path: Path) -> None:
    found = produce(tmp_path, {"a.ts": "export function load() {}\n", "b.ts": "import { load } from './a'\n"})
    roles = [row[4] for row in rows(found["b.ts"]) if keys(found["b.ts"], row) == ["name:load"]]
    assert roles == [Role.IMPORT]


def test_columns_count_bytes_and_every_span_is_the_name(tmp_path: Path) -> None:
    text = "class Größe { läuft() { return 'é' + this.läuft() } }\n"
    wire = produce(tmp_path, {"a.js": text})["a.js"]
    spans = [text.encode()[row[1] : row[3]].decode() for row in rows(wire)]
    assert spans == ["Größe", "läuft", "läuft"]


def test_the_same_files_give_the_same_bytes_and_every_file_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PYTHON)
    (tmp_path / "b.js").write_bytes(b"\0binary")
    (tmp_path / "c.c").write_text("1,2,3,\n" * 2000)
    backend = SyntacticBackend()
    runs = [list(backend.produce(tmp_path, ["a.py", "b.js", "c.c"], quiet)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert [msgspec.json.decode(line)["path"] for line in runs[0]] == ["a.py", "b.js", "c.c"]
    assert [len(msgspec.json.decode(line)["nodes"]) for line in runs[0]] == [4, 0, 0]


def test_methods_written_outside_of_their_type_belong_to_it(tmp_path: Path) -> None:
    text = "package a\ntype T struct{}\nfunc (t *T) Run() {}\nfunc (u *U) Run() {}\n"
    assert outline(produce(tmp_path, {"a.go": text})["a.go"]) == ["struct T", "method T.Run", "method Run"]
    text = "struct Foo { Foo(); };\nFoo::Foo() {}\n"
    wire = produce(tmp_path, {"a.cpp": text})["a.cpp"]
    assert astuple(wire.nodes[-1])[7:10] == (1, 5, 8)


def test_every_language_has_a_query_and_the_backend_its_own_name() -> None:
    assert {language.name for language in LANGUAGES} == set(QUERIES) == SyntacticBackend.languages
    assert SyntacticBackend().identity()["backend"] == SyntacticBackend.group == "syntactic"
