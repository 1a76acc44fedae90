"""The environment in, what of it decides a Go build out, as `go env` says it.

Every update asks several times, so an answer counts as long as what `go env` reads is the same.
"""

from __future__ import annotations

import os
import shutil
from functools import lru_cache
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program

_ASK_S = 20.0
# What of the environment decides which files and packages the build consists of.
_SETTINGS = ("GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOFLAGS")
#: Where Go looks for the user's settings, by system.
_USER_FILES = ("~/.config/go/env", "~/Library/Application Support/go/env")
_FOLDERS = ("XDG_CONFIG_HOME", "AppData")


def build_settings() -> tuple[str, ...]:
    """The settings that are not empty, as NAME=VALUE."""
    return _ask(_sources())


def _sources() -> tuple[object, ...]:
    """What the answer of `go env` comes from: variables, the program, files of settings."""
    names = ("PATH", "HOME", *_FOLDERS)
    variables = [pair for pair in os.environ.items() if pair[0].startswith(("GO", "CGO")) or pair[0] in names]
    program = Path(shutil.which("go") or "go").resolve()
    files = [program, program.parent.parent / "go.env", *(Path(name).expanduser() for name in _USER_FILES)]
    files += [Path(os.environ[name], "go", "env") for name in _FOLDERS if name in os.environ]
    if "GOENV" in os.environ:
        files.append(Path(os.environ["GOENV"]))
    return (*sorted(variables), *((str(file), *_state_of(file)) for file in files))


def _state_of(file: Path) -> tuple[int, int]:
    try:
        state = file.stat()
    except OSError:
        return -1, -1
    return state.st_size, state.st_mtime_ns


@lru_cache(maxsize=8)
def _ask(_sources: tuple[object, ...]) -> tuple[str, ...]:
    program = Program("go env", ("go", "env", *_SETTINGS), "go version", environment={"GOTOOLCHAIN": "local"})
    result = run_program(program, _ASK_S)
    if result.code:
        raise ProviderError(f"the go command does not work{result.tail}", hint="go version")
    values = zip(_SETTINGS, result.output.splitlines(), strict=False)
    return tuple(f"{name}={value}" for name, value in values if value)
