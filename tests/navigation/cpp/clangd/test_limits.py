"""Limits of CPU time: by what a file may include, less after each that took too much, until it is enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.core.errors import ProviderError
from codenib.navigation.cpp.clangd.limits import FileLimits, IncludedBytes
from codenib.navigation.cpp.includes import Includes


def included(root: Path, files: dict[str, str]) -> Includes:
    for path, text in files.items():
        (root / path).write_text(text)
    includes = Includes(root)
    includes.read(files)
    return includes


def test_each_file_counts_once_however_often_it_is_included(tmp_path: Path) -> None:
    once = '#include "a.h"\n'
    includes = included(tmp_path, {"a.h": "x" * 1000, "b.c": once, "c.c": once * 50})
    sizes = IncludedBytes(tmp_path, includes)
    assert (sizes.of("b.c"), sizes.of("c.c")) == (1000 + len(once), 1000 + 50 * len(once))


def test_what_the_system_has_counts_too(tmp_path: Path) -> None:
    if not Path("/usr/include/stdio.h").is_file():
        pytest.skip("no headers of a system")
    includes = included(tmp_path, {"a.c": "#include <stdio.h>\n", "b.c": "#include <../../etc/passwd>\n"})
    sizes = IncludedBytes(tmp_path, includes)
    assert sizes.of("a.c") > 10_000 > sizes.of("b.c")


def test_limits_shrink_with_each_file_that_took_too_much_and_then_clangd_is_given_up(tmp_path: Path) -> None:
    includes = included(tmp_path, {f"{n}.c": "int x;\n" for n in range(6)})
    limits = FileLimits(IncludedBytes(tmp_path, includes), 6, trusted=False)
    given = []
    with pytest.raises(ProviderError, match=r"2\.c and 1 other files take too long"):
        for n in range(6):
            given.append(limits.cpu_s(f"{n}.c"))
            limits.leave_out(f"{n}.c", "it took too much")
    assert sum(given) < 6.0 and given == sorted(given, reverse=True)


def test_only_what_no_good_file_includes_is_left_out_with_a_bomb(tmp_path: Path) -> None:
    files = {
        "bomb.c": '#include "bomb.h"\n#include "good.h"\n',
        "bomb.h": "",
        "good.h": "",
        "good.c": '#include "good.h"\n',
    }
    includes = included(tmp_path, files)
    limits = FileLimits(IncludedBytes(tmp_path, includes), 400, trusted=False)
    limits.leave_out("bomb.c", "it took too much")
    limits.leave_out_included(includes, ["good.c"])
    assert sorted(limits.left_out) == ["bomb.c", "bomb.h"]
