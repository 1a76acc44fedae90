"""The language servers as data: a group's name in, how to start and talk to its server out.

To change how a server is run, change its row. A `{name}` in an argument, option or setting stands for a place
on this machine; an argument or option whose place is not known is left out.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path, PurePosixPath

from codenib.navigation.engines.sandbox import PathPolicy
from codenib.navigation.tools.locate import Toolbox

Json = Mapping[str, "Json"] | tuple["Json", ...] | str | int | float | bool | None
Options = Mapping[str, Json]
_NONE: Options = {}
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Server:
    """One language server.

    `tool` is its name in the toolbox; `places` are files of other tools, as (name, tool, path in its folder).
    `options` go with the first request, and as the settings of `section` where the server asks for them;
    `untrusted` and `untrusted_settings` are laid over these unless the user trusts the repository.
    `language_ids` are the protocol's names by suffix; `project_files` are other files it must know of.
    `idle_grace_s` is how long it must be quiet before it counts as ready. The end of the progress `marker`
    says that its index is complete: then one second is enough.
    `opens_changed`: it learns of changes on disk only in files that are open, so changed ones are opened.
    `remembers_opened`: what it knows of a file that was once open hides what its index has of it.
    `idles`: it indexes on idle processors only, and is made to hurry while somebody waits.
    `announces`: a document's diagnostics say that the server has taken it in, so they are waited for.
    `lists` matches the log message that says that it knows its files; one opened before would be lost when
    it is closed.
    `nothing` matches error messages that mean "there is nothing at this position".
    `refuses` are names of files by which a repository could make it run programs: not without trust.
    `restarts` are names of files that are read when it is started; a change to one restarts it.
    """

    group: str
    languages: frozenset[str]
    tool: str
    language_ids: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    places: tuple[tuple[str, str, str], ...] = ()
    options: Options = field(default_factory=dict)
    settings: Options = field(default_factory=dict)
    section: str = ""
    untrusted: Options = field(default_factory=dict)
    untrusted_settings: Options = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    project_files: frozenset[str] = frozenset()
    idle_grace_s: float = 1.0
    marker: str = ""
    opens_changed: bool = False
    remembers_opened: bool = False
    idles: bool = False
    announces: bool = False
    lists: str = ""
    nothing: str = ""
    refuses: frozenset[str] = frozenset()
    restarts: frozenset[str] = frozenset()

    def language_id(self, path: str) -> str | None:
        """The protocol's name of the file's language; None for a file that this server does not know."""
        return self.language_ids.get(PurePosixPath(path).suffix)

    def watches(self, name: str) -> bool:
        """Whether the server must hear of changes to a file of this name."""
        known = name in self.project_files or name in self.refuses or name in self.restarts
        return known or PurePosixPath(name).suffix in self.language_ids

    def means_nothing(self, reason: str) -> bool:
        """Whether an error message says that there is nothing at a position."""
        return bool(self.nothing and re.search(self.nothing, reason))

    def starts_anew(self, path: str) -> bool:
        """Whether a change to this file makes the server start again."""
        name = PurePosixPath(path).name
        return name in self.restarts or name in self.refuses


@dataclass(frozen=True, slots=True)
class KnownCommands:
    """Files by their full paths: those with a command, and of these the ones that include other sources."""

    compiled: frozenset[str] = frozenset()
    with_parts: frozenset[str] = frozenset()


def _never(changed: Collection[str]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Preparation:
    """What a server gets on one repository beside its row.

    `places` are for names in braces; `environment` and `options` overrule those of the row.
    With a `policy` it runs in a sandbox, where there is one. `answer_cpu_s` is the CPU time for one answer,
    `settle_s` how long at most it is waited for until it has read everything, `commands` for which
    files it knows how they are read. `copies` has copies of files that it reads in their place, each below a
    number; `is_outdated` says whether it was prepared otherwise for what some files are now.
    """

    places: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    policy: PathPolicy | None = None
    answer_cpu_s: float = inf
    settle_s: float = inf
    options: Options = field(default_factory=dict)
    commands: KnownCommands = field(default_factory=KnownCommands)
    copies: Path | None = None
    is_outdated: Callable[[Collection[str]], bool] = _never


_UNPREPARED = Preparation()


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a server on one repository."""

    command: tuple[str, ...]
    options: Options
    settings: Options
    environment: Mapping[str, str]
    policy: PathPolicy | None = None
    answer_cpu_s: float = inf
    settle_s: float = inf
    copies: Path | None = None


_CPP = (
    ".cc", ".cpp", ".cxx", ".c++", ".h", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".txx",
    ".tcc", ".ixx", ".cppm",
)  # fmt: skip
_TS = {
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
}  # fmt: skip

PYTHON = Server(
    group="python",
    languages=frozenset({"python", "notebook"}),
    tool="basedpyright",
    arguments=("--stdio",),
    language_ids={".py": "python", ".pyi": "python", ".ipynb": "python"},
    # No settings of its own section: a part of them turns the defaults of the others off, such as the search
    # for sources below `src`.
    # It runs the interpreter that it finds in the repository's virtual environment, which may be committed.
    untrusted_settings={"python": {"pythonPath": "{python}"}},
    project_files=frozenset({"pyproject.toml", "pyrightconfig.json", "py.typed"}),
    lists=r"^Found \d+ source file|^No source files found",
)
TYPESCRIPT = Server(
    group="typescript",
    languages=frozenset({"typescript", "tsx", "javascript"}),
    tool="typescript-language-server",
    arguments=("--stdio",),
    language_ids=_TS,
    # The repository's own compiler is code of the repository. Fetching types would need the network.
    places=(("tsserver", "typescript", "lib/tsserver.js"),),
    options={
        "tsserver": {"path": "{tsserver}", "useClientFileWatcher": True, "useSyntaxServer": "never"},
        "disableAutomaticTypingAcquisition": True,
        "plugins": (),
    },
    project_files=frozenset({"package.json", "tsconfig.json", "jsconfig.json"}),
)
GO = Server(
    group="go",
    languages=frozenset({"go"}),
    tool="gopls",
    section="gopls",
    arguments=("serve",),
    language_ids={".go": "go"},
    project_files=frozenset({"go.mod", "go.sum", "go.work", "go.work.sum"}),
    nothing=r"^no identifier found$|^no object (found )?for|^no package metadata|not found in syntax",
)
RUST = Server(
    group="rust",
    languages=frozenset({"rust"}),
    tool="rust-analyzer",
    section="rust-analyzer",
    language_ids={".rs": "rust"},
    options={"checkOnSave": False},
    # Build scripts and procedural macros are code of the repository and of its dependencies.
    untrusted={"cargo": {"buildScripts": {"enable": False}}, "procMacro": {"enable": False}},
    # Packages, features and the variables that overrule a repository's Cargo configuration come from
    # `preparation`, which also reads these before each start.
    restarts=frozenset(
        {"config", "config.toml", "rust-project.json", "rust-toolchain", "rust-toolchain.toml"}
    ),
    refuses=frozenset({"rust-analyzer.toml", ".rust-analyzer.toml"}),
    project_files=frozenset({"Cargo.toml", "Cargo.lock"}),
    opens_changed=True,
)
CPP = Server(
    group="cpp",
    languages=frozenset({"c", "cpp"}),
    tool="clangd",
    arguments=(
        "--background-index",
        "--limit-references=0",
        "--limit-results=0",
        "--clang-tidy=false",
        # Its options come from the folder that `preparation` fills, never from the repository.
        "--enable-config=false",
        "--compile-commands-dir={commands}",
    ),
    language_ids={".c": "c", ".cu": "cuda", ".cuh": "cuda", **dict.fromkeys(_CPP, "cpp")},
    project_files=frozenset({"compile_commands.json"}),
    idle_grace_s=10.0,
    marker="backgroundIndexProgress",
    restarts=frozenset({"compile_commands.json"}),
    remembers_opened=True,
    opens_changed=True,
    announces=True,
    idles=True,
)
SERVERS: Mapping[str, Server] = {row.group: row for row in (PYTHON, TYPESCRIPT, GO, RUST, CPP)}


def server_of(language: str) -> Server | None:
    """The server that covers a language, by its name in `codenib.units.languages`."""
    return next((row for row in SERVERS.values() if language in row.languages), None)


def launch_of(
    server: Server,
    command: tuple[str, ...],
    places: Mapping[str, str],
    *,
    trusted: bool,
    prepared: Preparation = _UNPREPARED,
) -> Launch:
    """How to start `server` by `command`, with `places` for the names in braces."""
    places = {"python": shutil.which("python3") or sys.executable, **prepared.places, **places}
    limits = (_NONE, _NONE) if trusted else (server.untrusted, server.untrusted_settings)
    options = _filled_options(_merged(_merged(server.options, limits[0]), prepared.options), places)
    settings = _filled_options(_merged(server.settings, limits[1]), places)
    if server.section:
        settings = {**settings, server.section: options}
    arguments = (_filled(argument, places) for argument in server.arguments)
    environment = {**server.environment, **prepared.environment}
    return Launch(
        (*command, *filter(None, arguments)),
        options,
        settings,
        environment,
        policy=prepared.policy,
        answer_cpu_s=prepared.answer_cpu_s,
        settle_s=prepared.settle_s,
        copies=prepared.copies,
    )


def tool_paths(server: Server, tools: Toolbox) -> dict[str, str]:
    """The files of other tools that `server` needs; ProviderError when such a tool is missing."""
    return {name: str(tools.require(tool).folder / Path(path)) for name, tool, path in server.places}


def _merged(base: Options, over: Options) -> Options:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(below, value) if both else value  # type: ignore[arg-type]
    return merged


def _filled_options(options: Options, places: Mapping[str, str]) -> Options:
    filled: dict[str, Json] = {}
    for key, value in options.items():
        if isinstance(value, Mapping):
            filled[key] = _filled_options(value, places)
        elif not isinstance(value, str):
            filled[key] = value
        elif (text := _filled(value, places)) is not None:
            filled[key] = text
    return filled


def _filled(text: str, places: Mapping[str, str]) -> str | None:
    names = _PLACE.findall(text)
    if any(name not in places for name in names):
        return None
    return _PLACE.sub(lambda match: places[match[1]], text)
