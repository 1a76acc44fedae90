"""Lines of a unit in, its declaration, its surroundings and its telling lines out. Pure; no parser runs.

A unit comes with the comments and decorators above it. Where the declaration starts and ends is read from the
unit's name and from brackets, what encloses it from indentation: right for all languages that are indented.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from codenib.serving.context.tokens import count
from codenib.units.tokens import terms_of, words_of

WIDEST = 200  # characters of a line; longer ones are data
DECLARATION_LINES = 12
DOCUMENTATION_LINES = 3
_GAP_TOKENS = 6  # of an elision mark
_ABOVE = ("//", "#", "/*", "*", "--", "@", '"""', "'''")
_QUOTES = ('"""', "'''", 'r"""', "r'''")
_BLANKS = re.compile(r"\s+")
_NAME = re.compile(r"[\w$]+")


def declaration(lines: Sequence[str], symbol: str) -> tuple[int, int]:
    """The first and last line (0-based) of the declaration of `symbol`."""
    names = _NAME.findall(symbol)
    first = _first(lines, names[-1] if names else "")
    depth, last = 0, first
    for last in range(first, min(first + DECLARATION_LINES, len(lines))):
        line = lines[last]
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if depth <= 0:
            break
    return first, last


def signature(lines: Sequence[str], symbol: str) -> str:
    """The declaration on one line, without what opens its body."""
    first, last = declaration(lines, symbol)
    joined = _BLANKS.sub(" ", " ".join(lines[first : last + 1])).strip()
    return narrow(joined.removesuffix("{").removesuffix(":").rstrip().replace("( ", "(").replace(", )", ")"))


def declared_as(text: str, symbol: str) -> str:
    """How a unit's text declares its symbol, on one line; without a declaration its first line."""
    return signature(text.split("\n")[:60], symbol) or text.strip().partition("\n")[0]


def matching_lines(lines: Sequence[str], terms: Sequence[str], most: int) -> list[int]:
    """At most `most` lines (0-based) of a unit: its first, those with most terms, then the next ones."""
    wanted = [term.lower() for term in terms if len(term) > 2]
    often = [sum(term in line.lower() for term in wanted) for line in lines]
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    best = sorted(range(len(lines)), key=lambda at: (-often[at], at))[: most - 1]
    chosen = {first, *(at for at in best if often[at])}
    rest = [at for at in range(first, len(lines)) if at not in chosen]
    return sorted([*chosen, *rest[: max(most - len(chosen), 0)]])


def narrow(line: str) -> str:
    """A line of at most `WIDEST` characters; carriage returns at its end are left out."""
    line = line.rstrip()
    return line if len(line) <= WIDEST else f"{line[:WIDEST]}…"


def enclosing(lines: Sequence[str], start_line: int, symbol: str) -> str:
    """The line that opens the scope of the unit at `start_line` of a file, if it names its owner."""
    owners = _NAME.findall(symbol)[:-1]
    if not owners:
        return ""
    margin = _indent(lines[start_line - 1])
    for line in reversed(lines[: start_line - 1]):
        if not margin:
            return ""
        if line.strip() and _indent(line) < margin and line.strip() not in "})];":
            if owners[-1] in line:
                return narrow(line)
            margin = _indent(line)
    return ""


def line_weights(lines: Sequence[str], terms: Mapping[str, float]) -> list[float]:
    """How much each line says of the query: the weights of its terms, each shared among its lines."""
    matched = [{term for word in words_of(line) for term in terms_of(word)} & terms.keys() for line in lines]
    often: dict[str, int] = {}
    for each in matched:
        for term in each:
            often[term] = often.get(term, 0) + 1
    return [sum(terms[term] / often[term] for term in sorted(each)) for each in matched]


def telling(lines: Sequence[str], symbol: str, terms: Mapping[str, float], room: int) -> list[int]:
    """Lines (0-based) that show most of a unit in `room` tokens: declaration, documentation, what matches.

    Empty when not even the declaration has room.
    """
    first, last = declaration(lines, symbol)
    chosen = set(range(first, last + 1))
    used = sum(count(f"{narrow(lines[at])}\n") for at in chosen) + 2 * _GAP_TOKENS
    if used > room:
        return []
    weights = line_weights(lines, terms)
    wanted = [(at,) for at in _documentation(lines, first, last)]
    by_weight = sorted(range(len(lines)), key=lambda at: (-weights[at], at))
    # A line with its neighbours first; alone when they have no room.
    around = [(at - 1, at, at + 1) for at in by_weight if weights[at] > 0]
    for group in [*wanted, *around, *((at,) for at in by_weight if weights[at] > 0)]:
        new = {at for at in group if 0 <= at < len(lines)} - chosen
        near = any(at in chosen for at in range(group[0] - 1, group[-1] + 2))
        cost = sum(count(f"{narrow(lines[at])}\n") for at in new) + (0 if near else _GAP_TOKENS)
        if new and used + cost <= room:
            chosen |= new
            used += cost
    return sorted(chosen)


def with_gaps(lines: Sequence[str], chosen: Sequence[int]) -> str:
    """The chosen lines, a mark with the number of lines where some are left out."""
    out: list[str] = []
    upto = 0
    for at in chosen:
        if at > upto:
            out.append(_gap(at - upto, lines[at]))
        out.append(narrow(lines[at]))
        upto = at + 1
    if upto < len(lines):
        out.append(_gap(len(lines) - upto, lines[chosen[-1]] if chosen else ""))
    return "\n".join(out)


def _gap(lines: int, beside: str) -> str:
    return f"{' ' * _indent(beside)}… {lines} {'line' if lines == 1 else 'lines'}"


def _first(lines: Sequence[str], name: str) -> int:
    """The first line of code that names it; without one the first line of code."""
    code = []
    inside = False  # a block comment
    for at, line in enumerate(lines):
        text = line.strip()
        if inside or not text or text.startswith(_ABOVE):
            inside = (inside or text.startswith("/*")) and "*/" not in text
            continue
        if name in text:
            return at
        code.append(at)
    return code[0] if code else 0


def _documentation(lines: Sequence[str], first: int, last: int) -> list[int]:
    """The first lines of what documents a declaration: a docstring below it, or the comment above."""
    below = range(last + 1, min(last + 1 + DOCUMENTATION_LINES, len(lines)))
    if below and lines[below[0]].strip().startswith(_QUOTES):
        documentation = []
        for at in below:
            documentation.append(at)
            closing = lines[at].strip()
            if closing.endswith(_QUOTES[:2]) and (at > below[0] or len(closing) > 6):
                break
        return documentation
    return [at for at in range(first) if lines[at].strip()][:DOCUMENTATION_LINES]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
