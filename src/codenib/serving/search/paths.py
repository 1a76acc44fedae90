"""Path globs as people write them: `src/**`, `*.py`, `!tests/`; a filter over paths out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache


def path_filter(globs: Sequence[str]) -> Callable[[str], bool] | None:
    """Accept a path that some glob names and no `!glob` does; None when there is nothing to filter.

    A glob without a slash matches in any folder, a folder's name everything below it.

    >>> accepts = path_filter(["src/**/*.py", "!*_test.py"])
    >>> accepts("src/a/b.py"), accepts("src/b.py"), accepts("src/b_test.py"), accepts("doc/b.py")
    (True, True, False, False)
    """
    wanted = [_compiled(glob) for glob in globs if glob and not glob.startswith("!")]
    unwanted = [_compiled(glob[1:]) for glob in globs if glob.startswith("!") and len(glob) > 1]
    if not wanted and not unwanted:
        return None

    def accepts(path: str) -> bool:
        if wanted and not any(pattern.match(path) for pattern in wanted):
            return False
        return not any(pattern.match(path) for pattern in unwanted)

    return accepts


@lru_cache(maxsize=256)
def _compiled(glob: str) -> re.Pattern[str]:
    body = glob.removeprefix("./").rstrip("/")
    anchored = "/" in body
    parts = []
    for token in re.findall(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|\{[^}]*\}|.", body.lstrip("/"), re.S):
        parts.append(_translate(token))
    prefix = "" if anchored else "(?:.*/)?"
    return re.compile(f"{prefix}{''.join(parts)}(?:/.*)?\\Z", re.S)


def _translate(token: str) -> str:
    fixed = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token)
    if fixed is not None:
        return fixed
    if token.startswith("[") and len(token) > 2:
        inside = token[1:-1].replace("\\", "\\\\")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    if token.startswith("{") and token.endswith("}"):
        return f"(?:{'|'.join(re.escape(choice) for choice in token[1:-1].split(','))})"
    return re.escape(token)
