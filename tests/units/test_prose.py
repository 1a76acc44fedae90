"""Sections of prose and windows of everything else."""

from __future__ import annotations

from codenib.units.extract import extract


def leaves(source: str, hint: str) -> list[tuple[int, int, str, str]]:
    rows = extract(source.encode(), hint).rows
    return [(row.start_line, row.end_line, row.kind, row.symbol) for row in rows if row.leaf]


def test_markdown_headings_open_sections() -> None:
    source = "Intro.\n\n# Guide\nText.\n## Setup ##\nMore.\n\nTitle\n=====\nEnd.\n"
    assert leaves(source, "markdown") == [
        (1, 2, "section", ""),
        (3, 4, "section", "Guide"),
        (5, 7, "section", "Guide > Setup"),
        (8, 10, "section", "Title"),
    ]


def test_markdown_code_is_not_a_heading() -> None:
    source = "# Guide\n```sh\n# not a heading\n```\n~~~\n# nor this\n"
    assert leaves(source, "markdown") == [(1, 6, "section", "Guide")]


def test_a_heading_without_text_joins_the_section_below() -> None:
    source = "# Guide\n\n## Setup\nText.\n"
    assert leaves(source, "markdown") == [(1, 4, "section", "Guide > Setup")]


def test_rst_titles_open_sections_in_order_of_style() -> None:
    source = "=====\nGuide\n=====\n\nText.\n\nSetup\n-----\n\nMore.\n\nUse\n---\nEnd.\n"
    assert leaves(source, "rst") == [
        (1, 6, "section", "Guide"),
        (7, 11, "section", "Guide > Setup"),
        (12, 14, "section", "Guide > Use"),
    ]


def test_asciidoc_titles_open_sections() -> None:
    assert leaves("= Guide\nText.\n== Setup\nMore.\n", "asciidoc") == [
        (1, 2, "section", "Guide"),
        (3, 4, "section", "Guide > Setup"),
    ]


def test_plain_text_is_cut_between_paragraphs() -> None:
    source = ("line\n" * 39 + "\n") * 3
    found = leaves(source, "plaintext")
    assert [row[:2] for row in found] == [(1, 40), (41, 80), (81, 120)]


def test_long_titles_lose_their_outer_part() -> None:
    source = f"# {'a' * 100}\nx\n## {'b' * 100}\ny\n"
    assert [row[3] for row in leaves(source, "markdown")] == ["a" * 100, "b" * 100]


def test_other_text_is_cut_into_equal_windows() -> None:
    found = leaves("{}\n" * 120, "json")
    assert found == [(1, 40, "window", ""), (41, 80, "window", ""), (81, 120, "window", "")]
