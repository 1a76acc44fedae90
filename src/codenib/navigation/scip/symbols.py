"""A SCIP symbol's string in, its names and the kind of thing that it is out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from codenib.navigation.scip.wire import SymbolInformation

LOCAL = "local "
# SCIP's numbers of kinds; what is not here goes by the descriptor's suffix.
_KINDS = {
    **dict.fromkeys((7, 33, 75, 20), "class"),  # class, object, singleton class, instance
    **dict.fromkeys((21, 42, 56), "interface"),  # interface, protocol, type class
    **dict.fromkeys((53, 85), "trait"),  # trait, mixin
    **dict.fromkeys((49, 59, 28, 10), "struct"),  # struct, union, message, data family
    **dict.fromkeys((54, 55, 57, 3, 86), "type_alias"),  # type, alias, type family, associated type, concept
    **dict.fromkeys((9, 18, 26, 27, 34, 45, 47, 66, 67, 68, 69, 70, 71, 72, 74, 76, 80), "method"),
    **dict.fromkeys((15, 77, 79), "field"),
    **dict.fromkeys((41, 81, 4, 22), "property"),
    **dict.fromkeys((61, 60, 82), "variable"),
    **dict.fromkeys((37, 38, 44, 52), "parameter"),
    **dict.fromkeys((29, 64, 36, 16), "module"),
    **dict.fromkeys((30, 35), "namespace"),
    8: "constant", 11: "enum", 12: "enum_member", 17: "function", 25: "macro", 58: "type_parameter",
}  # fmt: skip
# What the first text of a symbol may say, where there is no number.
_WORDS = {
    "interface": "interface", "enum": "enum", "type": "type_alias", "(parameter)": "parameter",
    "(property)": "property", "(enum member)": "enum_member", "(method)": "method",
}  # fmt: skip
_WORD = re.compile(r"```\w*\n(\((?:parameter|property|enum member|method)\)|(?:interface|enum|type)\b)")
_SPACE = re.compile(r"(?<! )(?:  )* (?! )")
_NAME = re.compile(r"`((?:[^`]|``)*)`|([\w+\-$]+)")


@dataclass(frozen=True, slots=True)
class Descriptor:
    """One part of a symbol: its name, what it is (one of `/#.(:![`, or `p` for a parameter) and its end."""

    name: str
    suffix: str
    end: int


def is_local(symbol: str) -> bool:
    return symbol.startswith(LOCAL)


@lru_cache(maxsize=1 << 16)
def descriptors(symbol: str) -> tuple[Descriptor, ...]:
    """The parts of a global symbol, outer first; () when it is local or not of the known form.

    >>> [(part.name, part.suffix) for part in descriptors("s m p v a/`b.ts`/Foo#bar().(x)")]
    [('a', '/'), ('b.ts', '/'), ('Foo', '#'), ('bar', '('), ('x', 'p')]
    """
    at = 0 if is_local(symbol) else _after_package(symbol)
    found: list[Descriptor] = []
    while 0 < at < len(symbol):
        opener = symbol[at] if symbol[at] in "([" else ""
        match = _NAME.match(symbol, at + len(opener))
        if match is None or match.end() >= len(symbol):
            return tuple(found) if found else ()
        name = match[2] if match[1] is None else match[1].replace("``", "`")
        suffix, at = _suffix(symbol, match.end(), opener)
        found.append(Descriptor(name, suffix, at))
    return tuple(found)


def _suffix(symbol: str, at: int, opener: str) -> tuple[str, int]:
    if opener:
        return ("p" if opener == "(" else "["), at + 1
    if symbol[at] == "(":  # a method: its disambiguator, the bracket, and a dot
        end = symbol.find(")", at)
        return "(", end + 2 if end >= 0 else len(symbol)
    return symbol[at], at + 1


def _after_package(symbol: str) -> int:
    """Where descriptors begin: after scheme, manager, name and version; a doubled space is part of a name."""
    end = 0
    for _ in range(4):
        match = _SPACE.search(symbol, end)
        if match is None:
            return 0
        end = match.end()
    return end


def parent_of(symbol: str) -> str:
    """The symbol around a global one; "" for none."""
    parts = descriptors(symbol)
    return symbol[: parts[-2].end] if len(parts) > 1 else ""


def kind_of(symbol: str, about: SymbolInformation | None, *, has_body: bool) -> str:
    """The kind of a symbol's node, as the lines of facts spell it."""
    if about is not None:
        if about.kind in _KINDS:
            return _KINDS[about.kind]
        if match := _WORD.match(about.about):
            return _WORDS[match[1]]
    parts = descriptors(symbol)
    if not parts:
        return "function" if has_body else "variable"
    member = len(parts) > 1 and parts[-2].suffix == "#"
    match parts[-1].suffix:
        case "#":
            return "class"
        case "(":
            return "method" if member else "function"
        case "." if has_body:  # an arrow function, or another value that is one
            return "method" if member else "function"
        case ".":
            return "field" if member else "variable"
    return {"/": "namespace", ":": "property", "!": "macro", "[": "type_parameter", "p": "parameter"}.get(
        parts[-1].suffix, "variable"
    )
