"""A site that would fetch something from another host is refused, one that stays by itself is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.check_site import main

GOOD = '<link rel="canonical" href="https://x.org/"><a href="https://x.org">x</a><a href="b.html#there">b</a>'


def _site(folder: Path, extra: str = "") -> str:
    (folder / "a.html").write_text(f"<html>{GOOD}{extra}</html>")
    (folder / "b.html").write_text('<h1 id="there">b</h1><script src="own.js"></script>')
    (folder / "own.js").write_text("// https://x.org")
    return str(folder)


def test_a_site_by_itself_is_taken(tmp_path: Path) -> None:
    assert main(_site(tmp_path)) == 0


@pytest.mark.parametrize(
    "extra",
    [
        '<script src="https://x.org/a.js"></script>',
        '<img src="//x.org/a.png">',
        '<link rel="stylesheet" href="https://x.org/a.css">',
        "<style>@import 'https://x.org/a.css';</style>",
        "<style>p { background: url(https://x.org/a.png) }</style>",
        "<script>fetch('https://x.org/')</script>",
        '<a href="gone.html">x</a>',
        '<a href="b.html#nowhere">x</a>',
    ],
)
def test_what_fetches_or_leads_nowhere_is_refused(tmp_path: Path, extra: str) -> None:
    assert main(_site(tmp_path, extra)) == 1
