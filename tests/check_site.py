"""A built site in: exit 1 when a page of it would fetch something from another host, or leads nowhere inside.

python tests/check_site.py build/site
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

#: Attributes by which a page fetches by itself; `a href` is followed by people alone.
_FETCHED = {
    ("script", "src"), ("img", "src"), ("img", "srcset"), ("link", "href"), ("iframe", "src"),
    ("source", "src"), ("video", "src"), ("audio", "src"), ("embed", "src"), ("object", "data"),
    ("image", "href"), ("use", "href"),
}  # fmt: skip
_NAMED_ONLY = {"canonical", "next", "prev", "index", "search", "author", "license", "edit"}  # of `link rel`
_IN_STYLE = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)|@import\s+['\"]((?:https?:)?//[^'\"]+)")
_IN_SCRIPT = re.compile(r"(?:fetch|import|importScripts|open)\(\s*['\"]((?:https?:)?//[^'\"]+)")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("id"):
            self.anchors.add(given["id"] or "")
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag == "link" and set((given.get("rel") or "").split()) & _NAMED_ONLY:
            return
        self.fetched += [value for name, value in attributes if (tag, name) in _FETCHED and value]


def main(folder: str) -> int:
    site = Path(folder)
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    problems = [*_foreign(site, pages), *_broken(pages)]
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    print(
        "\n".join(problems) or f"{len(pages)} pages, {size / 1e6:.1f} MB: nothing is fetched from other hosts"
    )
    return 1 if problems or not pages else 0


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _foreign(site: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    for path, page in pages.items():
        yield from (f"{path}: fetches {each}" for each in page.fetched if re.match(r"(?:https?:)?//", each))
    for pattern, suffixes in ((_IN_STYLE, (".css", ".html", ".svg")), (_IN_SCRIPT, (".js", ".html"))):
        for path in sorted(site.rglob("*")):
            if path.suffix in suffixes:
                text = path.read_text(encoding="utf-8", errors="replace")
                yield from (
                    f"{path}: fetches {''.join(found)}" for found in map(_groups, pattern.finditer(text))
                )


def _groups(match: re.Match[str]) -> tuple[str, ...]:
    return tuple(group or "" for group in match.groups())


def _broken(pages: dict[Path, _Page]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z][a-z0-9+.-]*:|//", link, re.IGNORECASE):
                continue
            target, _, anchor = unquote(link).partition("#")
            place = (path.parent / target).resolve() if target else path.resolve()
            known = {each.resolve(): page for each, page in pages.items()}
            if not place.exists():
                yield f"{path}: {link}: no such file"
            elif anchor and place in known and anchor not in known[place].anchors:
                yield f"{path}: {link}: no such anchor"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
