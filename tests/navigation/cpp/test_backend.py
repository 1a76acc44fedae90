"""Facts of a small C and C++ project, and the live clangd asked at every name of it."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from codenib.core.facts import Role
from codenib.core.text.c_tokens import Token, TokenKind, lex
from codenib.manifest.home import tools_folder
from codenib.navigation.cpp.backend import CppBackend
from codenib.navigation.cpp.clangd.session import ClangdSession, path_to_uri, uri_to_path
from codenib.navigation.tools.locate import ExternalTool, Toolbox

ClangdPlace = tuple[str, int, int]

FILES = {
    "include/shape.h": """
        #ifndef SHAPE_H
        #define SHAPE_H
        #define SIDES 4
        #define TWICE(x) ((x) + (x))
        namespace geo {
        class Shape {
         public:
          virtual ~Shape() = default;
          virtual int area() const = 0;
          int scale(int by);
          static int count;
         protected:
          int factor_ = 1;
        };
        template <typename T> struct Box {
          T value;
          explicit Box(T v) : value(v) {}
          T get() const { return value; }
        };
        template <typename T> T largest(const Box<T>& a, const Box<T>& b) {
          auto first = a.get();
          return first > b.value ? first : b.get();
        }
        enum class Color { red, green };
        using Number = int;
        bool operator==(const Box<int>& a, const Box<int>& b);
        }  // namespace geo
        #endif
    """,
    "src/shape.cpp": """
        #include "shape.h"
        #include <string>
        namespace geo {
        int Shape::count = 0;
        int Shape::scale(int by) { factor_ *= by; return TWICE(factor_); }
        bool operator==(const Box<int>& a, const Box<int>& b) { return a.value == b.value; }
        static int helper(Number n) { return n + SIDES; }
        class Square : public Shape {
         public:
          explicit Square(int side) : side_(side) {}
          int area() const override { return side_ * helper(side_); }
         private:
          int side_;
        };
        class Big final : public Square { int area() const override { return Square::area() * 2; } };
        std::string describe(const Shape& shape) {
          Square other{3};
          auto text = std::to_string(shape.area() + other.area());
          for (const auto& letter : text) { if (letter == '0') goto done; }
        done:
          return text + "é🙂"; /* é */ int after = Shape::count; (void)after;
        }
        }  // namespace geo
    """,
    "src/main.cpp": """
        #include "shape.h"
        #include "plain.h"
        namespace geo { int unused_here(); }
        using geo::Box;
        namespace g = geo;
        int main() {
          Box<int> one(1), two{2};
          if (one == two) return plain_sum(1, 2);
          const auto square = [&one](int n) { return n * one.get(); };
          g::Color c = geo::Color::red;
          switch (c) { case g::Color::red: return square(SIDES); default: return TWICE(largest(one, two)); }
        }
    """,
    "src/plain.h": """
        #ifdef __cplusplus
        extern "C" {
        #endif
        typedef struct pair { int left, right; } pair_t;
        int plain_sum(int left, int right);
        #ifdef __cplusplus
        }
        #endif
    """,
    "src/plain.c": """
        #include "plain.h"
        static int add(pair_t class) { return class.left + class.right; }
        int plain_sum(int left, int right) {
          struct pair both = {.left = left, .right = right};
        #if 0
          both.left = add(both);
        #endif
          return add(both);
        }
    """,
}
# Asked at a using-declaration itself, clangd leaves out this file's own uses of it.
UNLIKE = ("references", ("src/main.cpp", 3, 11))
# Of a macro's parameters clangd knows nothing.
MACRO, MACRO_NAME_ENDS = ("include/shape.h", 3), 13
COMPILED = ["src/main.cpp", "src/plain.c", "src/shape.cpp"]


@pytest.fixture(scope="module")
def tools() -> Toolbox:
    tools = Toolbox(tools_folder())
    if tools.find("clangd") is None:
        pytest.skip("clangd is not installed (codenib tools install cpp)")
    return tools


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cpp") / "project"
    write(root, FILES)
    write_database(root, root, COMPILED)
    return root


@pytest.fixture(scope="module")
def lines(tools: Toolbox, project: Path) -> list[bytes]:
    return produce(tools, project)


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(textwrap.dedent(text).lstrip("\n"), "utf-8")


def write_database(folder: Path, root: Path, compiled: list[str]) -> None:
    rows = [
        {
            "directory": str(root),
            "file": path,
            "command": f"{'cc' if path.endswith('.c') else 'c++'} -Iinclude -c {path}",
        }
        for path in compiled
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(rows))


def produce(tools: Toolbox, root: Path, *, trusted: bool = False) -> list[bytes]:
    files = sorted(
        path.relative_to(root).as_posix() for path in root.rglob("*") if path.suffix in (".c", ".h", ".cpp")
    )
    return list(CppBackend(tools).produce(root, files, lambda stage, done, total: None, trusted=trusted))


class Facts:
    """Answers from the lines, as docs of the format say."""

    def __init__(self, lines: list[bytes]) -> None:
        self.files = {facts["path"]: facts for facts in map(json.loads, lines)}
        self._at: dict[Any, set[ClangdPlace]] = defaultdict(set)
        self._also: dict[Any, set[Any]] = defaultdict(set)
        self._rows: dict[ClangdPlace, tuple[set[Any], set[Any]]] = {}
        for path, facts in self.files.items():
            targets = [tuple(target) if isinstance(target, list) else target for target in facts["targets"]]
            lists = [{targets[at] for at in row} for row in facts["lists"]] + [set()]
            flat = facts["occurrences"]
            for at in range(0, len(flat), 8):
                line, column, _, _, _, defs, keys, asks = flat[at : at + 8]
                for key in lists[keys]:
                    self._at[key].add((path, line, column))
                self._rows[path, line, column] = lists[defs], lists[keys if asks < 0 else asks]
            for kind, source, aim in facts["relations"]:
                if kind == "also":
                    self._also[targets[source]].add(targets[aim])

    def definition(self, place: ClangdPlace) -> set[ClangdPlace]:
        found = self._rows.get(place, (set(), set()))[0]
        return {(*target, 0, 0)[:3] for target in found if isinstance(target, tuple)}

    def references(self, place: ClangdPlace) -> set[ClangdPlace]:
        asks = self._rows.get(place, (set(), set()))[1]
        keys = asks | {key for ask in asks for key in self._also[ask]}
        return {found for key in keys for found in self._at[key]}


def live(tool: ExternalTool, root: Path, database: Path) -> dict[tuple[str, ClangdPlace], set[ClangdPlace]]:
    """What a fresh clangd answers at every name. Headers come first: once a source has been open, clangd
    reads the headers that it includes by its options."""
    command = (*tool.command, "--background-index", "--limit-references=0", "--limit-results=0",
               f"--compile-commands-dir={database}", "--log=error")  # fmt: skip
    found = {}
    with ClangdSession(command, root) as session:
        session.wake()
        for path in sorted(FILES, key=lambda path: not path.endswith(".h")):
            uri = path_to_uri(str(root / path))
            text = (root / path).read_text("utf-8")
            document = {"uri": uri, "languageId": "cpp", "version": 1, "text": text}
            session.tell("textDocument/didOpen", {"textDocument": document})
            names = [
                token for token in lex(text, is_c=path.endswith(".c")) if token.kind is not TokenKind.OTHER
            ]
            for method in ("definition", "references"):
                answers = session.ask_all(
                    [(f"textDocument/{method}", position(uri, token)) for token in names]
                )
                for token, answer in zip(names, answers, strict=True):
                    found[method, (path, token.line, token.column)] = places(answer, root)
            session.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    return found


def position(uri: str, token: Token) -> dict[str, Any]:
    place = {"line": token.line, "character": token.column}
    return {"textDocument": {"uri": uri}, "context": {"includeDeclaration": True}, "position": place}


def places(answer: Any, root: Path) -> set[ClangdPlace]:
    found = set()
    for item in answer or ():
        path = Path(uri_to_path(item["uri"]))
        if path.is_relative_to(root):
            start = item["range"]["start"]
            found.add((path.relative_to(root).as_posix(), start["line"], start["character"]))
    return found


def test_static_answers_equal_the_live_servers(
    tools: Toolbox, project: Path, lines: list[bytes], tmp_path: Path
) -> None:
    facts = Facts(lines)
    write_database(tmp_path, project, COMPILED)
    wrong = []
    answers = live(tools.require("clangd"), project, tmp_path)
    for (method, place), expected in answers.items():
        got = getattr(facts, method)(place)
        if (method, place) == UNLIKE or (method == "references" and is_include(project, place)):
            continue
        if place[:2] == MACRO and place[2] > MACRO_NAME_ENDS:
            continue
        if {found[:2] for found in got} != {found[:2] for found in expected}:
            wrong.append((method, place, sorted(got), sorted(expected)))
    assert not wrong, "\n".join(map(str, wrong))
    assert sum(bool(expected) for expected in answers.values()) > 300


PARTS = {
    "lib/list.h": "OP(LOAD)\nOP(STORE)\n",
    "lib/types.h": "typedef struct block { int size; } block;\nstruct block make(block one);\n"
    "int one_unit(void);\nint four_units(void);\ntypedef int measure;\n"
    "int few(void);\nint many(void);\n",
    "lib/late.h": "typedef measure length;\nextern measure spare;\nmeasure cut(length one);\n",
    "lib/double.c": """
        #include "types.h"
        #define WIDTH 8
        #define PICK(a, b) ((a) > (b) \\
            ? (a) : b_##b)
        enum codes {
        #define OP(name) name,
        #include "list.h"
        #undef OP
        };
        #define UNIT one_unit
        #include "common.c"
    """,
    "lib/common.c": """
        static int width(block one) { return WIDTH + one.size + LOAD; }
        int double_all(block one) { return width(one) + UNIT(); }
    """,
    "lib/quad.c": """
        #include "types.h"
        #include "late.h"
        #define WIDTH 16
        #define double_all quad_all
        #define UNIT four_units
        #include "common.c"
    """,
    # The library in one file, with an option of its own.
    "all.c": '#define SMALL\n#include "lib/rooms.c"\n',
    "lib/rooms.c": """
        #include "types.h"
        #ifndef SMALL
        int rooms(void) { return many(); }
        #else
        int rooms(void) { return few(); }
        #endif
    """,
    # Two types of one name, in headers of one name.
    "near/mem.h": "typedef int unit;\n",
    "near/near.c": '#include "mem.h"\n#include "near.h"\nunit near;\n',
    "near/near.h": '#include "mem.h"\nextern unit near;\n',
    "far/mem.h": "typedef char byte;\ntypedef long unit;\n",
    "far/far.c": '#include "mem.h"\nunit far;\n',
    "tools/one.c": "int quad_all();\nint main(void) { return quad_all(); }\n",
    "tools/two.c": "int main(void) { return 0; }\n",
    "tools/bare.c": "int bare(void) {\n  int local(int); return missing() + missing() + local(1);\n}\n",
    "tools/old.c": "int old(first)\n  int first;\n{ return first; }\n",
}


@pytest.fixture(scope="module")
def parts(tools: Toolbox, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Facts]:
    root = tmp_path_factory.mktemp("parts") / "project"
    write(root, PARTS)
    return root, Facts(produce(tools, root))


def found_at(project: tuple[Path, Facts], question: str, path: str, line: int, name: str) -> set[str]:
    """`path:line` of each answer at the first `name` of a line (1-based)."""
    root, facts = project
    column = re.search(rf"\b{name}\b", (root / path).read_text().split("\n")[line - 1])
    assert column is not None
    answer = getattr(facts, question)((path, line - 1, column.start()))
    return {f"{place[0]}:{place[1] + 1}" for place in answer}


def test_a_source_that_another_includes_is_read_as_its_includer_reads_it(parts: tuple[Path, Facts]) -> None:
    assert found_at(parts, "definition", "lib/common.c", 1, "WIDTH") == {"lib/double.c:2", "lib/quad.c:3"}
    assert found_at(parts, "definition", "lib/common.c", 1, "size") == {"lib/types.h:1"}
    assert found_at(parts, "definition", "lib/common.c", 1, "block") == {"lib/types.h:1"}
    assert found_at(parts, "references", "lib/types.h", 1, "size") == {"lib/types.h:1", "lib/common.c:1"}


def test_a_call_is_one_in_a_source_that_another_includes_too(parts: tuple[Path, Facts]) -> None:
    text = (parts[0] / "lib/common.c").read_text().split("\n")[1]
    rows = parts[1].files["lib/common.c"]["occurrences"]
    roles = {(rows[at], rows[at + 1]): Role(rows[at + 4]) for at in range(0, len(rows), 8)}
    assert Role.CALL in roles[1, text.index("width(")]
    assert Role.CALL not in roles[1, text.index("double_all(")]


def test_a_macro_that_an_includer_defines_is_used_and_not_declared_where_it_is_called(
    parts: tuple[Path, Facts],
) -> None:
    assert found_at(parts, "definition", "lib/common.c", 2, "UNIT") == {"lib/double.c:10", "lib/quad.c:5"}
    rows = parts[1].files["lib/common.c"]["occurrences"]
    column = (parts[0] / "lib/common.c").read_text().split("\n")[1].index("UNIT(")
    roles = {(rows[at], rows[at + 1]): Role(rows[at + 4]) for at in range(0, len(rows), 8)}
    assert roles[1, column] == Role.CALL
    assert "UNIT" not in {node[0] for node in parts[1].files["lib/common.c"]["nodes"]}


def test_a_function_that_nobody_declares_is_not_declared_by_its_first_call(
    parts: tuple[Path, Facts],
) -> None:
    assert found_at(parts, "definition", "tools/bare.c", 2, "missing") == set()
    assert found_at(parts, "definition", "tools/bare.c", 2, "local") == {"tools/bare.c:2"}
    names = {node[0] for node in parts[1].files["tools/bare.c"]["nodes"]}
    assert names == {"bare", "local"}


def test_a_source_that_is_compiled_itself_is_read_so_before_its_includers_reading_is_added(
    parts: tuple[Path, Facts],
) -> None:
    assert found_at(parts, "references", "lib/types.h", 7, "many") == {"lib/types.h:7", "lib/rooms.c:3"}
    assert found_at(parts, "references", "lib/types.h", 6, "few") == {"lib/types.h:6", "lib/rooms.c:5"}


def test_what_a_part_makes_of_each_includers_macros_is_defined(parts: tuple[Path, Facts]) -> None:
    assert found_at(parts, "definition", "tools/one.c", 2, "quad_all") == {"lib/quad.c:4"}
    assert found_at(parts, "references", "lib/types.h", 3, "one_unit") == {"lib/types.h:3", "lib/common.c:2"}
    assert found_at(parts, "references", "lib/types.h", 4, "four_units") == {
        "lib/types.h:4",
        "lib/common.c:2",
    }


def test_names_of_an_x_macro_header_are_those_of_its_includer(parts: tuple[Path, Facts]) -> None:
    assert found_at(parts, "definition", "lib/list.h", 1, "OP") == {"lib/double.c:6"}
    assert found_at(parts, "definition", "lib/list.h", 1, "LOAD") == {"lib/list.h:1"}
    assert found_at(parts, "references", "lib/list.h", 1, "LOAD") == {"lib/list.h:1", "lib/common.c:1"}


def test_a_type_in_a_header_that_stands_alone_is_not_what_is_declared_with_it(
    parts: tuple[Path, Facts],
) -> None:
    for line in (1, 2, 3):
        assert found_at(parts, "definition", "lib/late.h", line, "measure") == {"lib/types.h:5"}
    assert found_at(parts, "definition", "lib/late.h", 2, "spare") == {"lib/late.h:2"}


def test_a_macros_parameter_is_a_local_of_its_macro(parts: tuple[Path, Facts]) -> None:
    assert found_at(parts, "definition", "lib/double.c", 4, "a") == {"lib/double.c:3"}
    assert found_at(parts, "references", "lib/double.c", 3, "a") == {"lib/double.c:3", "lib/double.c:4"}
    assert found_at(parts, "definition", "lib/double.c", 4, "b") == {"lib/double.c:3"}


def test_a_parameter_in_the_old_style_is_declared_where_its_type_stands(parts: tuple[Path, Facts]) -> None:
    assert found_at(parts, "definition", "tools/old.c", 3, "first") == {"tools/old.c:2"}
    assert found_at(parts, "references", "tools/old.c", 3, "first") >= {"tools/old.c:2", "tools/old.c:3"}


def test_a_typedef_and_the_struct_of_its_name_are_two(parts: tuple[Path, Facts]) -> None:
    facts = parts[1]
    struct, typedef = ("lib/types.h", 0, 15), ("lib/types.h", 0, 35)
    assert facts.references(struct) == {struct, ("lib/types.h", 1, 7)}
    assert struct not in facts.references(typedef)
    assert len(facts.references(typedef)) == 4


def test_a_type_of_a_header_is_that_of_the_header_that_is_included(parts: tuple[Path, Facts]) -> None:
    assert found_at(parts, "definition", "near/near.h", 2, "unit") == {"near/mem.h:1"}
    assert found_at(parts, "definition", "near/near.c", 3, "unit") == {"near/mem.h:1"}
    assert found_at(parts, "definition", "far/far.c", 2, "unit") == {"far/mem.h:2"}


def test_each_program_has_its_own_main(parts: tuple[Path, Facts]) -> None:
    assert found_at(parts, "definition", "tools/one.c", 2, "main") == {"tools/one.c:2"}
    assert found_at(parts, "definition", "tools/two.c", 1, "main") == {"tools/two.c:1"}


def is_include(root: Path, place: ClangdPlace) -> bool:
    path, line, _ = place
    return (root / path).read_text("utf-8").split("\n")[line].lstrip().startswith("#include")


def test_two_runs_give_the_same_bytes(tools: Toolbox, project: Path, lines: list[bytes]) -> None:
    assert produce(tools, project) == lines


def test_every_target_in_the_repository_has_a_node(lines: list[bytes]) -> None:
    files = Facts(lines).files
    starts = {path: {(node[7], node[8]) for node in facts["nodes"]} for path, facts in files.items()}
    for facts in files.values():
        for target in facts["targets"]:
            if isinstance(target, list) and len(target) == 3:
                assert (target[1], target[2]) in starts[target[0]], target


def test_the_text_of_an_exact_occurrence_is_its_symbols_name(project: Path, lines: list[bytes]) -> None:
    files = Facts(lines).files
    names = {(path, n[7], n[8]): n[0] for path, facts in files.items() for n in facts["nodes"]}
    for path, facts in files.items():
        text = (project / path).read_text("utf-8").split("\n")
        flat, lists, targets = facts["occurrences"], facts["lists"], facts["targets"]
        for at in range(0, len(flat), 8):
            line, column, _, end, roles, _, keys, _ = flat[at : at + 8]
            found = (
                {names.get(tuple(targets[k])) for k in lists[keys] if isinstance(targets[k], list)}
                if keys >= 0
                else set()
            )
            if found and not roles & 64:
                span = text[line].encode("utf-16-le")[2 * column : 2 * end].decode("utf-16-le")
                assert span in found, (path, line, column)


def test_a_class_inherits_and_its_methods_override(lines: list[bytes]) -> None:
    facts = Facts(lines).files["src/shape.cpp"]
    names = {(node[7], node[8]): node[0] for node in facts["nodes"]}
    found = set()
    for kind, source, _ in facts["relations"]:
        target = facts["targets"][source]
        if kind in ("inherit", "override") and isinstance(target, list):
            found.add((kind, names[target[1], target[2]]))
    assert found == {("inherit", "Square"), ("inherit", "Big"), ("override", "area")}


def test_without_a_database_and_trust_commands_are_inferred_and_said_to_be(
    tools: Toolbox, tmp_path: Path
) -> None:
    write(tmp_path, FILES)
    backend = CppBackend(tools)
    lines = list(backend.produce(tmp_path, sorted(FILES), lambda *_: None, trusted=False))
    assert Facts(lines).definition(("src/main.cpp", 7, 25)) == {("src/plain.c", 2, 4)}
    [note] = backend.lacks
    assert "inferred" in note and "--trust" in note
    assert {json.loads(line)["scope"] for line in lines} == {"inferred"}


def test_a_trusted_repository_is_configured_by_cmake(tools: Toolbox, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not on the path")
    write(tmp_path, FILES)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(p C CXX)\ninclude_directories(include)\n"
        "add_library(p src/shape.cpp src/plain.c src/main.cpp)\n"
    )
    before = sorted(tmp_path.rglob("*"))
    facts = Facts(produce(tools, tmp_path, trusted=True))
    assert facts.definition(("src/main.cpp", 7, 25)) == {("src/plain.c", 2, 4)}
    assert sorted(tmp_path.rglob("*")) == before
