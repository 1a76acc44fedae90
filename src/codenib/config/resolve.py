"""Files and environment in, the value of every key and where it comes from out.

The defaults come first, then the user's file, the repository's file, the environment; an option of a command
comes before all. Nothing is stored here: files are read when somebody asks, and parsed once per state. Cheap
to import: where nothing is configured, no parser is loaded.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from codenib.config.keys import BY_NAME, KEYS, MAX_BYTES, Key, Setting, Value
from codenib.core.errors import InputError
from codenib.core.source import SourceSettings

NAME = "codenib.toml"
#: Keys that decide how the files of a snapshot are read; none has a variable.
_OF_SOURCES = tuple(key for key in KEYS if key.kind in ("globs", "languages"))
Origin = Literal["default", "user", "repository", "environment"]
#: Reads a repository's own file; None when it has none.
ReadFile = Callable[[], bytes | None]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The value that holds for a key: `where` is the file and line, or the variable; "" for a default."""

    key: Key
    value: Value
    origin: Origin = "default"
    where: str = ""


def user_file() -> Path:
    """The user's own file: in `$CODENIB_HOME` where that is set, else in the platform's own folder for it."""
    if home := os.environ.get("CODENIB_HOME"):
        return Path(home).expanduser().absolute() / NAME
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "codenib" / NAME


def resolve(repository: Mapping[str, Setting], keys: Sequence[Key] = KEYS) -> dict[str, Resolved]:
    """What holds for these keys, with what a repository's file says.

    Globs that leave files out are those of both files. A variable is read, and may be wrong, only when its
    key is asked for.
    """
    user = _user_settings()
    found: dict[str, Resolved] = {}
    for key in keys:
        chosen = Resolved(key, key.default)
        if (said := user.get(key.name)) is not None:
            chosen = Resolved(key, said.value, "user", said.where)
        if (said := repository.get(key.name)) is not None:
            value, where = said.value, said.where
            if key.name == "paths.exclude" and chosen.origin == "user":  # what you hide stays hidden
                value, where = (*chosen.value, *said.value), f"{chosen.where}, {where}"  # type: ignore[misc]
            chosen = Resolved(key, value, "repository", where)
        if (variable := _from_environment(key)) is not None:
            chosen = Resolved(key, variable.value, "environment", variable.where)
        found[key.name] = chosen
    return found


def user_choice(name: str) -> str:
    """What the environment, else the user's file, says of a key that is the user's alone; "" when neither."""
    key = BY_NAME[name]
    said = _from_environment(key) or _user_settings().get(name)
    return str(said.value) if said is not None else ""


def repository_settings(read: ReadFile, where: str = NAME) -> dict[str, Setting]:
    """What a repository's own file says; nothing when it has none, or the user does not want it read."""
    if user_choice("repository_file") == "off":
        return {}
    data = read()
    if data is None:
        return {}
    from codenib.config.parse import parse_file

    return parse_file(data, where, repository=True)


def source_settings(read: ReadFile, where: str = NAME) -> SourceSettings:
    """What decides how the files of a snapshot are read. `read` gives the snapshot's own file."""
    found = resolve(repository_settings(read, where), _OF_SOURCES)
    values = {name: each.value for name, each in found.items()}
    return SourceSettings(
        include=_globs(values["paths.include"]),
        exclude=_globs(values["paths.exclude"]),
        tests=_globs(values["tests.include"]),
        not_tests=_globs(values["tests.exclude"]),
        languages=tuple(values["languages"]),  # type: ignore[arg-type]
    )


def _globs(value: Value) -> tuple[str, ...]:
    assert isinstance(value, tuple)
    return tuple(str(each) for each in value)


def _from_environment(key: Key) -> Setting | None:
    said = os.environ.get(key.variable, "").strip() if key.variable else ""
    if not said:
        return None
    from codenib.config.parse import parse_variable

    return parse_variable(key, said)


def _user_settings() -> Mapping[str, Setting]:
    file = user_file()
    try:
        state = file.stat()
    except OSError:
        return {}
    if not stat.S_ISREG(state.st_mode):
        raise InputError(f"{file} is not a regular file, so it is not read", hint=f"rm {file}")
    return _parsed(file, state.st_mtime_ns, state.st_size, state.st_ino)


@lru_cache(maxsize=4)
def _parsed(file: Path, mtime_ns: int, size: int, inode: int) -> Mapping[str, Setting]:
    """What a file of this state says."""
    from codenib.config.parse import parse_file

    try:
        with file.open("rb") as opened:
            return parse_file(opened.read(MAX_BYTES + 1), str(file), repository=False)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}", hint=f"chmod u+r {file}") from error
