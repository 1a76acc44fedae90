"""The registry: every row loads, paths and first lines name the language."""

from __future__ import annotations

import subprocess
import sys

import pytest

from codenib.units.languages import (
    LANGUAGES,
    Language,
    grammar_for,
    language_hint,
    language_of,
    parser_for,
    units_version,
)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda row: row.name)
def test_every_grammar_loads_and_its_queries_compile(language: Language) -> None:
    parser, query = parser_for(language)
    assert parser.parse(b"").root_node is not None
    assert query.pattern_count > 0


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("a/b.py", "python"),
        ("b.pyi", "python"),
        ("x/lib.rs", "rust"),
        ("lib/zstd.h", "cpp"),
        ("lib/zstd.c", "c"),
        ("app.tsx", "tsx"),
        ("app.mts", "typescript"),
        ("app.jsx", "javascript"),
        ("A.CS", "csharp"),
        ("Gemfile", "ruby"),
        ("Makefile", "make"),
        ("README", "plaintext"),
        ("README.md", "markdown"),
        ("package.json", "json"),
        ("strange.qqq", "text"),
        ("bin/run", ""),
        (".gitignore", ""),
        ("", ""),
    ],
)
def test_a_path_gives_its_language(path: str, hint: str) -> None:
    assert language_hint(path) == hint


@pytest.mark.parametrize(
    ("first", "language"),
    [
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python\n", "python"),
        (b"#!/bin/sh -e\n", "bash"),
        (b"#! /usr/bin/env -S node --flag\n", "javascript"),
        (b"#!/usr/bin/env ruby", "ruby"),
        (b"#!/usr/bin/env lua\n", "lua"),
        (b"#!/usr/bin/php\n", "php"),
        (b"#!/opt/strange\n", "text"),
        (b"#!\n", "text"),
        (b"hello\n", "text"),
    ],
)
def test_a_shebang_names_the_language_only_when_the_path_does_not(first: bytes, language: str) -> None:
    assert language_of(first, "") == language
    assert language_of(first, "toml") == "toml"


def test_flow_typed_javascript_is_parsed_as_tsx() -> None:
    flow = grammar_for(b"/* @flow */\n", "javascript")
    plain = grammar_for(b"/* flow */\n", "javascript")
    assert flow is not None and flow.name == "tsx"
    assert plain is not None and plain.name == "javascript"
    assert grammar_for(b"", "json") is None


def test_extensions_are_claimed_once() -> None:
    claimed = [extension for language in LANGUAGES for extension in language.extensions]
    assert len(claimed) == len(set(claimed))


def test_the_version_names_every_grammar() -> None:
    version = units_version()
    assert "tree-sitter-python=" in version
    assert "tree-sitter-c-sharp=" in version
    assert "=none" not in version


def test_importing_the_stage_does_not_import_tree_sitter() -> None:
    code = (
        "import sys, codenib.units.extract, codenib.units.record, codenib.units.marks;"
        "sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
