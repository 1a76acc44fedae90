"""The Python of docs/agent.md runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

PAGE = Path(__file__).parents[2] / "docs" / "agent.md"


def test_the_example_of_the_page_finds_the_place(shop: GitRepo, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {"repository": shop.path})
    assert capsys.readouterr().out.startswith("[Span(path='shop/cart.py', start_line=5, end_line=5)]")
