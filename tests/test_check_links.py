"""Links that lead nowhere are named; those that lead somewhere, and links to other hosts, are not."""

from __future__ import annotations

from pathlib import Path

from tests.check_links import ROOT, all_pages, broken_links, slugs


def test_every_link_of_our_pages_leads_somewhere() -> None:
    assert [problem for page in all_pages(ROOT) for problem in broken_links(page)] == []


def test_files_and_headings_that_are_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Some `code` & more\n\n```\n# no heading\n```\n## Twice\n## Twice\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](other.md) [b](other.md#some-code--more) [c](#here) [d](https://example.com/x)\n"
        "[e](other.md#twice-1)\n"
        "[f](gone.md) [g](other.md#no-heading) ![h](gone.png) [i](#nowhere)\n`[j](code.md)`\n"
        "```\n[k](code.md)\n```\n```{toctree}\n:caption: x\n\nother\nTitle <other>\nmissing\n```\n"
    )
    named = [problem.split(": ")[1] for problem in broken_links(page)]
    assert named == ["gone.md", "other.md#no-heading", "gone.png", "#nowhere", "missing"]


def test_anchors_are_those_of_github() -> None:
    assert slugs(["What it is", "`a_b` & C", "What it is", "[Link](x.md), *soft*"]) == [
        "what-it-is",
        "a_b--c",
        "what-it-is-1",
        "link-soft",
    ]
