"""JSON text, also with comments, in; where its members stand out: so that an edit touches nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_GAP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}\[{\"/]+")


class BadJson(ValueError):
    """The text is not an object, or is cut off."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: its name, where it begins, and where its value begins and ends."""

    name: str
    start: int
    value: int
    end: int


def find_object(text: str) -> int:
    """Where the outermost object begins."""
    at = _gap(text, 1 if text.startswith("\ufeff") else 0)
    if text[at : at + 1] != "{":
        raise BadJson("it does not begin with an object")
    if _gap(text, skip(text, at)) != len(text):
        raise BadJson("something follows its object")
    return at


def members(text: str, at: int) -> Iterator[Member]:
    """The members of the object that begins at `at`."""
    at = _gap(text, at + 1)
    while text[at : at + 1] != "}":
        name = _STRING.match(text, at)
        if name is None:
            raise BadJson(f"a name is missing at character {at}")
        colon = _gap(text, name.end())
        if text[colon : colon + 1] != ":":
            raise BadJson(f"a colon is missing at character {colon}")
        value = _gap(text, colon + 1)
        end = skip(text, value)
        yield Member(name[0][1:-1], at, value, end)
        at = _gap(text, end)
        if text[at : at + 1] == ",":
            at = _gap(text, at + 1)
        elif text[at : at + 1] != "}":
            raise BadJson(f"a comma is missing at character {at}")


def skip(text: str, at: int) -> int:
    """The end of the value that begins at `at`."""
    first = text[at : at + 1]
    if first == "{":
        last = at
        for member in members(text, at):
            last = member.end
        return _closed(text, last + 1 if last == at else last, "}")
    if first == "[":
        at = _gap(text, at + 1)
        while text[at : at + 1] != "]":
            at = _gap(text, skip(text, at))
            if text[at : at + 1] == ",":
                at = _gap(text, at + 1)
            elif text[at : at + 1] != "]":
                raise BadJson(f"a comma is missing at character {at}")
        return at + 1
    found = (_STRING if first == '"' else _SCALAR).match(text, at)
    if found is None:
        raise BadJson(f"a value is missing at character {at}")
    return found.end()


def _closed(text: str, at: int, bracket: str) -> int:
    at = _gap(text, at)
    if text[at : at + 1] == ",":
        at = _gap(text, at + 1)
    if text[at : at + 1] != bracket:
        raise BadJson(f"a {bracket} is missing at character {at}")
    return at + 1


def _gap(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at
