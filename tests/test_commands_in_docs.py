"""Every command line in README and docs runs on a small real repository, and prints what the page shows.

A page may leave lines of an output out, and `…` stands for any text; numbers that a machine or a model
decides are not compared. A command whose comment says what it `needs`, or that it `runs until` something, is
not run, nor is a block below such a comment.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.example_project import make_project

import codenib
from codenib.adapters.cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"(<!-- needs [^>]*-->\s*)?```(sh|console)\n(.*?)```", re.DOTALL)
_PYTHON = re.compile(r"(?<!-->\n)```python\n(.*?)```", re.DOTALL)
_NOT_RUN = re.compile(r"\b(?:needs|runs until)\b")
_INLINE = re.compile(r"`(codenib [a-z][^`\n]*)`")
_LEFT_TO_CHANCE = (
    (re.compile(r"\b[0-9a-f]{10,12}\b"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
    (re.compile(r"[\d,.]+ (?:ms|s|B|kB|MB|GB)\b"), "N"),
    (re.compile(r"\b\d+\.\d+\b"), "N"),
    (re.compile(r"matched: .*"), "matched"),
)


@dataclass
class Line:
    """A command of a page, with the output that the page shows below it."""

    command: str
    output: list[str] = field(default_factory=list)


def lines_of(page: Path) -> Iterator[Line]:
    for needs, kind, block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        line: Line | None = None
        for text in () if needs else block.splitlines():
            if kind == "sh" or text.startswith("$ "):
                if line is not None:
                    yield line
                command, _, comment = text.removeprefix("$ ").partition("  #")
                ours = command.strip().startswith("codenib ") and not _NOT_RUN.search(comment)
                line = Line(command.strip()) if ours else None
            elif line is not None and text.strip():
                line.output.append(text)
        if line is not None:
            yield line


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of the docs, with a home that all pages share: it is indexed once."""
    root = tmp_path_factory.mktemp("docs")
    make_project(root / "project")
    make_project(root / "other")
    return root


@pytest.fixture
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in the repository, with nothing of this machine's user."""
    for name in ("HOME", "CODENIB_HOME", "CODENIB_TOOLBOX"):
        monkeypatch.setenv(name, str(project / name.lower()))
    monkeypatch.chdir(project / "project")
    return project / "project"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("page", [page for page in PAGES if list(lines_of(page))], ids=lambda page: page.name)
def test_every_command_of_a_page_runs_and_prints_what_the_page_shows(page: Path) -> None:
    for line in lines_of(page):
        command = line.command.replace("$(cat issue.md)", Path("issue.md").read_text())
        done = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert done.exit_code == 0, f"{line.command}\n{done.output}\n{done.exception!r}"
        printed = iter(map(_settled, done.output.splitlines()))
        for wanted in map(_settled, line.output):
            pattern = re.compile(".*".join(map(re.escape, wanted.split("…"))))
            assert any(pattern.fullmatch(text) for text in printed), (
                f"{line.command}\nis not printed, or not in this order: {wanted}\n{done.output}"
            )


def _settled(text: str) -> str:
    """A line without what differs from machine to machine."""
    for pattern, word in _LEFT_TO_CHANCE:
        text = pattern.sub(word, text)
    return text.rstrip()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if _PYTHON.search(page.read_text())], ids=lambda page: page.name
)
def test_the_python_of_a_page_runs_and_prints_what_its_comments_say(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {"codenib": codenib}
    monkeypatch.setattr(os, "environ", dict(os.environ))  # the page chooses a home of its own
    if page.name == "fleet.md":  # its commands, which make the fleet, may be run by another worker
        CliRunner().invoke(cli, ["fleet", "add", "."])
    for example in _PYTHON.findall(page.read_text(encoding="utf-8")):
        exec(compile(example.replace("path/to/repository", "."), str(page), "exec"), names)
        printed = capsys.readouterr().out
        for wanted in re.findall(r"^\s*print\(.*\)  # (.+)$", example, re.MULTILINE):
            assert wanted.strip() in printed, f"{page.name}: {wanted}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_sentence_names_exists_with_its_options(page: Path) -> None:
    wrong = []
    for written in _INLINE.findall(page.read_text(encoding="utf-8")):
        words = written.split()[1:]
        if words[0] == "eval":
            continue
        context, group = click.Context(cli, info_name="codenib"), cli
        command: click.Command | None = group.get_command(context, words[0])
        if isinstance(command, click.Group) and len(words) > 1 and words[1] in command.list_commands(context):
            command = command.get_command(context, words[1])
        known = (
            {option for each in command.params for option in each.opts + each.secondary_opts}
            if command
            else set()
        )
        if command is None or any(
            word.startswith("--") and word.split("=")[0] not in known for word in words
        ):
            wrong.append(written)
    assert wrong == []
