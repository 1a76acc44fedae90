"""A repository and a server in, what the server is given beside its row out: places, variables, a policy.

The facts and the live servers of a language start from the same checks: what a repository may not make an
engine do, it may not make a server do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from codenib.navigation.engines.sandbox import PathPolicy
from codenib.navigation.live.servers import Preparation, Server
from codenib.navigation.tools.policies import policy_of, python_interpreter

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


def prepare(start: ServerStart, *, trusted: bool) -> Preparation:
    """What the server needs; ProviderError where trust is missing."""
    chosen = _prepare_language(start, trusted=trusted)
    return chosen if trusted else replace(chosen, policy=_policy(start, chosen))


def _prepare_language(start: ServerStart, *, trusted: bool) -> Preparation:
    group = start.server.group
    if group == "cpp":
        return _prepare_clangd(start, trusted=trusted)
    if trusted:
        return Preparation()
    if group == "rust":
        from codenib.navigation.rust.setup import environment, refuse_unsafe_settings

        refuse_unsafe_settings(start.root)
        return Preparation(environment=environment(start.folder / "cargo-target", trusted=False))
    if group == "go" and "toolbox" in start.places:
        from codenib.navigation.go.build_cache import build_cache
        from codenib.navigation.go.limits import server_cpu_s

        cache = str(build_cache(start.root, Path(start.places["toolbox"])))
        return Preparation({"cache": cache}, {"GOCACHE": cache}, answer_cpu_s=server_cpu_s(start.root))
    if group == "python":
        return Preparation({"python": python_interpreter()})
    return Preparation()


def _prepare_clangd(start: ServerStart, *, trusted: bool) -> Preparation:
    """A database, unless the caller has one; and how long it may be waited for until clangd has read it all.

    A file that explodes is never read: then what there is answers, and says that it is not all.
    """
    from codenib.navigation.cpp.compile_commands import DATABASE, read_entries
    from codenib.navigation.cpp.database import prepare_database

    database = Path(start.places.get("database", start.folder / "database"))
    if "database" not in start.places:
        prepare_database(start.root, database, trusted=trusted)
    if trusted:
        return Preparation({"database": str(database)})
    sources = [Path(row["file"]) for row in read_entries(database / DATABASE)]
    size = sum(path.stat().st_size for path in sources if path.is_file())
    settle_s = _SETTLE_S + _SETTLE_FILE_S * len(sources) + _SETTLE_MEGABYTE_S * size / 1e6
    return Preparation({"database": str(database)}, settle_s=settle_s)


def _policy(start: ServerStart, chosen: Preparation) -> PathPolicy:
    """What an untrusted repository's server may do: write where it keeps its index and its builds."""
    places = {**start.places, **chosen.places}
    write = [start.folder, *(Path(places[name]) for name in ("database", "cache") if name in places)]
    programs = (*start.command, *places.values())
    return policy_of(start.server.group, start.root, programs, write=write)
