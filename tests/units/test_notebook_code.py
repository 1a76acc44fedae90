"""The code of notebooks: Python at the lines and columns of the file."""

from __future__ import annotations

import ast
import io
import json
import keyword
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.units.notebook_code import as_python, engine_name, file_name, from_cell

_NAMES = st.from_regex(r"[a-zé][a-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name)
)
_STATEMENTS = st.sampled_from(
    [
        "{a} = {b}", "def {a}({b}):\n    return {b}", 'print("{a} \\n", {b})', "'''{a}\n{b}'''",
        "if {a}:\n\t{b}()",
        '"""Doc of "{a}"."""', "{a} = '\\\\' + {b}", "{a}(\\\n    {b})", "# {a}\n{b} = 1", "# {a} alone", "",
        'r"\\d{{2}}\\"" + {a}', "{a} = [\n  {b},\n]",
    ]
)  # fmt: skip


def notebook(*cells: str, language: str = "python", **options: object) -> bytes:
    rows = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": text.splitlines(keepends=True)}
        for text in cells
    ]
    prose = {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "run(1)"]}
    about = {"kernelspec": {"language": language}, "language_info": {"name": language}}
    value = {"cells": [prose, *rows], "metadata": about, "nbformat": 4}
    return json.dumps(value, **{"indent": 1, "ensure_ascii": False, **options}).encode()  # type: ignore[arg-type]


def names(source: str) -> list[tuple[str, int, int]]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [(each.string, *each.start) for each in tokens if each.type == tokenize.NAME]


@given(st.lists(st.tuples(st.lists(_STATEMENTS, min_size=1, max_size=4), _NAMES, _NAMES), max_size=4))
def test_every_name_of_the_cells_stands_where_it_stands_in_the_file(
    cells: list[tuple[list[str], str, str]],
) -> None:
    sources = ["\n".join(rows).format(a=a, b=b) for rows, a, b in cells]
    data = notebook(*sources)
    code = as_python(data)
    assert code is not None
    ast.parse(code)
    lines = data.decode().split("\n")
    mine = names(code.decode())
    for name, line, column in mine:
        assert name in ("if", "True", "pass") or lines[line - 1][column : column + len(name)] == name
    wanted = [name for source in sources for name, *_ in names(source)]
    heads = ("if", "True", "pass")
    assert [name for name, *_ in mine if name not in heads] == [name for name in wanted if name not in heads]


@pytest.mark.parametrize(
    ("cell", "called"),
    [
        ("%matplotlib inline\nrun(1)", ["run"]),
        ("%time run(1)\n%timeit -n 10 other(2)", ["run", "other"]),
        ("%%time\nrun(1)", ["run"]),
        ("%%bash\nrun(1)", []),
        ("files = !ls\nrun(files)", ["run"]),
        ("run?\n?other\nrun(2)", ["run"]),
    ],
)
def test_commands_of_ipython_are_no_python_but_what_they_time_is(cell: str, called: list[str]) -> None:
    code = as_python(notebook(cell))
    assert code is not None
    calls = [each.func for each in ast.walk(ast.parse(code)) if isinstance(each, ast.Call)]
    assert [each.id for each in calls if isinstance(each, ast.Name)] == called


def test_a_notebook_of_another_language_has_lines_and_no_code() -> None:
    data = notebook("run(1)", language="julia")
    code = as_python(data)
    assert code is not None
    assert code.count(b"\n") == data.count(b"\n")
    assert b"run" not in code


@pytest.mark.parametrize(
    "data",
    [
        notebook("a = 1\nb = 2", indent=None),
        json.dumps({"cells": [{"cell_type": "code", "source": "a = 1\nb = 2"}]}, indent=1).encode(),
        b"\xff\xfe",
    ],
    ids=["one line", "one string", "no text"],
)
def test_lines_that_share_a_line_of_the_file_cannot_be_laid_out(data: bytes) -> None:
    assert as_python(data) is None


def test_a_place_in_a_cell_is_found_in_the_file() -> None:
    cell = 'print("é\\n", run(a))\nrun(2)'
    data = notebook("a = 1", cell)
    lines = data.decode().split("\n")
    for line, text in enumerate(cell.split("\n")):
        found = from_cell(data, 1, line, text.index("run"))
        assert found is not None
        assert lines[found[0]][found[1] :].startswith("run(")
    assert from_cell(data, 1, 2, 0) is None
    assert from_cell(data, 7, 0, 0) is None


def test_engines_know_a_notebook_by_another_name() -> None:
    assert file_name(engine_name("a/b.ipynb")) == "a/b.ipynb"
    assert engine_name("a/b.py") == file_name("a/b.py") == "a/b.py"
    assert file_name("b.codenib.py") == "b.codenib.py"
