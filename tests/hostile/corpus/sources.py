"""Repositories with source that hurts parsers: too deep, never closed, of bytes, of odd encodings, too long."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.hostile.corpus.case import Case, from_files

from codenib.units.languages import LANGUAGES

_DEEP = 40_000
#: language → (opens, closes) that nest in its grammar.
_NESTS: dict[str, tuple[tuple[str, str], ...]] = {
    "python": (("(", ")"), ("if x:\n", ""), ("[", "]"), ("lambda: ", ""), ("not ", ""), ("f'{", "}'")),
    "go": (("func() {", "}"), ("(", ")"), ("[]", "int"), ("struct{", "}")),
    "rust": (("mod m {", "}"), ("(", ")"), ("&", "x"), ("Vec<", ">"), ("#[", "]")),
    "c": (("{", "}"), ("(", ")"), ("#if 1\n", "#endif\n"), ("*", ""), ("struct s {", "};")),
    "cpp": (("namespace n {", "}"), ("template<", ">"), ("A<", ">"), ("[]{", "}"), ("class C {", "};")),
    "typescript": (("function f() {", "}"), ("Array<", ">"), ("(() => ", ")"), ("{a:", "}"), ("`${", "}`")),
    "tsx": (("<div>", "</div>"), ("<a.b>{", "}</a.b>")),
    "javascript": (("class A { m() {", "}}"), ("[", "]"), ("!", "x"), ("a ? ", " : b"), ("`${", "}`")),
    "java": (("class A {", "}"), ("(", ")"), ("List<", ">"), ("@A(", ")")),
    "csharp": (("namespace N {", "}"), ("(", ")"), ('$"{', '}"'), ("class C {", "}")),
    "ruby": (("module M\n", "end\n"), ("def f\n", "end\n"), ("[", "]"), ('"#{', '}"')),
    "php": (("<?php ", ""), ("function f() {", "}"), ("(", ")"), ("if (1) {", "}")),
    "kotlin": (("class A {", "}"), ("fun f() {", "}"), ('"${', '}"'), ("(", ")")),
    "scala": (("object A {", "}"), ("(", ")"), ('s"${', '}"'), ("[", "]")),
    "swift": (("class A {", "}"), ("(", ")"), ('"\\(', ')"'), ("{", "}")),
    "lua": (("function f()\n", "end\n"), ("{", "}"), ("(", ")"), ("do ", "end ")),
    "bash": (("f() {\n", "}\n"), ("$(", ")"), ("if x; then\n", "fi\n"), ("{ ", "}; "), ("((", "))")),
    "elixir": (("defmodule A do\n", "end\n"), ("[", "]"), ("fn -> ", "end"), ('"#{', '}"')),
    "haskell": (("let x = ", ""), ("(", ")"), ("[", "]"), ("\\x -> ", "")),
    "zig": (("const A = struct {", "};"), ("(", ")"), ("{", "}"), (".{", "}")),
    "dart": (("class A {", "}"), ("(", ")"), ("'${", "}'"), ("List<", ">")),
    "sql": (("(", ")"), ("SELECT (", ")"), ("CASE WHEN ", " END"), ("BEGIN ", "END ")),
    "terraform": (('a "b" {', "}"), ("[", "]"), ('"${', '}"'), ("(", ")")),
}
_UNCLOSED = ('"', "'", "`", "/*", "'''", '"""', "<!--", "(((((", "{{{{{", "[[[[[", "<<EOF\n", "<?php", "#if\n", "=begin\n", "r#\"", "R\"x(", "--[[", "{-", "%w(", "@\"", "\\")  # fmt: skip


def _nested(language: str) -> Case:
    extension = next(row.extensions[0] for row in LANGUAGES if row.name == language)
    files: dict[str, str | bytes] = {}
    for number, (opens, closes) in enumerate(_NESTS[language]):
        count = min(_DEEP, 400_000 // len(opens))
        files[f"closed{number}{extension}"] = opens * count + closes * count
        files[f"open{number}{extension}"] = opens * count
    if language == "python":
        indented = "".join(f"{' ' * depth}if x:\n" for depth in range(1200))
        files["indented.py"] = indented + " " * 1200 + "pass\n"
    return from_files(f"nesting: {language}", files)


def _malformed(language: str) -> Case:
    extension = next(row.extensions[0] for row in LANGUAGES if row.name == language)
    start = {"php": "<?php\n", "go": "package p\n"}.get(language, "")
    contents: dict[str, str | bytes] = {
        "empty": b"", "bom": b"\xef\xbb\xbf", "nul": start.encode() + b"f\0\0g\n" * 99, "bytes": bytes(range(256)) * 40,
        "latin": start.encode() + b"caf\xe9 = '\xff\xfe'\n" * 50, "utf16": (start + "x = 1\n").encode("utf-16"),
        "utf32": (start + "x = 1\n").encode("utf-32"), "utf7": b"+ADw-script+AD4-", "returns": (start + "a = 1\r" * 500).encode(),
        "surrogates": start.encode() + b"x = '\xed\xa0\x80\xed\xb0\x80'\n", "separators": f"{start}a\u2028b\u2029c\x85d\x0be\x0cf\n",
        "line": start + "a+" * 400_000, "word": start + "a" * 900_000, "number": start + "9" * 400_000, "spaces": " " * 500_000,
        "breaks": "\n" * 300_000, "combining": start + "e" + "\u0301" * 100_000, "digits": start + "\u0663" * 4000,
        "conflict": start + "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n" * 500,
        "comments": start + "/* */ // # -- " * 30_000,
    }  # fmt: skip
    files = {f"m-{name}{extension}": content for name, content in contents.items()}
    files |= {
        f"u-{number}{extension}": f"{start}x = {text} rest of it\n" * 60
        for number, text in enumerate(_UNCLOSED)
    }
    return from_files(f"malformed: {language}", files)


def _notebook(cells: object) -> bytes:
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


_CELL = {"cell_type": "code", "source": ["x = 1\n"], "outputs": []}
_NOTEBOOKS: dict[str, str | bytes] = {
    "deep.ipynb": '{"cells": ' + "[" * 100_000, "deep2.ipynb": '{"a":' * 50_000, "empty.ipynb": "", "list.ipynb": "[]",
    "null.ipynb": "null", "number.ipynb": "1e99999", "cells.ipynb": '{"cells": 7}', "text.ipynb": '{"cells": "cells"}',
    "nulls.ipynb": _notebook([None, 1, "x", [], {}]), "source.ipynb": _notebook([{"cell_type": "code", "source": {"a": 1}}]),
    "many.ipynb": _notebook([_CELL] * 5000), "wide.ipynb": _notebook([{**_CELL, "source": ["a" * 3_000_000]}]),
    "outputs.ipynb": _notebook([{**_CELL, "outputs": [{"data": {"image/png": "A" * 3_000_000}}]}]),
    "surrogate.ipynb": b'{"cells": [{"cell_type": "code", "source": "x = \'\\ud800\'\\n"}]}',
    "same.ipynb": b'{"cells": [], "cells": [{"cell_type":"code","source":"x"}], "cells": 3}',
    "bytes.ipynb": b'{"cells": [{"source": "\xff\xfe"}]}', "nul.ipynb": b'{"cells": [{"cell_type":"code","source": "a\\u0000b"}]}',
    "magic.ipynb": _notebook([{**_CELL, "source": ["%%bash\n", "touch ran\n", "!touch ran\n"]}]),
}  # fmt: skip
_DATA: dict[str, dict[str, str | bytes]] = {
    "notebooks": _NOTEBOOKS,
    "json": {"deep.json": "[" * 200_000 + "]" * 200_000, "keys.json": '{"a":' * 60_000 + "1" + "}" * 60_000, "long.json": '["' + "a" * 5_000_000 + '"]', "numbers.json": "[" + "1e9999," * 300_000 + "1]", "bom.json": b"\xef\xbb\xbf{}", "lines.jsonl": '{"a":1}\n' * 200_000},
    "yaml and its bombs": {"bomb.yaml": "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(20)), "python.yaml": "!!python/object/apply:os.system ['touch ran']\n", "deep.yaml": "".join(" " * n + "a:\n" for n in range(2000))},
    "xml and its bombs": {"laughs.xml": '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">' + "".join(f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(20)) + "]><l>&u;</l>", "outside.xml": '<!DOCTYPE x [<!ENTITY e SYSTEM "file://{victim}/secret.txt">]><x>&e;</x>', "deep.xml": "<a>" * 200_000, "include.svg": '<svg><image href="file://{victim}/secret.txt"/></svg>'},
    "markdown": {"headings.md": "# x\n" * 100_000, "quotes.md": ">" * 100_000 + " x\n", "lists.md": "".join("  " * n + "- x\n" for n in range(1500)), "links.md": "[" * 50_000 + "](" * 50_000, "fences.md": "```\n" * 99_999, "stars.md": "*a **b " * 60_000, "setext.md": ("x\n" + "=" * 400 + "\n") * 3000, "secret.md": "![x](file://{victim}/secret.txt)\n\n.. include:: {victim}/secret.txt\n"},
    "rst and asciidoc": {"titles.rst": "x\n=\n" * 60_000, "include.rst": ".. include:: {victim}/secret.txt\n.. raw:: html\n   :file: {victim}/secret.txt\n.. literalinclude:: {victim}/secret.txt\n", "deep.adoc": "=" * 5000 + " x\n", "include.adoc": "include::{victim}/secret.txt[]\n" * 50},
    "toml and ini": {"deep.toml": "a = " + "[" * 100_000, "keys.toml": ".".join(["a"] * 50_000) + " = 1\n", "pyproject.toml": "[" * 1000, "x.ini": "[a]\n" * 100_000, "setup.cfg": "[metadata]\nversion = file: {victim}/secret.txt\n"},
    "minified": {"min.js": "!function(){" + "var a=1;" * 400_000 + "}()", "one.css": ".a{color:red}" * 200_000, "map.js.map": '{"mappings":"' + "AAAA;" * 400_000 + '"}', "data.rb": "X = '" + "QUJD" * 800_000 + "'\n"},
    "archives": {"a.zip": b"PK\x03\x04" + bytes(5000), "b.gz": b"\x1f\x8b\x08" + bytes(900), "c.rb": b"PK\x03\x04def x\nend\n", "d.pyc": b"\xa7\r\r\n" + bytes(100), "e.pickle.rb": b"cos\nsystem\n(S'touch ran'\ntR.", "f.so.rb": b"\x7fELF" + bytes(400), "g.png": b"\x89PNG\r\n\x1a\n" + bytes(99)},
    "generated tables": {"table.sql": "INSERT INTO t VALUES " + "(1,'a')," * 8000 + "(2,'b');\n", "rows.csv": "a,b,c\n" * 300_000, "copy.sql": "COPY t FROM stdin;\n" + "1\ta\n" * 15_000 + "\\.\n", "po.po": 'msgid "a"\nmsgstr "b"\n\n' * 50_000},
    "unicode of many marks": {"zalgo.rb": "x = '" + "a" + "\u0300\u0301\u0302" * 30_000 + "'\n", "wide.rb": "\u3000def\u3000x\nend\n" * 999, "emoji.rb": "\U0001f468\u200d\U0001f469\u200d" * 20_000, "confusable.rb": "def m\u043eor_vessel(r\u043epe)\nend\n", "tags.rb": "".join(chr(0xE0000 + n % 127) for n in range(9000)), "variation.rb": "x\ufe0f" * 20_000},
    "shebangs": {"run": "#!" + "a" * 100_000 + "\n", "run2": "#!/usr/bin/env " + "x=1 " * 5000 + "python\n", "run3": "#!\x00\n", "run4": "#!/usr/bin/env -S " + "-S " * 9000 + "\n", "run5": b"#!/bin/sh\ntouch {victim}/ran\n"},
    "python that acts when imported": dict.fromkeys(("setup.py", "conftest.py", "sitecustomize.py", "usercustomize.py", "codenib.py", "json.py", "click.py", "__init__.py", "noxfile.py", "manage.py", "tree_sitter.py", "msgspec.py", "numpy/__init__.py", "evil.pth"), "import os\nos.system('touch {victim}/ran-import')\n"),
    "settings of editors and tools": {".vscode/settings.json": '{"python.defaultInterpreterPath": "{program}", "git.path": "{program}", "clangd.path": "{program}"}', ".vscode/tasks.json": '{"tasks": [{"command": "{program}", "runOptions": {"runOn": "folderOpen"}}]}', ".idea/workspace.xml": "<x command='{program}'/>", ".envrc": "touch {victim}/ran\n", "Makefile": "x := $(shell touch {victim}/ran)\n", ".mcp.json": '{"mcpServers": {"x": {"command": "{program}"}}}', ".claude/settings.json": '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "{program}"}]}]}}', ".cursor/mcp.json": '{"mcpServers": {"x": {"command": "{program}"}}}', ".tool-versions": "python path:{victim}/bin\n", ".python-version": "../../victim\n", "mise.toml": "[env]\n_.source = '{program}'\n", ".pre-commit-config.yaml": "repos: [{repo: local, hooks: [{id: x, entry: '{program}'}]}]\n"},
}  # fmt: skip


def source_cases() -> Iterator[Case]:
    """Every case of this module."""
    for language in _NESTS:
        yield _nested(language)
        yield _malformed(language)
    for name, files in _DATA.items():
        yield from_files(f"contents: {name}", files)
