"""A Jupyter notebook in, Python of the very same lines and columns out, for engines that read Python.

A notebook is JSON with a string for each line of a cell. Each line of code stays at its line and column of
the file and everything else becomes blank, so that a place in the code is the place in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from codenib.units.languages import NOTEBOOK_SUFFIX
from codenib.units.notebooks import strings_in

_CODE_SUFFIX = ".codenib.py"
_CODE_NAME = f"{NOTEBOOK_SUFFIX}{_CODE_SUFFIX}"
_HEAD = "if True:"  # code is indented by what stands before it in the file
_WIDEST = 1000  # before a line of code; in a notebook on one line, a look at each cell would take its square
_PYTHON = frozenset({"python", "python2", "python3", "ipython", "pypy"})
_LANGUAGE = (("metadata", "language_info", "name"), ("metadata", "kernelspec", "language"))
_ESCAPE = re.compile(r'(?:\\")+|(?:\\\\)+|\\u[0-9a-fA-F]{4}|\\.')
_CHARACTER = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.S)
_OTHER_LANGUAGE = re.compile(r"\s*%%(?!time\b|timeit\b|capture\b|prun\b)")
_TIMED = re.compile(r"(\s*)%(?:timeit|time|prun)\b((?:\s+-\w+(?:\s+\d+)?)*)(?=\s)")
_COMMAND = re.compile(r"\s*[%!?].*|\s*[\w.]+\?\??\s*")
_NOTHING = re.compile(r"\s*(?:#.*)?")


@dataclass(slots=True)
class _Cell:
    is_code: bool = True
    lines: dict[int, str] = field(default_factory=dict)  # by number from 0, where they stand in the file
    written: dict[int, tuple[int, str]] = field(default_factory=dict)  # the column and the JSON of each


def engine_name(path: str) -> str:
    """The path by which engines know a file: a notebook's code is a Python file beside it."""
    return f"{path}{_CODE_SUFFIX}" if path.endswith(NOTEBOOK_SUFFIX) else path


def file_name(path: str) -> str:
    """The path of the file that engines know by `path`."""
    return path.removesuffix(_CODE_SUFFIX) if path.endswith(_CODE_NAME) else path


def exported_code(root: Path, path: str) -> bytes:
    """A file of an export as engines read it; nothing of a notebook that has no code for them."""
    if path.endswith(NOTEBOOK_SUFFIX) and not (root / engine_name(path)).is_file():
        return b""
    return (root / engine_name(path)).read_bytes()


def as_python(data: bytes) -> bytes | None:
    """The code of a notebook at its own lines and columns; None where it cannot be laid out so.

    That is a notebook with several lines of code on one line of the file, as few tools write them. One of
    another language has no Python, and so no lines.
    """
    try:
        count = data.decode().count("\n") + 1
        cells = _cells(data)
    except (UnicodeDecodeError, _Unreadable):
        return None
    if cells is None:
        return (f"{_HEAD} pass" + "\n" * (count - 1)).encode()
    kept = [""] * count
    for cell in cells:
        lines = _without_commands(cell.lines) if cell.is_code else {}
        if all(_NOTHING.fullmatch(line) for line in lines.values()):
            continue
        first = min(lines)
        if first == 0 or kept[first - 1]:  # there is no line for the head of the block
            return None
        kept[first - 1] = _HEAD
        for number, line in lines.items():
            kept[number] = line.rstrip()
    kept[0] = kept[0] or f"{_HEAD} pass"
    return "\n".join(kept).encode()


def from_cell(data: bytes, cell: int, line: int, column: int) -> tuple[int, int] | None:
    """The line and column of the file where a place of a cell of code stands; all are counted from 0."""
    try:
        cells = [each for each in _cells(data) or () if each.is_code]
    except (UnicodeDecodeError, _Unreadable):
        return None
    if not 0 <= cell < len(cells) or line >= len(cells[cell].written):
        return None
    number, (begin, written) = sorted(cells[cell].written.items())[line]
    ends = [match.end() for match in _CHARACTER.finditer(written)]
    return number, begin + ([0, *ends][min(column, len(ends))])


class _Unreadable(Exception):
    pass


def _cells(data: bytes) -> list[_Cell] | None:
    """The cells with their lines; None where the notebook says that it is of another language."""
    cells: dict[tuple[str | int, ...], _Cell] = {}
    number, counted = 0, 0
    for path, start, end in strings_in(data):
        if path in _LANGUAGE and data[start + 1 : end - 1].decode().lower() not in _PYTHON:
            return None
        place = 2 if path[:1] == ("worksheets",) else 0  # as notebooks were until 2014
        if path[place : place + 1] != ("cells",) or len(path) < place + 3:
            continue
        cell = cells.setdefault(path[: place + 2], _Cell())
        what = path[place + 2]
        if what == "cell_type":
            cell.is_code = data[start:end] == b'"code"'
        elif what in ("source", "input") and len(path) <= place + 4:
            number += data.count(b"\n", counted, start)
            counted = start
            before = data[max(data.rfind(b"\n", 0, start) + 1, start - _WIDEST) : start]
            readable = before.isascii() and len(before) < _WIDEST and b"\n" not in data[start:end]
            if number in cell.lines or not readable:
                raise _Unreadable
            written = data[start + 1 : end - 1].decode()
            cell.lines[number] = " " * (len(before) + 1) + _unescaped(written)
            cell.written[number] = len(before) + 1, written
    return list(cells.values())


def _unescaped(string: str) -> str:
    """The text of a JSON string, as wide as it is written; raises where it has more than one line.

    Blanks stand behind quotes and before backslashes, so that both stay beside what they belong to.

    >>> _unescaped(r'print(\\"a\\\\n\\")\\n')
    'print(" a \\\\n" )  '
    """
    if r"\n" in string[:-2].replace(r"\\", ""):
        raise _Unreadable
    return _ESCAPE.sub(_blank, string)


def _blank(escape: re.Match[str]) -> str:
    text = escape[0]
    half = " " * (len(text) // 2)
    if text[1] == '"':
        return '"' * len(half) + half
    if text[1] == "\\":
        return half + "\\" * len(half)
    if len(text) == 6 and text[1] == "u":
        char = chr(int(text[2:], 16))
        return (char if char.isprintable() else " ") + " " * 5
    return "/ " if text == r"\/" else "  "


def _without_commands(lines: dict[int, str]) -> dict[int, str]:
    """The lines without what is IPython's and not Python's; what a timing command runs stays."""
    if lines and _OTHER_LANGUAGE.match(lines[min(lines)]):
        return {}
    return {number: _without_command(line) for number, line in lines.items()}


def _without_command(line: str) -> str:
    """A line as Python reads it, names where they were.

    >>> _without_command("%time run(x)"), _without_command("files = !ls"), _without_command("!ls")
    ('0;    run(x)', 'files = 0', '')
    """
    if timed := _TIMED.match(line):
        indent = len(timed[1])
        return line[:indent] + "0;" + " " * (timed.end() - indent - 2) + line[timed.end() :]
    target, equals, value = line.partition("=")
    if equals and value.lstrip()[:1] in ("!", "%"):
        return f"{target}={value[: len(value) - len(value.lstrip())]}0"
    return "" if _COMMAND.fullmatch(line) else line
