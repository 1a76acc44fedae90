"""Every link of the pages leads somewhere: files that exist, headings that are there. Nothing is fetched.

    python tests/check_links.py [PAGE...]

Exit 1 when one does not. Links to other hosts are not looked at.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)(?:\s+\"[^\"]*\")?\)")
_CODE = re.compile(r"^(```+|~~~+)[^\n]*\n.*?^\1[^\n]*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
_ANCHOR = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")
_TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)


def main(pages: list[str]) -> int:
    chosen = [Path(page).resolve() for page in pages] or sorted(all_pages(ROOT))
    problems = [problem for page in chosen for problem in broken_links(page)]
    print("\n".join(problems) or f"links of {len(chosen)} pages lead somewhere")
    return 1 if problems else 0


def all_pages(root: Path) -> Iterator[Path]:
    """The pages for people: at the root, and below docs, benchmarks and training."""
    yield from root.glob("*.md")
    for folder in ("docs", "training", "benchmarks"):
        yield from (root / folder).rglob("*.md")


def broken_links(page: Path) -> Iterator[str]:
    """A line for each link of a page that leads nowhere."""
    text = page.read_text(encoding="utf-8")
    prose = _CODE.sub("", text)
    for target in _LINK.findall(prose):
        problem = _problem(page, target)
        if problem:
            yield f"{page}: {target}: {problem}"
    for block in _TOCTREE.findall(text):
        for name in (line.strip() for line in block.splitlines()):
            name = name[name.rfind("<") + 1 :].rstrip(">")  # a page may have another title in the list
            if name and not name.startswith(":") and not list(page.parent.glob(f"{name}.md")):
                yield f"{page}: {name}: no such page in the list"


def _problem(page: Path, target: str) -> str:
    if re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
        return ""
    path, _, anchor = unquote(target).partition("#")
    place = (page.parent / path).resolve() if path else page
    if not place.exists():
        return "no such file"
    if anchor and place.suffix == ".md" and anchor not in anchors(place):
        return "no such heading"
    return ""


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub names them; a second one of a name has a number.

    >>> sorted(slugs(["What it is", "`a_b` & C", "What it is"]))
    ['a_b--c', 'what-it-is', 'what-it-is-1']
    """
    text = page.read_text(encoding="utf-8")
    fenced = re.compile(r"^(```+|~~~+)[^\n]*\n.*?^\1[^\n]*$", re.DOTALL | re.MULTILINE)
    return frozenset([*slugs(_HEADING.findall(fenced.sub("", text))), *_ANCHOR.findall(text)])


def slugs(headings: list[str]) -> list[str]:
    often: Counter[str] = Counter()
    found = []
    for heading in headings:
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.append(f"{slug}-{often[slug]}" if often[slug] else slug)
        often[slug] += 1
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
