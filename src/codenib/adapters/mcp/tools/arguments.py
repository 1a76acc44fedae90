"""A tool's parameters in, its JSON schema out; a call's arguments in, checked values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from codenib.core.errors import InputError

Kind = Literal["string", "integer", "boolean", "strings"]
_WORDS = {"string": "a string", "integer": "a whole number", "boolean": "true or false", "strings": "strings"}
_LONGEST = 20_000  # characters of a string: an issue's text fits, a file's hardly
_MOST = 100  # strings of a list
_NAMED = 5  # wrong arguments that an error names


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool. Without a `default` it may be left out, unless it is `required`."""

    name: str
    kind: Kind
    about: str = ""
    default: Any = None
    required: bool = False
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Its part of the tool's schema, without what a model does not need."""
        if self.kind == "strings":
            found: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
        else:
            found = {"type": self.kind}
        if self.about:
            found["description"] = self.about
        if self.default is not None:
            found["default"] = self.default
        if self.choices:
            found["enum"] = list(self.choices)
        return found


def schema_of(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The input schema of a tool."""
    found: dict[str, Any] = {
        "type": "object",
        "properties": {each.name: each.schema() for each in parameters},
    }
    required = [each.name for each in parameters if each.required]
    if required:
        found["required"] = required
    return found


def parse(tool: str, parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of every parameter; the error of a wrong one says what is right."""
    names = [each.name for each in parameters]
    if unknown := sorted(set(given) - set(names)):
        named = ", ".join(name[:80] for name in unknown[:_NAMED])
        more = f" and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
        raise InputError(f"{tool} has no argument {named}{more}", hint=f"arguments: {', '.join(names)}")
    return {each.name: _value(tool, each, given.get(each.name)) for each in parameters}


def _value(tool: str, parameter: Parameter, given: Any) -> Any:
    if given is None or (given == "" and not parameter.required):
        if parameter.required:
            raise InputError(f"{tool} needs {parameter.name}", hint=f"{parameter.name}: {parameter.about}")
        return parameter.default
    _check_size(tool, parameter.name, given)
    value = _converted(parameter.kind, given)
    if value is None:
        what = f"{tool}: {parameter.name} must be {_WORDS[parameter.kind]}, not {str(given)[:80]!r}"
        raise InputError(what, hint=f"{parameter.name}: {parameter.about}")
    if parameter.choices and value not in parameter.choices:
        what = f"{tool}: {parameter.name} is one of {', '.join(parameter.choices)}"
        raise InputError(what, hint=f"{parameter.name}={parameter.choices[0]}")
    if parameter.kind == "integer":
        _check_range(tool, parameter, value)
    if parameter.required and parameter.kind == "string" and not value.strip():
        raise InputError(f"{tool} needs {parameter.name}", hint=f"{parameter.name}: {parameter.about}")
    return value


def _check_size(tool: str, name: str, given: Any) -> None:
    """Refuse what is too large, or no text, with that reason."""
    texts = given if isinstance(given, list) else [given]
    if len(texts) > _MOST:
        raise InputError(f"{tool}: {name} has {len(texts):,} items", hint=f"at most {_MOST} items")
    for text in texts:
        if isinstance(text, str) and len(text) > _LONGEST:
            what = f"{tool}: {name} has {len(text):,} characters, which is too long"
            raise InputError(what, hint=f"at most {_LONGEST:,} characters: the part that matters")
        if isinstance(text, str) and "\0" in text:
            raise InputError(f"{tool}: {name} has a NUL character", hint="text without it")


def _converted(kind: Kind, given: Any) -> Any:
    """The value as its kind; None when it is of another. Models write numbers as strings now and then."""
    if kind == "string":
        return given if isinstance(given, str) else None
    if kind == "boolean":
        return given if isinstance(given, bool) else {"true": True, "false": False}.get(str(given).lower())
    if kind == "strings":
        items = [given] if isinstance(given, str) else given
        fits = isinstance(items, list) and all(isinstance(item, str) for item in items)
        return items if fits else None
    if isinstance(given, bool):
        return None
    if isinstance(given, float) and given.is_integer():
        return int(given)
    if isinstance(given, str) and given.strip().isascii() and given.strip().isdigit() and len(given) < 10:
        return int(given)
    return given if isinstance(given, int) else None


def _check_range(tool: str, parameter: Parameter, value: int) -> None:
    if value < parameter.least or (parameter.most and value > parameter.most):
        to = f" to {parameter.most:,}" if parameter.most else " or more"
        what = f"{tool}: {parameter.name} is {parameter.least:,}{to}, not {value}"
        raise InputError(what, hint=f"{parameter.name}={parameter.default or parameter.least}")
