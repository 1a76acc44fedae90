"""What an edit does to tokens, and who may include whom, by the texts alone."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codenib.core.text.c_tokens import lex
from codenib.navigation.cpp.includes import Includes
from codenib.navigation.cpp.maintenance.edits import Macros, edit_of

_LINES = st.lists(
    st.sampled_from(
        ["int a;", "// note", "#define A 1", "#if X", "#endif", "f(a, b);", "/* x */ long  c;", "", "}", "{"]
    ),
    max_size=12,
)


@given(_LINES, _LINES)
def test_a_token_that_stayed_is_found_where_it_is_now(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old), "\n".join(new)
    edit = edit_of(before, after, is_c=True)
    there = {(token.line, token.column): token.text for token in lex(after, is_c=True)}
    for token in lex(before, is_c=True):
        now = edit.now((token.line, token.column))
        if now is not None:
            assert there[now] == token.text


def test_a_comment_changes_no_token_and_a_condition_changes_everything() -> None:
    text = "#define A 1\nint a;\n"
    edit = edit_of(text, "// new\n#define A 1\n/* here */ int a;\n", is_c=True)
    assert (edit.wide, edit.macros, edit.old, edit.new) == (False, set(), set(), set())
    assert (edit.now((0, 8)), edit.now((1, 4))) == ((1, 8), (2, 15))
    assert edit_of(text, "#define A 2\nint a;\n", is_c=True).macros == {"A"}
    assert edit_of(text, "#ifdef A\nint a;\n#endif\n", is_c=True).wide


def test_a_macro_reaches_those_that_stand_for_it_and_never_a_condition() -> None:
    macros = Macros(["#define TWICE(x) ADD(x, x)\n#define FOUR TWICE(2)\n", "#if defined(LIMIT)\n#endif\n"])
    assert macros.reached({"ADD"}) == {"ADD", "TWICE", "FOUR"}
    assert macros.reached({"LIMIT"}) is None


def test_dependents_are_all_that_a_directive_may_lead_to(tmp_path: Path) -> None:
    texts = {
        "lib/a.h": "",
        "other/a.h": "",
        "lib/b.h": '#include "../lib/a.h"\n',
        "main.c": '# include <b.h>\n#if __has_include("late.h")\n#endif\n',
        "odd.c": "#include NAME\n",
        "apart.c": '#include "sub/a.h"\n',
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    includes = Includes(tmp_path)
    includes.read(texts)
    assert includes.dependents(["lib/a.h"]) == {"lib/a.h", "lib/b.h", "main.c", "odd.c", "apart.c"}
    assert includes.dependents(["other/a.h"]) == {"other/a.h", "odd.c", "apart.c"}
    assert includes.dependents(["late.h"]) == {"late.h", "main.c", "odd.c"}
    assert includes.closure("main.c") == {"main.c", "lib/b.h", "lib/a.h"}
    includes.learn({str(tmp_path / "odd.c"): [str(tmp_path / "other/a.h")]})
    assert includes.dependents(["lib/a.h"]) == {"lib/a.h", "lib/b.h", "main.c", "apart.c"}
