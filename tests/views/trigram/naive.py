"""The plainest search that could be right: every line of every file alone, with no filter."""

from __future__ import annotations

from collections.abc import Mapping

import regex  # type: ignore[import-untyped]

from codenib.core.answers import LineMatch


def lines_of(data: bytes) -> list[str]:
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def naive_search(
    files: Mapping[str, bytes], pattern: str, *, ignore_case: bool, context: int = 0
) -> list[LineMatch]:
    flags = regex.VERSION0 | regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0)
    compiled = regex.compile(pattern, flags)
    found = []
    for path, data in sorted(files.items()):
        lines = lines_of(data)
        for at, line in enumerate(lines):
            if spans := tuple(match.span() for match in compiled.finditer(line, timeout=5)):
                before = tuple(lines[max(0, at - context) : at])
                after = tuple(lines[at + 1 : at + 1 + context])
                found.append(LineMatch(path, at + 1, spans[0][0], spans[0][1], line, spans, before, after))
    return found
