"""A model's arguments and a tool's JSON schema in, what is wrong with them out, in words for the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def problems(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Every way in which `arguments` do not fit an object schema; empty when they do.

    Knows what our tools use: type, required, enum, minimum, maximum, items. Unknown names are problems.

    >>> problems({"line": "3"}, {"properties": {"line": {"type": "integer"}}, "required": ["path"]})
    ["'path' is missing", "'line' must be an integer, not '3'"]
    """
    properties = schema.get("properties", {})
    found = [f"{name!r} is missing" for name in schema.get("required", ()) if name not in arguments]
    for name, value in arguments.items():
        if name in properties:
            found += _value(name, value, properties[name])
        else:
            found.append(f"{name!r} is not known; there are {', '.join(properties)}")
    return found


def _value(name: str, value: Any, schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type", "")
    allowed = _TYPES.get(kind, ())
    if allowed and (not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed)):
        article = "an" if kind[0] in "aeio" else "a"
        return [f"{name!r} must be {article} {kind}, not {value!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{name!r} must be one of {', '.join(map(str, schema['enum']))}, not {value!r}"]
    if "minimum" in schema and value < schema["minimum"]:
        return [f"{name!r} must be at least {schema['minimum']}, not {value}"]
    if "maximum" in schema and value > schema["maximum"]:
        return [f"{name!r} must be at most {schema['maximum']}, not {value}"]
    if kind == "array" and "items" in schema:
        return [line for each in value for line in _value(f"{name}[]", each, schema["items"])]
    return []


def relaxed(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with what models often get wrong put right: numbers as text, nulls for what may be left out.

    >>> relaxed({"line": "3", "end": None}, {"properties": {"line": {"type": "integer"}}})
    {'line': 3}
    """
    properties, required = schema.get("properties", {}), schema.get("required", ())
    mended = {name: value for name, value in arguments.items() if value is not None or name in required}
    for name, value in mended.items():
        kind = properties.get(name, {}).get("type")
        if kind == "integer" and isinstance(value, str) and value.strip().lstrip("-").isdecimal():
            mended[name] = int(value)
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            mended[name] = int(value)
        if kind == "array" and isinstance(value, str):
            mended[name] = [value]
    return mended
