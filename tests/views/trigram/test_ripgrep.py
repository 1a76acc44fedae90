"""The matching lines and columns are ripgrep's, over this repository's own source."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.views.conftest import Sources

from codenib.views.trigram.derive import TrigramDeriver
from codenib.views.trigram.read import TrigramView
from codenib.views.trigram.view import TrigramViewBuilder

RG = Path(sys.executable).with_name("rg")
ROOT = Path(__file__).parents[3]

Hit = tuple[str, int, tuple[tuple[int, int], ...]]

FIXED = [
    "^$",
    "^",
    r"\s+$",
    ".",
    r"\bdef\b",
    r"[^\x00-\x7f]",
    r"\W\w\W",
    "(a|b)c+",
    r"^\s*#",
    r"\d{2,}",
    "é|→",
]
FIXED += [
    r"class\s+\w+\(",
    r"[^\s]+\s\(",
    "(?i)TrigramView",
    r"self\.\w+\[",
    '"[^"]*"$',
    r"\{.*\}",
    "x{2}",
    r"\t",
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository's Python files, and a few with odd line ends.

    Without the dotted capital I of Turkish: ignoring case, `regex` takes it for an i and ripgrep does not.
    """
    folder = tmp_path_factory.mktemp("copy")
    sources = [path for top in ("src", "tests") for path in (ROOT / top).rglob("*.py")]
    odd = {
        "crlf.txt": b"def a\r\n\r\nend\r\n",
        "none.txt": b"",
        "open.txt": b"def",
    }
    odd["bom.txt"] = b"\xef\xbb\xbfdef\n"
    for path in sources:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes().replace("\u0130".encode(), b"I"))
    for name, data in odd.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def view(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> TrigramView:
    builder = TrigramViewBuilder()
    sources = Sources().use([TrigramDeriver()])
    files = {str(path.relative_to(copy)): path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    out = tmp_path_factory.mktemp("view")
    builder.build(sources.snapshot(files), sources, out)
    return TrigramView.open(out)


class _Text(msgspec.Struct):
    text: str


class _Submatch(msgspec.Struct):
    start: int
    end: int


class _Line(msgspec.Struct):
    path: _Text
    line_number: int
    lines: _Text
    submatches: list[_Submatch]


class _Row(msgspec.Struct):
    type: str
    data: msgspec.Raw


def matched_lines(pattern: str, folder: Path, *options: str) -> list[_Line]:
    command = [
        str(RG),
        "--no-config",
        "--hidden",
        "--no-ignore",
        "-a",
        "--json",
        *options,
        "-e",
        pattern,
        ".",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    rows = [msgspec.json.decode(row, type=_Row) for row in done.stdout.splitlines()]
    return [msgspec.json.decode(row.data, type=_Line) for row in rows if row.type == "match"]


def ripgrep(pattern: str, folder: Path, *options: str) -> list[Hit]:
    lines = matched_lines(pattern, folder, *options)
    return sorted((line.path.text.removeprefix("./"), line.line_number, columns(line)) for line in lines)


def covered(pattern: str, folder: Path) -> list[tuple[str, int]]:
    """Every line of a match of ripgrep's, which makes one block of matches in neighbouring lines."""
    lines = matched_lines(pattern, folder, "-U")
    return sorted(
        (each.path.text.removeprefix("./"), each.line_number + at)
        for each in lines
        for at in range(len(each.lines.text.removesuffix("\n").split("\n")))
    )


def columns(line: _Line) -> tuple[tuple[int, int], ...]:
    """Ripgrep's byte offsets as code points."""
    raw = line.lines.text.encode()
    return tuple((len(raw[: hit.start].decode()), len(raw[: hit.end].decode())) for hit in line.submatches)


def check(view: TrigramView, copy: Path, pattern: str, *options: str) -> None:
    expected = ripgrep(pattern, copy, *options)
    # No time limit worth the name: a busy machine would cut the answer short, and say so.
    found = view.search(pattern, ignore_case="-i" in options, literal="-F" in options, timeout_s=300)
    assert [(item.path, item.line, item.spans) for item in found.items] == expected


SPANNING = [
    r"^@\w+[^\n]*\ndef \w+",
    r"import \w+\n\nfrom",
    r"(?s)class Trigram\w+.{0,300}?def ",
    r"def \w+\([^)]*\)\s*->\s*None:\n\s+assert",
    r"[ \n]pytest\b",
    r"def\b",
]


@pytest.mark.parametrize("pattern", SPANNING)
def test_patterns_that_span_lines_match_the_lines_of_ripgrep(
    view: TrigramView, copy: Path, pattern: str
) -> None:
    found = view.search(pattern, multiline=True, timeout_s=300)
    lines = [(item.path, item.line + at) for item in found.items for at in range(item.text.count("\n") + 1)]
    assert sorted(lines) == covered(pattern, copy)
    assert sum(found.by_file.values()) == found.total == len(found.items) > 0


@pytest.mark.parametrize("pattern", FIXED)
def test_chosen_patterns_match_the_lines_of_ripgrep(view: TrigramView, copy: Path, pattern: str) -> None:
    check(view, copy, pattern)


def test_sampled_patterns_match_the_lines_of_ripgrep(view: TrigramView, copy: Path) -> None:
    draw = random.Random(20)
    lines = [
        line
        for path in sorted(copy.rglob("*.py"))
        for line in path.read_text().splitlines()
        if len(line) > 12
    ]
    words = sorted({word for line in lines for word in re.findall(r"\w{4,}", line)})
    for _ in range(12):
        line, word, other = draw.choice(lines), draw.choice(words), draw.choice(words)
        start = draw.randrange(len(line) - 6)
        check(view, copy, line[start : start + draw.randint(2, 12)], "-F")
        check(view, copy, line[start : start + draw.randint(2, 12)], "-F", "-i")
        check(view, copy, rf"\b{word}\b")
        check(view, copy, word.swapcase(), "-i")
        check(view, copy, f"{word}|{other}")
        check(view, copy, rf"{word[:2]}[{word[2:4]}]+\w*\s*[=(:]")
        check(view, copy, rf"^\s+\S+.*{re.escape(line[-4:])}$")
