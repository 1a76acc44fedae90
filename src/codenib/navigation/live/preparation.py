"""A repository and a server in, what the server is given beside its row out: places, variables, a policy.

The facts and the live servers of a language start from the same checks: what a repository may not make an
engine do, it may not make a server do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from codenib.navigation.engines.sandbox import PathPolicy
from codenib.navigation.live.servers import KnownCommands, Preparation, Server
from codenib.navigation.live.worktree import Worktree
from codenib.navigation.tools.locate import ExternalTool
from codenib.navigation.tools.policies import policy_of, python_interpreter

_INDEX_S = 120.0  # CPU time for the index that it starts from; the rest clangd makes itself
# fmt takes clangd 20 s on two processors: 49 sources of 1.3 MB, for which these allow 27 s.
_SETTLE_S, _SETTLE_FILE_S, _SETTLE_MEGABYTE_S = 4.0, 0.2, 10.0


@dataclass(frozen=True, slots=True)
class ServerStart:
    """A server that is to be started by `command` on `root`.

    `folder` is its own; `places` are those that the caller has prepared already.
    """

    server: Server
    command: tuple[str, ...]
    root: Path
    folder: Path
    places: Mapping[str, str]
    is_closed: Callable[[], bool] = lambda: False


def prepare(start: ServerStart, *, trusted: bool) -> Preparation:
    """What the server needs; ProviderError where trust is missing."""
    chosen = _prepare_language(start, trusted=trusted)
    return chosen if trusted else replace(chosen, policy=_policy(start, chosen))


def _prepare_language(start: ServerStart, *, trusted: bool) -> Preparation:
    group = start.server.group
    if group == "cpp":
        return _prepare_clangd(start, trusted=trusted)
    if group == "rust":
        return _prepare_rust(start, trusted=trusted)
    if trusted:
        return Preparation()
    if group == "go" and "toolbox" in start.places:
        from codenib.navigation.go.build_cache import build_cache
        from codenib.navigation.go.limits import server_cpu_s

        cache = str(build_cache(start.root, Path(start.places["toolbox"])))
        return Preparation({"cache": cache}, {"GOCACHE": cache}, answer_cpu_s=server_cpu_s(start.root))
    if group == "python":
        return Preparation({"python": python_interpreter()})
    return Preparation()


def _prepare_rust(start: ServerStart, *, trusted: bool) -> Preparation:
    """The packages and features that the engine of the facts reads too."""
    from codenib.navigation.rust.setup import environment, refuse_unsafe_settings, settings

    options = settings(start.root, trusted=trusted)
    if trusted:
        return Preparation(options=options)
    refuse_unsafe_settings(start.root)
    added = environment(start.folder / "cargo-target", trusted=False)
    return Preparation(environment=added, options=options)


def _prepare_clangd(start: ServerStart, *, trusted: bool) -> Preparation:
    """A database, unless the caller has one, and an index; and how long it may be waited for until clangd has
    read it all.

    A file that explodes is never read: then what there is answers, and says that it is not all.
    """
    from codenib.navigation.cpp.clangd.ordered import Allowance, IndexOrder, included, index_in_order
    from codenib.navigation.cpp.compile_commands import DATABASE, CompileCommand, read_entries, write_commands
    from codenib.navigation.cpp.database import prepare_database
    from codenib.navigation.cpp.header_context import HeaderContexts
    from codenib.navigation.cpp.includes import includes_sources

    database = Path(start.places.get("database", start.folder / "database"))
    if "database" not in start.places:
        prepare_database(start.root, database, trusted=trusted)
    entries = read_entries(database / DATABASE)
    size = sum(Path(row["file"]).stat().st_size for row in entries if Path(row["file"]).is_file())
    settle_s = _SETTLE_S + _SETTLE_FILE_S * len(entries) + _SETTLE_MEGABYTE_S * size / 1e6
    commands = [CompileCommand(row["file"], row["directory"], tuple(row["arguments"])) for row in entries]
    order = IndexOrder(start.root, commands, Worktree(start.root, start.server.watches).paths)
    tool = ExternalTool(start.server.tool, "", start.command, database)
    allowed = Allowance(inf if trusted else max(settle_s, _INDEX_S), start.is_closed)
    index_in_order(tool, order, database, trusted=trusted, allowed=allowed)
    contexts = HeaderContexts(start.root, database / "contexts", commands, included(database))
    served = database / "served"
    _serve_index(served, database)
    write_commands([*commands, *contexts.write()], served)
    return Preparation(
        {"database": str(database), "commands": str(served)},
        copies=database / "contexts",
        is_outdated=contexts.is_outdated,
        settle_s=inf if trusted else settle_s,
        commands=KnownCommands(
            frozenset(command.file for command in commands),
            frozenset(command.file for command in commands if includes_sources(Path(command.file))),
        ),
    )


def _serve_index(served: Path, database: Path) -> None:
    """The index of the plain commands is that of the served ones, too, which have headers beside them."""
    index = Path(".cache")
    (database / index).mkdir(exist_ok=True)
    served.mkdir(exist_ok=True)
    if not (served / index).is_symlink():
        (served / index).symlink_to(database / index)


def _policy(start: ServerStart, chosen: Preparation) -> PathPolicy:
    """What an untrusted repository's server may do: write where it keeps its index and its builds."""
    places = {**start.places, **chosen.places}
    write = [start.folder, *(Path(places[name]) for name in ("database", "cache") if name in places)]
    programs = (*start.command, *places.values())
    return policy_of(start.server.group, start.root, programs, write=write)
