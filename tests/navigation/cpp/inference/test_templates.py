"""Headers that only a build writes, made of their templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.navigation.cpp.inference.templates import templates_by_name, write_templates

TEMPLATE = """\
#cmakedefine APP_HAVE_STDIO_H 1
#cmakedefine HAVE_MALLOC
#cmakedefine HAVE_NO_SUCH_FUNCTION 1
#cmakedefine ENABLE_TURBO 1
#cmakedefine01 HAVE_STRLEN
#define APP_SIZEOF_LONG @APP_SIZEOF_LONG@
#define VERSION "@VERSION@"
#undef HAVE_STDLIB_H
"""


@pytest.mark.skipif(
    not Path("/usr/include/stdlib.h").is_file(), reason="the C library's headers are not here"
)
def test_options_that_the_platform_has_are_on_and_all_others_off(tmp_path: Path) -> None:
    (tmp_path / "config.h.in").write_text(TEMPLATE)
    assert templates_by_name(["config.h.in", "main.c"]) == {"config.h": ["config.h.in"]}
    write_templates(tmp_path, {"made/config.h": "config.h.in", "made/gone.h": "gone.h.in"}, tmp_path)
    assert (tmp_path / "made/config.h").read_text().split("\n") == [
        "#define APP_HAVE_STDIO_H 1",
        "#define HAVE_MALLOC 1",
        "",
        "",
        "#define HAVE_STRLEN 1",
        "#define APP_SIZEOF_LONG 8",
        '#define VERSION "0"',
        "#define HAVE_STDLIB_H 1",
        "",
    ]
