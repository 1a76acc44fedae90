"""Which file a directive means, and what must be searched for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codenib.navigation.cpp.inference.include_folders import IncludeTree


def tree(root: Path, files: Mapping[str, str], *named: str) -> IncludeTree:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return IncludeTree(root, list(files), lambda _: named)


def test_a_name_in_quotes_means_the_file_beside_it_first(tmp_path: Path) -> None:
    found = tree(tmp_path, {"a/x.c": '#include "x.h"', "a/x.h": "", "include/x.h": ""})
    assert [each.target for each in found.direct("a/x.c")] == ["a/x.h"]
    assert found.folders("a/x.c") == ([], [])


def test_folders_for_quoted_names_hide_no_system_headers(tmp_path: Path) -> None:
    """A folder that only quoted names need is searched for those alone: `<string.h>` is the system's."""
    files = {
        "src/x.c": '#include <string.h>\n#include <lib/y.h>\n#include "own.h"',
        "compat/own.h": "",
        "compat/string.h": "",
        "include/lib/y.h": "",
    }
    assert tree(tmp_path, files).folders("src/x.c") == (["compat"], ["include"])


def test_what_headers_include_is_searched_too(tmp_path: Path) -> None:
    files = {"x.c": "#include <a/a.h>", "inc/a/a.h": "#include <b.h>", "deps/b/b.h": ""}
    assert tree(tmp_path, files).folders("x.c") == ([], ["inc", "deps/b"])


def test_of_several_files_the_nearest_that_is_no_copy_is_meant(tmp_path: Path) -> None:
    files = {"test/x.cc": "#include <json.hpp>", "include/json.hpp": "", "single_include/json.hpp": ""}
    assert [each.target for each in tree(tmp_path, files).direct("test/x.cc")] == ["include/json.hpp"]


def test_a_folder_that_the_build_names_comes_first(tmp_path: Path) -> None:
    files = {"a/x.c": '#include "z.h"', "a/old/z.h": "", "b/z.h": ""}
    assert [each.target for each in tree(tmp_path, files, "b").direct("a/x.c")] == ["b/z.h"]


def test_what_only_other_platforms_include_is_not_certain(tmp_path: Path) -> None:
    text = '#if defined(_WIN32) || defined(__CYGWIN__)\n#include "w.h"\n#elif X\n#include "u.h"\n#endif'
    found = tree(tmp_path, {"x.c": text, "w.h": "", "u.h": ""})
    assert found.closure("x.c", certain=True) == {"x.c", "u.h"}
    assert found.closure("x.c") == {"x.c", "u.h", "w.h"}
