"""Which definitions are units: one source per language, then the hard cases."""

from __future__ import annotations

import pytest
from tests.units import block_sources, more_sources, sources

from codenib.core.source import Level
from codenib.units.extract import extract

CASES = sources.CASES | more_sources.CASES | block_sources.CASES


def units_of(source: str, hint: str) -> list[str]:
    rows = (
        row
        for row in extract(source.encode(), hint).rows
        if row.level is not Level.L0 and (row.leaf or row.level is Level.L1)
    )
    lines = (
        f"{row.start_line}-{row.end_line} {'' if row.leaf else '+'}{row.kind} {row.symbol}" for row in rows
    )
    return [line.rstrip() for line in lines]


def nested_of(source: str, hint: str) -> list[str]:
    rows = extract(source.encode(), hint).rows
    nested = [row for row in rows if row.level is Level.L2 and not row.leaf]
    return [f"{row.start_line}-{row.end_line} {row.kind} {row.symbol}" for row in nested]


@pytest.mark.parametrize(
    ("hint", "source", "expected"),
    [
        (
            "python",
            "LIMIT = 3\n\n\nclass A:\n    size = 1\n\n    def f(self):\n        def inner():\n"
            "            local = 2\n            return local\n        return inner\n",
            ["1-1 constant LIMIT", "5-5 attribute A.size", "8-10 function A.f.inner"],
        ),
        (
            "c",
            "#define MOST 3\ntypedef int count_t;\ntypedef int (*on_done)(int);\nenum e { ONE };\n"
            "int f(int);\n",
            [
                "1-1 macro MOST",
                "2-2 typedef count_t",
                "3-3 typedef on_done",
                "4-4 constant e.ONE",
                "5-5 prototype f",
            ],
        ),
        (
            "typescript",
            "import x from 'x';\ntype Id = string;\nconst y = require('y');\nexport const LIMIT = 3;\n"
            "function f() {\n  const inside = () => {\n    return 1;\n  };\n  const local = 3;\n"
            "  return inside;\n}\n",
            ["2-2 type Id", "4-4 variable LIMIT", "6-8 function f.inside"],
        ),
        ("go", "package p\n\nconst (\n\tOne = 1\n\tTwo = 2\n)\n\nvar V = 1\n", ["5-5 const Two"]),
        (
            "rust",
            "enum Kind {\n    First,\n    Second(u8),\n}\n",
            ["2-2 variant Kind.First", "3-3 variant Kind.Second"],
        ),
    ],
)
def test_declarations_without_a_unit_of_their_own_have_names(
    hint: str, source: str, expected: list[str]
) -> None:
    assert nested_of(source, hint) == expected


def test_a_function_too_long_for_one_unit_is_cut_by_the_functions_in_it() -> None:
    inner = "".join(f"  function step{n}() {{\n    return {n};\n  }}\n" for n in range(120))
    source = f"function render() {{\n{inner}  return step0;\n}}\n"
    units = units_of(source, "javascript")
    assert units[0] == "1-363 +function render"
    assert "2-4 method render.step0" in units or "2-4 function render.step0" in units
    assert nested_of(source, "javascript") == []


def test_items_inside_of_rust_macros_are_units() -> None:
    source = (
        "cfg_rt! {\n    /// Runs.\n    pub fn block_on() {\n        run()\n    }\n\n    cfg_time! {\n"
        "        pub struct Sleep {\n            at: u8,\n        }\n    }\n}\n\nvec! {\n    1\n}\n"
    )
    units = units_of(source, "rust")
    assert "2-6 function block_on" in units
    assert "8-10 +struct Sleep" in units


@pytest.mark.parametrize("language", CASES)
def test_units_of_a_small_source(language: str) -> None:
    source, expected = CASES[language]
    assert units_of(source, language) == expected.split("\n")[1:-1]


def test_a_class_behind_a_macro_is_still_a_class() -> None:
    source = "BEGIN_NS\nnamespace detail\n{\nTPL\nclass Foo\n{\n  int f() { return 1; }\n};\n}\n"
    assert "7-9 method detail.Foo.f" in units_of(source, "cpp")


def test_a_function_that_swallowed_the_next_one_ends_where_that_begins() -> None:
    source = (
        'extern "C" __declspec(dllimport) int __stdcall Present();\nnamespace a {\n'
        "bool active() {\n  return Present() != 0;\n}\n}\n"
    )
    assert units_of(source, "cpp") == ["1-2 function Present", "3-6 function active"]


def test_a_detached_block_comment_belongs_to_the_function_below() -> None:
    source = "var a = 1;\n\n/**\n * Runs it.\n */\n\napp.run = function run() {\n};\n"
    assert units_of(source, "javascript") == ["1-2 module", "3-8 function app.run"]


def test_a_license_above_a_blank_line_stays_with_the_module() -> None:
    source = "/** License. */\n\nfunction run() {\n}\n"
    assert units_of(source, "javascript") == ["1-2 module", "3-4 function run"]


def test_a_trailing_comment_is_not_a_doc_comment() -> None:
    source = "int a; /* about a */\nint f() {\n  return 1;\n}\n"
    assert units_of(source, "c") == ["1-1 module", "2-4 function f"]


def test_functions_inside_a_long_exported_function_are_found() -> None:
    inner = "".join(f"  function step{n}() {{\n    return {n};\n  }}\n" for n in range(30))
    long = units_of(f"module.exports = function (grunt) {{\n{inner}}};\n", "javascript")
    short = units_of(
        "module.exports = function (grunt) {\n  function step() {\n    return 1;\n  }\n};\n", "javascript"
    )
    assert "2-4 function step0" in long
    assert short == ["1-5 function module.exports"]


def test_functions_of_a_module_factory_are_found() -> None:
    source = "define(['a'], function (a) {\n  function run() {\n    return a;\n  }\n  return run;\n});\n"
    assert "2-4 function run" in units_of(source, "javascript")


def test_flow_types_do_not_hide_functions() -> None:
    source = "/* @flow */\nimport type {A} from 'a';\n\nexport function f<T>(a: ?T): T {\n  return a;\n}\n"
    assert "4-6 function f" in units_of(source, "javascript")


def test_a_call_at_top_level_with_a_function_is_a_unit() -> None:
    source = "(async () => {\n  await run();\n  stop();\n})();\n\ntest('x', () => {\n  run();\n});\n"
    assert units_of(source, "javascript") == ["1-5 callback", "6-8 callback test"]


def marked_of(source: str, hint: str) -> list[str]:
    rows = extract(source.encode(), hint).rows
    return [f"{row.start_line}-{row.end_line} {row.symbol}".rstrip() for row in rows if row.leaf and row.test]


def test_what_rust_compiles_for_tests_alone_is_a_test_and_nothing_else() -> None:
    source = """const LIMIT: u8 = 3;

#[cfg(test)]
use std::mem;

pub fn run() {
    todo!()
}

#[cfg(all(unix, test))]
mod tests {
    use super::*;

    fn helper() {}

    #[tokio::test(flavor = "multi_thread")]
    async fn runs() {
        run();
    }
}

#[cfg(not(test))]
fn real() {}

#[cfg(any(test, feature = "mock"))]
fn shared() {}

#[test]
fn alone() {}
"""
    assert marked_of(source, "rust") == ["10-13", "14-15 tests.helper", "16-21 tests.runs", "28-29 alone"]


def test_a_rust_file_that_is_compiled_for_tests_alone_is_all_tests() -> None:
    source = "// Helpers.\n#![cfg(test)]\n\nfn helper() {\n    todo!()\n}\n"
    assert marked_of(source, "rust") == ["1-3", "4-6 helper"]


def test_blocks_that_are_called_test_are_tests() -> None:
    zig = 'fn run() void {}\n\ntest "it runs" {\n    run();\n}\n\ntest {\n    run();\n}\n'
    assert marked_of(zig, "zig") == ["3-6 it runs", "7-9"]
    elixir = 'defmodule T do\n  describe "run" do\n    test "it runs" do\n      run()\n    end\n  end\nend\n'
    assert marked_of(elixir, "elixir") == ["3-7 T.run.it runs"]


def test_clauses_of_an_elixir_function_are_one_unit_with_its_documentation() -> None:
    source = (
        'defmodule M do\n  @moduledoc """\n  Text.\n  """\n\n'
        '  @doc """\n  Sums @ all.\n  """\n  @spec sum(list) :: integer\n'
        "  def sum([]), do: 0\n\n  def sum([head | tail]) do\n    head + sum(tail)\n  end\n\n"
        "  def other, do: 1\nend\n"
    )
    assert units_of(source, "elixir") == [
        "1-17 +module M",
        "1-5 body M",
        "6-15 method M.sum",
        "16-17 method M.other",
    ]


def test_a_long_dump_of_sql_is_cut_into_windows() -> None:
    rows = "CREATE TABLE a (id INT);\n" + "".join(f"INSERT INTO a VALUES ({n});\n" for n in range(4000))
    assert {unit.split()[1] for unit in units_of(rows, "sql")} == {"window"}
