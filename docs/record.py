"""Record `docs/terminal.svg`, the terminal of the README: real commands on the small repository of the tests.

    python -m docs.record

Run from the root of the clone. The picture holds no script, and no font of another host.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text
from tests.example_project import make_project

_COMMANDS = (
    ("codenib", "search", "where are sessions saved", "-k", "1"),
    ("codenib", "refs", "sign"),
    ("codenib", "impact", "sign"),
)
_WIDTH = 96
_FONTS = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
_OUT = Path(__file__).with_name("terminal.svg")


def main() -> None:
    console = Console(record=True, width=_WIDTH, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115, PTH123
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(Path(folder) / "shop")
        variables = {
            **os.environ,
            "CODENIB_HOME": f"{folder}/home",
            "CODENIB_TOOLBOX": f"{folder}/no-tools",
            "COLUMNS": str(_WIDTH),
        }
        _run(("codenib", "index"), project.path, variables)
        for words in _COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), (_written(words), "bold")))
            console.print(Text.from_ansi(_run((*words, "--color", "always"), project.path, variables)))
    style = _FONTS.sub("", CONSOLE_SVG_FORMAT).replace(
        "Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace"
    )
    _OUT.write_text(console.export_svg(title="codenib", code_format=style), encoding="utf-8")


def _written(words: tuple[str, ...]) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def _run(words: tuple[str, ...], root: Path, variables: dict[str, str]) -> str:
    """What a command prints, remarks included."""
    command = [sys.executable, "-m", *words]
    done = subprocess.run(
        command,
        cwd=root,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout.rstrip()


if __name__ == "__main__":
    main()
