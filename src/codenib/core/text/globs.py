"""Path globs as people write them: `src/**`, `*.py`, `!tests/`; a filter over paths out.

A glob matches in a time that does not explode with its wildcards: each takes the least that lets what follows
it match and is then settled, which loses nothing because the next one can take more. (`*` cannot take what
`**` before it could, so it is settled inside of what that one takes.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import product
from math import prod

from codenib.core.errors import InputError

_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|.", re.S)
# Choices in braces, and `**/` inside a name, which is nothing, or anything up to a slash.
_CHOICES = re.compile(r"\{([^{}]*)\}|(?<=[^/])(?<!\*\*/)(\*\*/)")
_LONGEST = 1024
_MOST_CHOICES = 256
#: Globs of a question, each choice of braces and each wildcard counted: every path is tried against all of
#: them. A hundred globs of forty wildcards took 6 s on 5,000 files.
_MOST_PARTS = 1000
_STARS = {"**/": "(?:.*?/)??", "**": ".*?", "*": "[^/]*?"}


def path_filter(globs: Sequence[str], most_parts: int = _MOST_PARTS) -> Callable[[str], bool] | None:
    """Accept a path that some glob names and no `!glob` does; None when there is nothing to filter.

    A glob without a slash matches in any folder, a folder's name everything below it.

    >>> accepts = path_filter(["src/**/*.py", "!*_test.py"])
    >>> accepts("src/a/b.py"), accepts("src/b.py"), accepts("src/b_test.py"), accepts("doc/b.py")
    (True, True, False, False)
    """
    globs = list(dict.fromkeys(globs))
    wanted = [_compiled(glob) for glob in globs if glob and not glob.startswith("!")]
    unwanted = [_compiled(glob[1:]) for glob in globs if glob.startswith("!") and len(glob) > 1]
    if sum(map(_parts, globs)) > most_parts:
        raise InputError("the path globs have too many choices and wildcards", hint="--paths 'src/**'")
    if not wanted and not unwanted:
        return None

    def accepts(path: str) -> bool:
        if wanted and not any(pattern(path) for pattern in wanted):
            return False
        return not any(pattern(path) for pattern in unwanted)

    return accepts


@lru_cache(maxsize=256)
def _compiled(glob: str) -> Callable[[str], object]:
    if len(glob) > _LONGEST:
        raise InputError(f"a path glob of {len(glob)} characters is too long", hint="--paths 'src/**'")
    body = glob.removeprefix("./").rstrip("/")
    choices = (_pattern(choice, anchored="/" in body) for choice in _choices(body.lstrip("/")))
    return re.compile("|".join(choices), re.S).match


def _choices(glob: str) -> Iterator[str]:
    """The globs without braces, and with `**/` only where a folder may begin, that it stands for."""
    lists, at = [], 0
    for match in _CHOICES.finditer(glob):
        choices = match[1].split(",") if match[1] is not None else ["", "**\0"]
        lists += [[glob[at : match.start()]], choices]
        at = match.end()
    count = prod(map(len, lists))
    if count > _MOST_CHOICES:
        raise InputError(f"the path glob {glob[:80]!r} stands for {count} globs", hint="--paths 'src/**'")
    return ("".join(words) + glob[at:] for words in product(*lists))


@lru_cache(maxsize=256)
def _parts(glob: str) -> int:
    """
    >>> _parts("src/**/*.py"), _parts("{a,b}/c")
    (3, 2)
    """
    return sum(1 + sum(token in _STARS for token in _TOKEN.findall(each)) for each in _choices(glob))


def _pattern(glob: str, *, anchored: bool) -> str:
    """One glob without braces; a group for each wildcard that may cross folders, with all up to the next."""
    tokens = ["/" if token == "\0" else token for token in _TOKEN.findall(glob)]
    if not anchored:
        tokens.insert(0, "**/")
    groups, piece = [""], ""
    for token in tokens:
        if token in _STARS:
            groups[-1] += f"(?>{piece})"
            piece = ""
        if token in ("**", "**/"):
            groups.append(_STARS[token])
        else:
            piece += _STARS.get(token) or _translate(token)
    groups[-1] += f"(?>{piece}(?=/|\\Z))"
    return "".join(f"(?>{group})" for group in groups)


def _translate(token: str) -> str:
    if token == "?":
        return "[^/]"
    if token.startswith("[") and len(token) > 2:
        inside = re.sub(r"([\\\[&~|])", r"\\\1", token[1:-1])  # signs of set operations are members
        members = f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
        with suppress(re.error):  # `[z-a]` is no class, so it is text
            re.compile(members)
            return members
    return re.escape(token)
