"""What stands before a header in the source that first includes it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.header_context import HeaderContexts

FILES = {
    "src/a.c": '#define A\n#include "own.h"\n#if 1\n#include "../include/outer.h"\n#endif\n'
    '#include "list.h"\n',
    "src/own.h": "#pragma once\nint own;\n",
    "src/list.h": "OP(LOAD)\n",
    "include/outer.h": '#ifndef OUTER_H\n#define OUTER_H\n/* #include "inner.h" */\ntypedef int size;\n'
    '#include "inner.h"\n#endif\n',
    "include/inner.h": "#ifndef INNER_H\n#define INNER_H\nextern size one;\n#endif\n",
    "include/strange.h": "",
}
INCLUDES = {
    "src/a.c": ["src/own.h", "include/outer.h", "src/list.h", "include/strange.h"],
    "include/outer.h": ["include/inner.h"],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def contexts(root: Path, most_bytes: int = 1 << 20) -> HeaderContexts:
    source = str(root / "src" / "a.c")
    includes = {str(root / path): [str(root / each) for each in some] for path, some in INCLUDES.items()}
    command = CompileCommand(source, str(root), ("cc", "-DX", source))
    return HeaderContexts(root, root.parent / "copies", [command], includes, most_bytes=most_bytes)


def test_before_a_header_stand_its_includers_up_to_their_directives(root: Path) -> None:
    found = {each.file.removeprefix(f"{root}/"): each.arguments for each in contexts(root).write()}
    # By which directive a file comes that none names is not known; one without a guard has several meanings.
    assert found.keys() == {"src/own.h", "include/outer.h", "include/inner.h"}
    arguments = found["include/inner.h"]
    copies = [Path(word) for flag, word in pairwise(arguments) if flag == "-include"]
    assert [copy.name for copy in copies] == ["a.c", "outer.h"]
    assert copies[0].read_text() == '#define A\n#include "own.h"\n#if 1\n#endif\n'
    outer = FILES["include/outer.h"].partition('#include "inner.h"\n')[0]
    assert copies[1].read_text() == f"{outer}#endif\n#undef INNER_H\n"
    assert arguments[:2] == ("cc", "-DX")
    assert [word for word in arguments if word.startswith("-iquote")] == [
        f"-iquote{root}/include",
        f"-iquote{root}/src",
    ]
    assert arguments[-3:] == ("-x", "c-header", str(root / "include/inner.h"))


def test_only_an_edit_before_a_directive_outdates_them(root: Path) -> None:
    found = contexts(root)
    found.write()
    source = root / "src" / "a.c"
    source.write_text(FILES["src/a.c"] + "int more;\n")
    assert not found.is_outdated(["src/a.c", "include/strange.h"])
    source.write_text("#define B\n" + FILES["src/a.c"])
    assert not found.is_outdated(["include/strange.h"])
    assert found.is_outdated(["src/a.c"])


def test_headers_differ_where_other_texts_stand_before_them(root: Path) -> None:
    before = contexts(root)
    before.write()
    source = root / "src" / "a.c"
    source.write_text(FILES["src/a.c"].replace("#if 1", "int more;\n#if 1"))
    after = contexts(root)
    after.write()
    assert before.concerned(["src/a.c"])
    assert not before.concerned(["src/b.c"])
    assert after.differing(before) == {"include/outer.h", "include/inner.h"}
    # Before these the copies include own.h.
    assert after.reading(["src/own.h"]) == {"include/outer.h", "include/inner.h"}
    assert after.reading(["include/strange.h"]) == set()


def test_copies_take_no_more_than_their_room_and_what_has_none_outdates_nothing(root: Path) -> None:
    found = contexts(root, most_bytes=5000)
    assert [Path(each.file).name for each in found.write()] == ["own.h"]
    assert [each.name for each in (root.parent / "copies").rglob("*") if each.is_file()] == ["a.c"]
    (root / "include" / "outer.h").write_text("#define OTHER\n")
    assert not found.is_outdated(["include/outer.h"])


def test_a_header_at_the_end_of_a_long_chain_is_opened_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    names = [f"h{at}.h" for at in range(100)]
    for name, following in zip(["a.c", *names], [*names, ""], strict=True):
        include = f'#include "{following}"\n' if following else ""
        (root / name).write_text(f"#pragma once\n{include}")
    paths = [str(root / name) for name in ("a.c", *names)]
    includes = {path: [following] for path, following in pairwise(paths)}
    command = CompileCommand(paths[0], str(root), ("cc", paths[0]))
    found = HeaderContexts(root, tmp_path / "copies", [command], includes).write()
    assert [Path(each.file).name for each in found] == names[:32]
