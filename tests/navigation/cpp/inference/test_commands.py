"""A command for every source: the build's, the nearest file's, or one from texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.inference.commands import CompleteCommands

FILES = {
    "Makefile": "CFLAGS = -std=gnu99 -DLEVEL=2\n",
    "include/shape.h": "int area(int);\n",
    "src/shape.c": "#include <shape.h>\nint area(int side) { return side * side; }\n",
    "test/shape_test.cc": '#include "shape.h"\n',
    "include/alone.h": "namespace n { class A; }\n",
    "build/CMakeCache.txt": "",
    "build/copy.c": "",
}


def write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def test_without_a_build_commands_come_from_texts(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    found = CompleteCommands(tmp_path, [], tmp_path / ".templates")
    inside = {each.file.removeprefix(f"{tmp_path}/"): each.arguments[:-1] for each in found.commands}
    folder = tmp_path / "include"
    assert inside == {
        "include/alone.h": ("clang++", "-DLEVEL=2", "-x", "c++-header"),
        "src/shape.c": ("clang", "-std=gnu99", "-DLEVEL=2", f"-I{folder}"),
        "test/shape_test.cc": ("clang++", "-DLEVEL=2", f"-iquote{folder}"),
    }
    assert found.inferred == inside.keys()


def test_sources_of_the_program_come_before_tests_and_contributions(tmp_path: Path) -> None:
    write(tmp_path, {"contrib/a.c": "", "lib/b.c": "", "main.c": "", "src/test/c.c": "", "zlib/d.c": ""})
    found = CompleteCommands(tmp_path, [], tmp_path / ".templates").commands
    paths = [each.file.removeprefix(f"{tmp_path}/") for each in found]
    assert paths == ["lib/b.c", "main.c", "zlib/d.c", "contrib/a.c", "src/test/c.c"]


def test_a_source_comes_before_those_that_include_it(tmp_path: Path) -> None:
    files = {
        "all/all.c": '#include "../lib/both.c"\n#include "../lib/a.c"\n',
        "lib/both.c": '#include "a.c"\n#include "b.c"\n',
        "lib/a.c": "int a;\n",
        "lib/b.c": "int b;\n",
        "test/test.c": "int c;\n",
    }
    write(tmp_path, files)
    given = [CompileCommand(str(tmp_path / path), "/b", ("cc", str(tmp_path / path))) for path in files]
    found = CompleteCommands(tmp_path, given, tmp_path / ".templates")
    paths = [each.file.removeprefix(f"{tmp_path}/") for each in found.commands]
    assert paths == ["lib/a.c", "lib/b.c", "test/test.c", "lib/both.c", "all/all.c"]
    write(tmp_path, {"lib/both.c": "int both;\n"})
    assert not found.hold_after(["lib/both.c"])


def test_a_source_outside_the_database_gets_the_nearest_files_options(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "src/more.c": "", "tools/x.cpp": ""})
    given = [
        CompileCommand(str(tmp_path / path), "/b", (driver, *options, str(tmp_path / path)))
        for path, driver, options in (
            ("src/shape.c", "gcc", ("-DBUILT", "-std=c11")),
            ("test/shape_test.cc", "g++", ("-DTEST",)),
        )
    ]
    found = CompleteCommands(tmp_path, given, tmp_path / ".templates")
    by_path = {each.file.removeprefix(f"{tmp_path}/"): each for each in found.commands}
    assert by_path["src/more.c"].arguments[:-1] == ("gcc", "-DBUILT", "-std=c11")
    assert by_path["src/more.c"].directory == "/b"
    assert by_path["tools/x.cpp"].arguments[:-1] == ("g++", "-DTEST")
    assert found.inferred == {"src/more.c", "tools/x.cpp", "include/alone.h"}


def test_only_edits_of_directives_and_of_lonely_headers_change_commands(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    found = CompleteCommands(tmp_path, [], tmp_path / ".templates")
    write(tmp_path, {"src/shape.c": "#include <shape.h>\n"})
    assert found.hold_after(["src/shape.c"])
    write(tmp_path, {"include/alone.h": "struct a;\n"})
    assert not found.hold_after(["include/alone.h"])
    write(tmp_path, {"include/alone.h": FILES["include/alone.h"], "src/shape.c": '#include "alone.h"\n'})
    assert not found.hold_after(["src/shape.c"])


def test_a_header_that_only_a_build_writes_is_made_of_its_template(tmp_path: Path) -> None:
    root, made = tmp_path / "root", tmp_path / "made"
    files = {
        "src/a.c": '#include "config.h"\n#include <lib/version.h>\n',
        "src/config.h.in": "#undef HAVE_X\n#cmakedefine01 ON\n  #cmakedefine NAME 1\n",
        "version.h.cmake": '#define VERSION "@VERSION@"\n#define PART ${PART}\n',
    }
    write(root, files)
    [command] = CompleteCommands(root, [], made).commands
    assert command.arguments[1:-1] == (f"-iquote{made}/src", f"-I{made}")
    assert (made / "src" / "config.h").read_text() == "#undef HAVE_X\n#define ON 0\n\n"
    assert (made / "lib" / "version.h").read_text() == '#define VERSION "0"\n#define PART 0\n'


def test_a_template_cannot_be_written_elsewhere(tmp_path: Path) -> None:
    write(tmp_path / "root", {"a.c": '#include "../../x.h"\n#include </x.h>\n', "x.h.in": ""})
    CompleteCommands(tmp_path / "root", [], tmp_path / "made")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["root"]


def test_a_source_that_only_another_brings_in_has_no_command(tmp_path: Path) -> None:
    files = {
        "Makefile": "OBJ = whole.o \\\n  shared.o\nEXTRA_DIST = part.c\nwhole.o: whole.c part.c\n",
        "part.h": "",
        "whole.c": '#include "part.h"\n#include "part.c"\n#include "shared.c"\n#include "own.c"\n',
        "part.c": "",
        "shared.c": "",
        "own.c": '#include "part.h"\n',
        "all/all.c": '#include "part.h"\n#include "../whole.c"\n',
    }
    write(tmp_path, files)

    def compiled(*given: CompileCommand) -> set[str]:
        found = CompleteCommands(tmp_path, given, tmp_path / ".templates").commands
        return {each.file.removeprefix(f"{tmp_path}/") for each in found}

    assert compiled() == {"all/all.c", "own.c", "shared.c", "whole.c"}
    build = CompileCommand(str(tmp_path / "whole.c"), str(tmp_path), ("cc", str(tmp_path / "whole.c")))
    assert compiled(build) == {"all/all.c", "whole.c"}
