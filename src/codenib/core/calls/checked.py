"""A request in, an error that names the first field of a wrong type out: callers are people and scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from os import PathLike
from types import NoneType, UnionType
from typing import Any, Literal, SupportsIndex, Union, get_args, get_origin, get_type_hints

from codenib.core.errors import InputError

_WORDS = {str: "a string", int: "a whole number", float: "a number", bool: "True or False", NoneType: "None"}


class CheckedRequest:
    """A request whose fields have the types that it declares, or it is an `InputError`."""

    __slots__ = ()

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, hint in field_hints(kind):
            value = getattr(self, name)
            if not fits(value, hint):
                what = f"{name} must be {words_of(hint)}, not {_described(value)}"
                one = isinstance(value, str) and get_origin(hint) is Sequence
                raise InputError(what, hint=f"{name}=[{value[:80]!r}]" if one else "")


@cache
def field_hints(kind: Any) -> tuple[tuple[str, Any], ...]:
    """The name and the annotation of each field of a dataclass."""
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind))


def check_path(path: object) -> None:
    """Raise for what is neither a text nor a path."""
    if not isinstance(path, str | PathLike):
        what = f"path must be a string or a Path, not {_described(path)}"
        raise InputError(what, hint='path="src/app.py"')


def check_lines(lines: Sequence[object]) -> None:
    """Raise for lines that are no numbers."""
    for line in lines:
        if not fits(line, int | None):
            raise InputError(f"a line must be a whole number or None, not {_described(line)}")


def fits(value: object, hint: Any) -> bool:
    """Whether a value is of the kind that an annotation says; a bool is no number, a text no list.

    >>> from collections.abc import Sequence
    >>> [fits(value, Sequence[str]) for value in (["a"], ("a",), "a", [1])]
    [True, True, False, False]
    >>> fits(True, int), fits(3, float), fits(None, int | None), fits("x", Literal["x", "y"])
    (False, True, True, True)
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in get_args(hint))
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in get_args(hint))
    if origin is Sequence:
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            return False
        return all(fits(each, get_args(hint)[0]) for each in value)
    if hint is int:
        return isinstance(value, SupportsIndex) and not isinstance(value, bool)
    if hint is float:
        return isinstance(value, float | SupportsIndex) and not isinstance(value, bool)
    return isinstance(value, hint) if isinstance(hint, type) else True


def words_of(hint: Any) -> str:
    """
    >>> words_of(int | None), words_of(Literal["auto", "never"])
    ('a whole number or None', "'auto' or 'never'")
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(words_of(each) for each in get_args(hint))
    if origin is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if origin is Sequence:
        return f"a list: each {words_of(get_args(hint)[0])}"
    return _WORDS.get(hint) or f"a {getattr(hint, '__name__', hint)}"


def _described(value: object) -> str:
    return (
        repr(value)
        if isinstance(value, str | int | float) and len(repr(value)) < 80
        else type(value).__name__
    )
