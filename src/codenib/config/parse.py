"""The bytes of a `codenib.toml` in, checked values with their lines out. Whatever is wrong is an input error.

The file may be a stranger's: its size, its lines, its nesting and its globs are bounded.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from codenib.config.keys import BY_NAME, HARMLESS_VIEWS, MAX_BYTES, Key, Setting, Value
from codenib.core.errors import InputError
from codenib.core.text.globs import path_filter
from codenib.units.languages import language_names

# The parser takes a time that grows with the square of a dotted key's parts, and the nesting of its arrays
# ends at the interpreter's limit of calls.
MAX_LINE = 1000
#: Wildcards and choices of one key's globs: every path of a repository is tried against them.
MAX_PARTS = 200
_HEADER = re.compile(r"\s*\[+([^\[\]]+)\]+\s*(?:#.*)?$")
_NAME = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def parse_file(data: bytes, file: str, *, repository: bool) -> dict[str, Setting]:
    """What a file says, by key. `repository`: it is a repository's own, which may not say everything."""
    text = _bounded_text(data, file)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file} is not TOML: {error}", hint=_hint(file)) from error
    except (RecursionError, ValueError) as error:  # nested too deep; a number of too many digits
        raise InputError(f"{file} is nested too deep or has a number too long", hint=_hint(file)) from error
    lines = _lines_of(text)
    found: dict[str, Setting] = {}
    for name, value in _flat(table, file):
        where = f"{file}:{lines[name]}" if name in lines else file
        key = _known(name, where)
        if repository and key.users:
            raise InputError(
                f"{where}: {name} can only be set in your own file, not in a repository's", hint=_hint(where)
            )
        found[name] = Setting(_checked(key, value, where, repository=repository), where)
    return found


def parse_variable(key: Key, text: str) -> Setting:
    """The value of an environment variable."""
    value: object = text
    if key.kind == "number" and text.strip().removeprefix("-").isdecimal():
        value = int(text)
    elif key.kind == "views":
        value = [name.strip() for name in text.split(",") if name.strip()]
    elif key.kind == "choice":
        value = text.strip().lower()
        value = (
            {"0": "off", "no": "off", "false": "off", "1": "on", "yes": "on", "true": "on"}.get(
                str(value), value
            )
            if key.choices == ("on", "off")
            else value
        )
    return Setting(_checked(key, value, key.variable, repository=False), key.variable)


def _hint(where: str) -> str:
    """How to mend what a variable, the user's file or a repository's says."""
    if where.startswith("CODENIB_"):
        return f"unset {where}"
    aside = ", or CODENIB_REPOSITORY_FILE=off codenib … goes without it" if where[:1] != "/" else ""
    return f"correct {where}{aside}"


def _bounded_text(data: bytes, file: str) -> str:
    if len(data) > MAX_BYTES:
        raise InputError(f"{file} is larger than {MAX_BYTES:,} bytes", hint=f"shorten {file}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8", hint=_hint(file)) from error
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE:
            what = f"{file}:{number} is longer than {MAX_LINE:,} characters"
            raise InputError(what, hint="lists may have a line for each item")
    return text


def _flat(table: Mapping[str, object], file: str) -> Iterator[tuple[str, object]]:
    """Dotted names with their values; tables that are values themselves stay whole."""
    for name, value in table.items():
        if isinstance(value, dict) and name not in BY_NAME:
            if not value:
                _known(name, file)
            yield from ((f"{name}.{inner}", each) for inner, each in value.items())
        else:
            yield name, value


def _known(name: str, where: str) -> Key:
    key = BY_NAME.get(name)
    if key is not None:
        return key
    near = get_close_matches(name[:80], BY_NAME, 1, 0.5)
    if not near:  # `max_tokens` for `explore.max_tokens`
        last = name.rpartition(".")[2][:80]
        near = [each for each in BY_NAME if each.rpartition(".")[2] == last][:1]
    also = f"; the nearest is {near[0]}" if near else ""
    raise InputError(f"{where}: there is no key {_short(name)}{also}", hint=_hint(where))


def _checked(key: Key, value: object, where: str, *, repository: bool) -> Value:
    checked = _of_kind(key, value)
    if checked is None:
        raise InputError(
            f"{where}: {key.name} must be {key.expects}, not {_short(repr(value))}", hint=_hint(where)
        )
    if key.kind == "globs" and isinstance(checked, tuple):
        _check_globs([str(glob) for glob in checked], key, where)
    if key.kind == "languages" and isinstance(checked, tuple):
        _check_languages(dict(checked), key, where)  # type: ignore[arg-type]
    outside = [] if key.kind != "views" or not isinstance(checked, tuple) else _outside(checked)
    if repository and outside:
        what = f"{where}: {', '.join(outside)} starts outside programs, so only your own file can ask for it"
        raise InputError(what, hint=_hint(where))
    return checked


def _outside(views: tuple[object, ...]) -> list[str]:
    return [str(name) for name in views if name not in HARMLESS_VIEWS]


def _of_kind(key: Key, value: object) -> Value | None:
    """The value, when it is of the key's kind."""
    match key.kind:
        case "text":
            return value if isinstance(value, str) else None
        case "choice":
            return value if isinstance(value, str) and value in key.choices else None
        case "switch":
            return value if isinstance(value, bool) else None
        case "number":
            fits = isinstance(value, int) and not isinstance(value, bool) and key.least <= value <= key.most
            return value if fits and isinstance(value, int) else None
        case "views" | "globs":
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                return None
            names = tuple(dict.fromkeys(value))
            wrong = key.kind == "views" and (not names or set(names) - set(key.choices))
            return None if wrong else names
        case "languages":
            if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
                return None
            return tuple(value.items())


def _check_globs(globs: list[str], key: Key, where: str) -> None:
    for glob in globs:
        if not glob.strip() or glob.startswith("!"):
            what = f"{where}: {key.name} has the glob {glob[:80]!r}, which names no path"
            raise InputError(what, hint="include and exclude say which is meant")
    try:
        path_filter(globs, MAX_PARTS)
    except InputError as error:
        raise InputError(f"{where}: {key.name}: {error.message}", hint=_hint(where)) from error


def _check_languages(languages: dict[str, str], key: Key, where: str) -> None:
    _check_globs(list(languages), key, where)
    known = language_names()
    for glob, language in languages.items():
        if language not in known:
            near = get_close_matches(language[:80], known, 1, 0.5)
            also = f"; the nearest is {near[0]}" if near else ""
            what = f"{where}: {glob[:80]!r} is in no language that is known here, {language[:80]!r}{also}"
            raise InputError(what, hint=_hint(where))


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"


def _lines_of(text: str) -> dict[str, int]:
    """The line on which each key of a file stands, as far as a look at its lines can tell."""
    lines: dict[str, int] = {}
    prefix = ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            prefix = f"{_plain(header[1])}."
            lines.setdefault(prefix[:-1], number)
        elif name := _NAME.match(line):
            lines.setdefault(f"{prefix}{_plain(name[1])}", number)
    return lines


def _plain(name: str) -> str:
    """A dotted name without quotes and blanks."""
    return ".".join(part.strip().strip("\"'") for part in name.split("."))
