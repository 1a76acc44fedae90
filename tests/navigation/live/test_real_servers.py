"""The same life with each real server, on small projects with text outside ASCII."""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.navigation.live.conftest import MakeLive, Watched

from codenib.core.navigation import Location, Position
from codenib.navigation.live.provider import LiveProvider


@dataclass(frozen=True)
class Project:
    """Files in which `name` is defined in `home` and used in `user`; `new` is one more file that uses it."""

    group: str
    name: str
    home: str
    user: str
    files: dict[str, str]
    new: tuple[str, str]


PROJECTS = [
    Project(
        "python", "größe", "a.py", "b.py",
        {
            "a.py": "def größe(x):\n    return x\n",
            "b.py": 'from a import größe\n\nprint("𝕏é", größe(2))\n',
        },
        ("c.py", 'from a import größe\n\nprint("𝕏é", größe(3))\n'),
    ),
    Project(
        "typescript", "größe", "src/a.ts", "src/b.ts",
        {
            "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext"}, "include": ["src"]}',
            "src/a.ts": "export function größe(x: number) {\n  return x;\n}\n",
            "src/b.ts": 'import { größe } from "./a";\n\nconsole.log("𝕏é", größe(2));\n',
        },
        ("src/c.ts", 'import { größe } from "./a";\n\nconsole.log("𝕏é", größe(3));\n'),
    ),
    Project(
        "go", "Größe", "a.go", "b.go",
        {
            "go.mod": "module example.com/m\n\ngo 1.21\n",
            "a.go": "package m\n\nfunc Größe(x int) int {\n\treturn x\n}\n",
            "b.go": 'package m\n\nfunc use() (string, int) { return "𝕏é", Größe(2) }\n',
        },
        ("c.go", 'package m\n\nfunc other() (string, int) { return "𝕏é", Größe(3) }\n'),
    ),
    Project(
        "rust", "größe", "src/lib.rs", "src/b.rs",
        {
            "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n\n[workspace]\n',
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "m"\nversion = "0.1.0"\n',
            "src/lib.rs": "pub mod b;\npub mod c;\n\npub fn größe(x: i32) -> i32 {\n    x\n}\n",
            "src/b.rs": 'pub fn s() -> (&\'static str, i32) { ("𝕏é", crate::größe(2)) }\n',
        },
        ("src/c.rs", 'pub fn t() -> (&\'static str, i32) { ("𝕏é", crate::größe(3)) }\n'),
    ),
    Project(
        "cpp", "größe", "a.cpp", "b.cpp",
        {
            "a.h": "int größe(int x);\n",
            "a.cpp": '#include "a.h"\nint größe(int x) {\n  return x;\n}\n',
            "b.cpp": '#include "a.h"\nconst char *s = "𝕏é"; int y = größe(2);\n',
        },
        ("c.cpp", '#include "a.h"\nconst char *t = "𝕏é"; int z = größe(3);\n'),
    ),
]  # fmt: skip


@pytest.fixture(params=PROJECTS, ids=lambda project: project.group)
def project(request: pytest.FixtureRequest) -> Project:
    found: Project = request.param
    return found


@pytest.fixture
def root(project: Project, tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    for name, text in project.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    if project.group == "cpp":
        rows = [
            {"directory": str(folder), "file": name, "arguments": ["clang++", "-c", name]}
            for name in ("a.cpp", "b.cpp", "c.cpp")
        ]
        (folder / "compile_commands.json").write_text(json.dumps(rows))
    return folder


@pytest.mark.slow
def test_a_real_server_answers_through_edits_and_a_crash(
    project: Project, root: Path, live: MakeLive
) -> None:
    before = sorted(root.rglob("*"))
    provider = live(project.group, root)
    home, use = place(root, project.home, project.name), place(root, project.user, project.name)
    assert starts(provider.definition(use).locations) == [start(home)]
    references = provider.references(use)
    assert references.settled
    assert texts(root, references.locations) == {project.name}
    assert {start(home), start(use)} <= set(starts(references.locations))
    symbols = provider.document_symbols(project.home)
    assert project.name in {symbol.name.partition("(")[0] for symbol in symbols}

    with ThreadPoolExecutor(4) as pool:
        same = list(pool.map(provider.references, [use] * 8))
    assert same == [references] * 8

    pid = provider.pid
    assert pid is not None
    os.killpg(pid, signal.SIGKILL)
    assert provider.references(use) == references
    assert provider.pid not in (None, pid)

    edits(project, root, provider)
    running = Watched(provider.pid)
    assert running.pids
    provider.close()
    assert running.all_end()
    assert sorted(set(root.rglob("*")) - set(before)) == [root / project.new[0]]


def edits(project: Project, root: Path, provider: LiveProvider) -> None:
    """An edit of the file asked about, then one of the definition's file, then a new file."""
    user, home = root / project.user, root / project.home
    head, rest = user.read_text().split("\n", 1)
    user.write_text(f"{head}\n\n\n{rest}")
    use = place(root, project.user, project.name)
    assert start(use) in starts(provider.references(use).locations)

    lines = home.read_text().split("\n")
    home.write_text("\n".join([lines[0], "", "", *lines[1:]]))
    moved = place(root, project.home, project.name)
    assert starts(provider.definition(use).locations) == [start(moved)]
    assert {start(use), start(moved)} <= set(starts(provider.references(use).locations))

    name, text = project.new
    (root / name).write_text(text)
    new = place(root, name, project.name)
    assert {start(use), start(new)} <= set(starts(provider.references(use).locations))


@pytest.mark.slow
def test_an_interpreter_of_the_repository_runs_only_when_trusted(tmp_path: Path, live: MakeLive) -> None:
    root = tmp_path / "root"
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    for name in ("python", "python3"):
        program = root / ".venv" / "bin" / name
        program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
        program.chmod(0o755)
    (root / "a.py").write_text("x = 1\n")
    live("python", root).definition(Position("a.py", 1, 0))
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_header_is_read_as_the_source_that_includes_it_reads_it(tmp_path: Path, live: MakeLive) -> None:
    root = tmp_path / "root"
    root.mkdir()
    files = {
        "a.c": 'typedef int size;\n#define STATIC_ONLY\n#define MADE(x) size x;\n#include "late.h"\n',
        "late.h": "#pragma once\n#ifdef STATIC_ONLY\nextern size total;\n#endif\nMADE(rest)\n",
    }
    for name, text in files.items():
        (root / name).write_text(text)
    rows = [{"directory": str(root), "file": "a.c", "arguments": ["cc", "-c", "a.c"]}]
    (root / "compile_commands.json").write_text(json.dumps(rows))
    provider = live("cpp", root)
    size, made = Position("late.h", 3, 7), Position("late.h", 5, 0)
    assert starts(provider.definition(size).locations) == [("a.c", 1, 12)]
    assert starts(provider.references(size).locations) == [("a.c", 1, 12), ("late.h", 3, 7), ("late.h", 5, 0)]
    assert starts(provider.definition(made).locations) == [("a.c", 3, 8)]
    (root / "a.c").write_text("\n" + files["a.c"])
    assert starts(provider.definition(made).locations) == [("a.c", 4, 8)]


def place(root: Path, path: str, name: str) -> Position:
    """The last place of `name` in a file, or the one after `def`-like words in its home."""
    lines = (root / path).read_text().split("\n")
    line = max(number for number, text in enumerate(lines) if name in text)
    return Position(path, line + 1, lines[line].rindex(name))


def start(position: Position | Location) -> tuple[str, int, int]:
    return (position.path, position.line, position.column)


def starts(locations: tuple[Location, ...]) -> list[tuple[str, int, int]]:
    return [start(location) for location in locations]


def texts(root: Path, locations: tuple[Location, ...]) -> set[str]:
    return {
        (root / row.path).read_text().split("\n")[row.line - 1][row.column : row.end_column]
        for row in locations
    }
