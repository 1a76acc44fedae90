"""An edit in, clangd's index of the checkout after it out: the shards that indexing everything would write.

Files are indexed in the order of their paths. A header's shard is written by the first file that includes it
or, if that file has errors, by the last that includes it without errors. A source is indexed alone where its
own macros give such a file another meaning. After an edit the files that it may reach are
indexed alone, each with shards of all that it includes. The same rule then says which of these
shards, or the one that was there, is the header's now.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from codenib.core.errors import CannotMaintain
from codenib.navigation.cpp.clangd.merging import merge_shards
from codenib.navigation.cpp.clangd.shards import Shard, read_head, read_shard
from codenib.navigation.cpp.clangd.workers import ClangdWorkers, read_all
from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.includes import lends_macros, reachable

# Files that did not change but may be the next to make a header's shard.
_MOST_HEIRS = 12
# Of all compiled files: indexed alone each has all that it includes indexed again, in order only what is new.
_MOST_ALONE = 0.4


@dataclass(frozen=True)
class ShardOrigin:
    """One shard, the compiled file that wrote it (`maker`), and the first that includes its file."""

    first: str
    maker: str
    shard: Shard

    @property
    def contested(self) -> bool:
        """Whether the first has errors."""
        return self.first != self.maker or self.shard.had_errors


class BackgroundIndex:
    """The shards of one checkout, by the names of their files."""

    def __init__(self, workers: ClangdWorkers, commands: Sequence[CompileCommand]) -> None:
        """Index everything."""
        self._workers = workers
        makers = workers.index(commands)
        commands = [command for command in commands if not workers.is_left_out(command.file)]
        self._commands = {command.file: command for command in commands}
        self._order = {command.file: at for at, command in enumerate(commands)}
        self.origins = {
            name: ShardOrigin(*makers[name], shard) for name, shard in read_all(workers.shards).items()
        }
        self._stamps = {path: _stamp(path) for path in self.paths()}
        self._merged: set[str] = set()  # shards that several sources made
        self._index_lenders()

    def paths(self) -> Iterable[str]:
        """The files that it is of."""
        return (origin.shard.path for origin in self.origins.values())

    @property
    def compiled(self) -> Collection[str]:
        """The files that have a command."""
        return self._order.keys()

    def alone(self) -> set[str]:
        """The compiled files whose shards are of their own compilation."""
        return {origin.maker for origin in self.origins.values() if origin.maker == origin.shard.path}

    def changed_outside(self, *folders: Path) -> str:
        """A file outside `folders` that is not what it was when it was read; empty when there is none."""
        inside = tuple(f"{folder}/" for folder in folders)
        return next(
            (
                path
                for path, stamp in self._stamps.items()
                if not path.startswith(inside) and _stamp(path) != stamp
            ),
            "",
        )

    def graph(self) -> dict[str, tuple[str, ...]]:
        """What each file includes itself."""
        return {origin.shard.path: origin.shard.includes for origin in self.origins.values()}

    def includers(self, paths: Collection[str]) -> set[str]:
        """The compiled files that include one of `paths`, as far as shards say."""
        users: dict[str, list[str]] = {}
        for origin in self.origins.values():
            for other in origin.shard.includes:
                users.setdefault(other, []).append(origin.shard.path)
        return reachable(paths, users) & self._order.keys()

    def follow(self, dirty: Collection[str], may_include: Callable[[str, str], bool]) -> set[str]:
        """Index the files `dirty` again; the names of the shards that are others now.

        `may_include` says whether a compiled file may include a file; both are full paths.
        """
        if len(dirty) > _MOST_ALONE * len(self._order):
            return self._index_all()
        made_by = {origin.shard.path: origin.maker for origin in self.origins.values()}
        asleep = {file for file in self._order if made_by.get(file, file) != file}
        runs = self._run([file for file in dirty if file not in asleep])
        self._check_mains(runs, made_by)
        if self._merges(runs):
            self._workers.forget_alone()
            return self._index_all()
        differing = set()
        for name, (first, maker) in self._choices(runs, may_include).items():
            if not maker:
                self._drop(name)
            elif maker not in runs:
                self.origins[name] = replace(self.origins[name], first=first)
                continue
            elif not self._put(name, first, maker, runs[maker][name].file):
                continue
            differing.add(name)
        self._workers.forget_alone()
        return differing

    def _merges(self, runs: Mapping[str, Mapping[str, _ShardFile]]) -> bool:
        """Whether shards of several includers are concerned, before or after an edit."""
        lent = (
            self._lends(file, shard.path)
            for file, run in runs.items()
            for shard in run.values()
            if shard.path != file
        )
        return not self._merged.isdisjoint(self._concerned(runs)) or any(lent)

    def _index_all(self) -> set[str]:
        """Everything in order, from nothing; shards with the same bytes are not read again."""
        folder = self._workers.shards
        old_bytes = {name: (folder / name).read_bytes() for name in self.origins}
        shutil.rmtree(folder)
        makers = self._workers.index(list(self._commands.values()))
        same = {name for name in makers if (folder / name).read_bytes() == old_bytes.get(name)}
        before, self.origins = self.origins, {}
        for name, (first, maker) in makers.items():
            shard = before[name].shard if name in same else read_shard(folder / name)
            self.origins[name] = ShardOrigin(first, maker, shard)
        self._index_lenders()
        same = {name for name in same if self.origins[name].shard is before[name].shard}
        self._stamps = {path: _stamp(path) for path in self.paths()}
        return (before.keys() | makers.keys()) - same

    def _index_lenders(self) -> None:
        """Index sources alone that include a part of others with macros of their own.

        In order, such a part is indexed for its first includer; what it makes of a later one's macros is
        merged into that.
        """
        self._merged = set()
        makers = {origin.shard.path: origin.maker for origin in self.origins.values()}
        lenders = [
            origin.maker
            for origin in self.origins.values()
            if origin.maker == origin.shard.path
            and any(
                makers.get(path, origin.maker) != origin.maker and self._lends(origin.maker, path)
                for path in origin.shard.includes
            )
        ]
        with suppress(CannotMaintain):  # one takes too long alone: what was indexed in order stays
            for file, run in self._run(lenders).items() if lenders else ():
                for name, shard in run.items():
                    if shard.path == file:
                        self._put(name, file, file, shard.file)
                    elif name in self.origins and self._lends(file, shard.path):
                        self._merge(name, shard.file)
        self._workers.forget_alone()

    def _merge(self, name: str, file: Path) -> None:
        """Add what another includer makes of a part."""
        place = self._workers.shards / name
        whole = place.with_suffix(".merged")
        whole.write_bytes(merge_shards(place, file))
        whole.replace(place)  # others may have a link to the one before
        self.origins[name] = replace(self.origins[name], shard=read_shard(place))
        self._merged.add(name)

    def _lends(self, file: str, path: str) -> bool:
        here = f"{self._workers.root}/"
        if not (file.startswith(here) and path.startswith(here)):
            return False
        return lends_macros(Path(file).read_bytes(), Path(path).read_bytes())

    def _run(self, files: Iterable[str]) -> dict[str, dict[str, _ShardFile]]:
        commands = [self._commands[file] for file in sorted(files, key=self._order.__getitem__)]
        return {
            file: {name: _ShardFile(place) for name, place in shards.items()}
            for file, shards in self._workers.index_alone(commands).items()
        }

    def _check_mains(self, runs: Mapping[str, Mapping[str, _ShardFile]], made_by: Mapping[str, str]) -> None:
        """Raise where it changed whether a compiled file is included by an earlier one.

        One that is gets its shard from the earlier file and is not indexed for itself.
        """
        for file, run in runs.items():
            there = {shard.path for shard in run.values()} & self._order.keys()
            later = {other for other in there if self._order[other] > self._order[file]}
            before = {other for other in self._order if other != file and made_by.get(other) == file}
            for other in (later - before) | (before - there):
                if (other in later) == (made_by.get(other, other) == other):
                    raise CannotMaintain(f"{file} and {other} are compiled, and one includes the other")

    def _choices(
        self, runs: dict[str, dict[str, _ShardFile]], may_include: Callable[[str, str], bool]
    ) -> dict[str, tuple[str, str]]:
        """Who includes first, and who makes, each shard that an edit may concern; empty when nobody does.

        Where that takes a file that did not change, it is indexed alone too.
        """
        graph = self.graph()
        reached: dict[str, set[str]] = {}

        def may_reach(file: str, path: str) -> bool:
            if file not in reached:
                reached[file] = reachable([file], graph)
            return path in reached[file] or may_include(file, path)

        started = len(runs)
        while True:
            needed: set[str] = set()
            found: dict[str, tuple[str, str]] = {}
            for name in self._concerned(runs):
                choice = _OriginChoice(name, self.origins.get(name), runs, self._order, may_reach)
                try:
                    found[name] = choice.resolve()
                except _MustIndex as missing:
                    needed.add(missing.file)
            if len(runs) + len(needed) - started > _MOST_HEIRS:
                raise CannotMaintain("other files are now the first to include many headers")
            if not needed:
                return found
            runs.update(self._run(needed))

    def _concerned(self, runs: Mapping[str, Mapping[str, _ShardFile]]) -> set[str]:
        """The shards that a file of `runs` has, wrote, or was the first to include."""
        involved = {
            name for name, origin in self.origins.items() if origin.first in runs or origin.maker in runs
        }
        return involved | {name for run in runs.values() for name in run}

    def _put(self, name: str, first: str, maker: str, file: Path) -> bool:
        """Take a shard; whether it is another than before."""
        place = self._workers.shards / name
        before = self.origins.get(name)
        if before is not None and file.read_bytes() == place.read_bytes():
            self.origins[name] = ShardOrigin(first, maker, before.shard)
            return False
        shutil.copyfile(file, place)
        self.origins[name] = ShardOrigin(first, maker, read_shard(place))
        path = self.origins[name].shard.path
        self._stamps[path] = _stamp(path)
        return True

    def _drop(self, name: str) -> None:
        (self._workers.shards / name).unlink(missing_ok=True)
        if name in self.origins:
            self._stamps.pop(self.origins.pop(name).shard.path, None)


class _MustIndex(Exception):
    """This file has to be indexed alone first."""

    def __init__(self, file: str) -> None:
        self.file = file


@dataclass(frozen=True)
class _OriginChoice:
    """Which compiled file writes one shard after the edit."""

    name: str
    before: ShardOrigin | None
    runs: Mapping[str, Mapping[str, _ShardFile]]
    order: dict[str, int]
    may_reach: Callable[[str, str], bool]

    def resolve(self) -> tuple[str, str]:
        first = next((file for file in self.order if self._includes(file)), "")
        if not first or not self._has_errors(first):
            return first, first
        return first, next((file for file in reversed(self.order) if self._is_clean(file)), first)

    def _includes(self, file: str) -> bool:
        """Whether a file, none before it, includes this one."""
        if file in self.runs:
            return self.name in self.runs[file]
        if self.before is None or self.order[file] < self._at(self.before.first):
            return False
        return file == self.before.first or self._needs_index(file, self.before)

    def _has_errors(self, file: str) -> bool:
        if file in self.runs:
            return self.runs[file][self.name].had_errors
        assert self.before is not None
        return self.before.contested

    def _is_clean(self, file: str) -> bool:
        """Whether a file, none after it, includes this one without errors."""
        if file in self.runs:
            return self.name in self.runs[file] and not self.runs[file][self.name].had_errors
        before = self.before
        if before is None or (file == before.first and before.contested):
            return False
        if file == before.maker:
            return not before.shard.had_errors
        if self.order[file] < self._at(before.first):
            return False
        if before.contested and (before.shard.had_errors or self.order[file] > self._at(before.maker)):
            return False
        return self._needs_index(file, before)

    def _needs_index(self, file: str, before: ShardOrigin) -> bool:
        if self.may_reach(file, before.shard.path):
            raise _MustIndex(file)
        return False

    def _at(self, file: str) -> int:
        return self.order.get(file, 0)


class _ShardFile:
    """A shard on disk; its head is read on first use."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @cached_property
    def _head(self) -> tuple[str, tuple[str, ...], bool]:
        return read_head(self.file)

    @property
    def path(self) -> str:
        return self._head[0]

    @property
    def had_errors(self) -> bool:
        return self._head[2]


def _stamp(path: str) -> tuple[int, int]:
    """Time and size of a file; zeros when it is not there."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
