"""Edits of a C or C++ checkout in, the lines of facts that differ after them out.

Clangd's processes do not stay: to read its index again costs less than the memory that it would take. What
stays is the index on disk, and for each file the answers at its names.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from codenib.core.errors import CannotMaintain
from codenib.core.facts import FileScope
from codenib.core.protocols import Progress
from codenib.navigation.cpp.clangd.answers import FileAnswers
from codenib.navigation.cpp.clangd.index import BackgroundIndex
from codenib.navigation.cpp.clangd.limits import FileLimits, IncludedBytes, describe
from codenib.navigation.cpp.clangd.normalize import AnswerNormalizer
from codenib.navigation.cpp.clangd.shards import Shard
from codenib.navigation.cpp.clangd.symbols import SymbolTable, Target
from codenib.navigation.cpp.clangd.workers import ClangdWorkers
from codenib.navigation.cpp.database import CompilationDatabase
from codenib.navigation.cpp.facts import FactAssembly, FileSummary, summary_of
from codenib.navigation.cpp.header_context import HeaderContexts
from codenib.navigation.cpp.includes import Includes
from codenib.navigation.cpp.maintenance.early import EditedFiles
from codenib.navigation.cpp.maintenance.index_diff import IndexDiff, differing_files, identities_of
from codenib.navigation.cpp.maintenance.reuse import AnswerReuse, HeaderEdits, keywords
from codenib.navigation.engines.run import empty_line
from codenib.navigation.tools.locate import ExternalTool

#: Raises where the database does not fit the checkout.
Check = Callable[[CompilationDatabase, Sequence[str], SymbolTable], None]
# Of all names asked at, those in files that an edit may reach: from here on the edited files come first.
_MANY = 0.1


@dataclass
class _State:
    """What is known of one state of the checkout."""

    texts: dict[str, bytes]  # deflated
    database: CompilationDatabase
    limits: FileLimits
    workers: ClangdWorkers
    includes: Includes
    index: BackgroundIndex
    contexts: HeaderContexts
    answers: dict[str, FileAnswers]
    summaries: dict[str, FileSummary]
    assembly: FactAssembly
    #: What the last line of each file names, and the identity of each of its declarations by its place.
    targets: dict[str, frozenset[Target]] = field(default_factory=dict)
    nodes: dict[str, dict[tuple[int, int], str]] = field(default_factory=dict)


class CppEngine:
    """The facts of one checkout, followed through its edits."""

    def __init__(self, tool: ExternalTool, root: Path, check: Check, *, trusted: bool) -> None:
        self._tool = tool
        self._root = root.resolve()
        self._check = check
        self._trusted = trusted
        #: Told of files that were indexed, and asked about.
        self.on_progress: Progress | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._state: _State | None = None
        self._files: list[str] = []
        self._pending: set[str] = set()
        self._asked = 0
        self.alive = True

    @property
    def requests(self) -> int:
        return self._asked + (self._state.workers.requests if self._state is not None else 0)

    @property
    def lacks(self) -> tuple[str, ...]:
        """What the last facts are without."""
        if self._state is None:
            return ()
        left_out = self._state.limits.left_out
        return (
            *self._state.database.prepared.lacks,
            *([describe(left_out, len(left_out))] if left_out else []),
        )

    @property
    def settled(self) -> bool:
        return self._state is not None and not self._changed(self._state)

    @property
    def resident_bytes(self) -> int:
        """What the answers hold in memory, about."""
        if self._state is None:
            return 0
        return 700 * sum(each.size for each in self._state.summaries.values())

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        self._files = list(files)
        self._pending.update(changed)

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[dict[str, bytes], frozenset[str]]:
        state = self._state
        if state is None:
            lines = self._build()
        else:
            self._state = None  # whatever fails from here on, the next starts from nothing
            lines = self._follow(state)
        if anew:
            assert self._state is not None
            lines |= {path: self._line(self._state, path) for path in paths if path not in lines}
        differing = {path: lines[path] for path in paths if path in lines}
        return differing, frozenset(path for path in paths if path not in lines)

    def early(self) -> tuple[dict[str, bytes], frozenset[str]]:
        """The lines of the edited files where the edit reaches many others, and which these are."""
        state = self._state
        changed = self._changed(state) if state is not None else []
        if state is None or not changed or set(self._files) != state.texts.keys():
            return {}, frozenset()
        behind = self._behind(state, changed)
        sizes = {path: each.size for path, each in state.summaries.items()}
        if sum(sizes[path] for path in behind) < _MANY * sum(sizes.values()):
            return {}, frozenset()
        state.database.follow(changed, came_or_went=False)
        edited = EditedFiles(self._root, self._files, changed, state.database.commands)
        found = edited.ask(state.workers, state.index, state.includes.after(changed), state.summaries)
        if found is None or not state.limits.left_out.keys().isdisjoint(changed):
            return {}, frozenset()
        lines = {
            path: msgspec.json.encode(found.assembly.facts(answers, self._scope(state, path)))
            for path, answers in found.answers.items()
        }
        return lines, frozenset(behind)

    def _behind(self, state: _State, changed: Sequence[str]) -> set[str]:
        """The files that may include an edited one, and those that name something there."""
        edited = set(changed)
        naming = {
            path
            for path, targets in state.targets.items()
            if any(not isinstance(target, str) and target[0] in edited for target in targets)
        }
        return (state.includes.dependents(changed) & set(self._files) | naming) - edited

    def close(self) -> None:
        """Let go of everything."""
        self.alive = False
        self._state = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _build(self) -> dict[str, bytes]:
        """Everything from nothing."""
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = tempfile.TemporaryDirectory(prefix="codenib-cpp-", ignore_cleanup_errors=True)
        work = Path(self._folder.name).resolve()
        texts = {path: self._deflated(path) for path in self._files}
        database = CompilationDatabase(self._root, work, trusted=self._trusted)
        steps = _Steps(self._tell, "index", len(database.commands))
        includes = Includes(self._root)
        includes.read(self._files)
        sizes = IncludedBytes(self._root, includes)
        limits = FileLimits(sizes, len(self._files), trusted=self._trusted)
        workers = ClangdWorkers(self._tool, self._root, work, steps, limits=limits, trusted=self._trusted)
        index = BackgroundIndex(workers, database.commands)
        database.leave_out(limits.left_out)
        compiled = (command.file.removeprefix(f"{self._root}/") for command in database.commands)
        limits.leave_out_included(includes, compiled)
        table = self._table(index)
        self._check(database, self._files, table)
        includes.learn(index.graph())
        contexts = workers.read_in_context(database.commands, index.graph())
        normalizer = AnswerNormalizer(self._root, table, includes, contexts)
        steps.begin("names", len(self._files))
        found = workers.ask(self._files, database.commands, table)
        answers = {each.path: normalizer.normalize(each) for each in found}
        summaries = {path: summary_of(each) for path, each in answers.items()}
        assembly = FactAssembly(table, summaries.values(), includes)
        state = _State(
            texts=texts,
            database=database,
            limits=limits,
            workers=workers,
            includes=includes,
            index=index,
            contexts=contexts,
            answers=answers,
            summaries=summaries,
            assembly=assembly,
        )
        lines = {path: self._line(state, path) for path in self._files}
        self._state, self._pending = state, set()
        return lines

    def _follow(self, state: _State) -> dict[str, bytes]:
        """The lines that differ after the edits since the last time."""
        changed = self._changed(state)
        if not changed:
            self._state, self._pending = state, set()
            return {}
        there = set(self._files)
        came_or_went = bool(there ^ state.texts.keys())
        state.database.follow(changed, came_or_went)
        if outside := state.index.changed_outside(self._root, state.database.work):
            raise CannotMaintain(f"{outside} changed, which is outside the repository")
        touched = self._touched(state, changed)
        if left_out := touched & state.limits.left_out.keys():
            raise CannotMaintain(f"{min(left_out)} was left out, and may be read now")
        edits, hopeful = self._edits(state, touched & there, changed, came_or_went)
        old = state.assembly
        before = [origin.shard for origin in state.index.origins.values()]
        other = self._index_again(state, touched, changed)
        table = self._table(state.index)
        self._check(state.database, self._files, table)
        diff = IndexDiff(old.table, table, {str(self._root / path) for path in changed})
        if edits is not None:
            self._note_declared(state, edits, before, old.table, table)
            reuse = AnswerReuse(edits, diff, old.table, table)
            carried = self._carried(state, sorted(hopeful), reuse, table)
        else:
            carried = {}
        apart = [path for path in self._files if path not in touched]
        again = (touched & there) - carried.keys() | differing_files(old.table, table, apart)
        again.update(path for path in apart if diff.concerns(state.summaries[path]))
        # Which of several declarations a file means depends on what it includes.
        again.update(path for path in self._files if not state.includes.certain(path).isdisjoint(other))
        again |= self._contexts_again(state, changed, touched, otherwise=bool(other) or came_or_went) & there
        self._ask_again(state, sorted(again), table, diff, carried)
        now = {path: self._deflated(path) for path in changed if path in there}
        state.texts = {path: now[path] if path in now else state.texts[path] for path in self._files}
        state.assembly = FactAssembly(table, (state.summaries[path] for path in self._files), state.includes)
        lines = self._assemble(state, old, diff, again | carried.keys())
        self._state, self._pending = state, set()
        return lines

    def _edits(
        self, state: _State, touched: set[str], changed: Sequence[str], came_or_went: bool
    ) -> tuple[HeaderEdits | None, set[str]]:
        """The edits, and which unchanged files may keep their answers though they include edited ones."""
        alone = {path.removeprefix(f"{self._root}/") for path in state.index.alone()}
        hopeful = (touched & alone) - set(changed)
        if came_or_went or not hopeful:
            return None, set()
        before = {path: _text(zlib.decompress(data)) for path, data in state.texts.items() if data}
        if not before.keys() >= set(changed):
            return None, set()
        after = {path: self._text(path) for path in touched}
        edits = HeaderEdits(self._root, changed, before, after)
        closure = state.includes.closure
        return edits, {path for path in hopeful if edits.may_stand(closure(path), after[path])}

    def _note_declared(
        self, state: _State, edits: HeaderEdits, before: Sequence[Shard], old: SymbolTable, new: SymbolTable
    ) -> None:
        """What the edited tokens declare, before and after."""
        paths = [path.removeprefix(f"{self._root}/") for path in edits.files]
        texts = {path: _text(zlib.decompress(state.texts[path])) for path in paths}
        edits.add_declared(before, old, texts, new=False)
        after = [origin.shard for origin in state.index.origins.values()]
        edits.add_declared(after, new, {path: self._text(path) for path in paths}, new=True)

    def _carried(
        self, state: _State, hopeful: Sequence[str], reuse: AnswerReuse, table: SymbolTable
    ) -> dict[str, FileAnswers]:
        """The answers that hold; keywords, whose answers are types, are asked to know."""
        found = {}
        alone = state.index.alone()
        for path in hopeful:
            if str(self._root / path) not in alone:
                continue
            reused = reuse.carried(state.answers[path], state.includes.closure(path), self._text(path))
            if reused is not None:
                found[path] = reused
        asked = {path: keywords(reused) for path, reused in found.items() if keywords(reused)}
        tokens = {path: [one.token for one in some] for path, some in asked.items()}
        normalizer = AnswerNormalizer(self._root, table, state.includes, state.contexts)
        for path, answers in state.workers.ask_at(tokens, table).items() if tokens else ():
            if not normalizer.agrees(found[path], asked[path], answers):
                del found[path]
        return found

    def _index_again(self, state: _State, touched: set[str], changed: Sequence[str]) -> set[str]:
        """Index what an edit may reach; the files that include others than before."""
        here = f"{self._root}/"
        places = [place for path in changed for place in state.database.places(path)]
        dirty = state.index.includers(places)
        for command in state.database.commands:
            if command.file.removeprefix(here) in touched:
                dirty.add(command.file)

        def may_include(file: str, path: str) -> bool:
            return path.removeprefix(here) in state.includes.closure(file.removeprefix(here))

        state.index.follow(dirty, may_include)
        return state.includes.learn(state.index.graph())

    def _contexts_again(
        self, state: _State, changed: Sequence[str], touched: set[str], *, otherwise: bool
    ) -> set[str]:
        """The headers before which something else may be read than before the edit.

        `otherwise` says whether files include others now.
        """
        before = state.contexts
        found = before.reading(touched)
        if otherwise or before.concerned(changed):
            state.contexts = state.workers.read_in_context(state.database.commands, state.index.graph())
            found |= state.contexts.reading(touched) | state.contexts.differing(before)
        return found

    def _ask_again(
        self,
        state: _State,
        again: Sequence[str],
        table: SymbolTable,
        diff: IndexDiff,
        carried: Mapping[str, FileAnswers],
    ) -> None:
        """New answers for the files `again`; those of the others with today's places."""
        asked = set(again)
        answers = {}
        for path in self._files:
            if path not in asked:
                old_answers = state.answers[path]
                answers[path] = carried.get(path) or diff.carried(old_answers, state.summaries[path])
                if answers[path] is not state.answers[path]:
                    state.summaries[path] = summary_of(answers[path])
        normalizer = AnswerNormalizer(self._root, table, state.includes, state.contexts)
        for each in state.workers.ask(again, state.database.commands, table):
            answers[each.path] = normalizer.normalize(each)
            state.summaries[each.path] = summary_of(answers[each.path])
        state.answers = answers
        state.summaries = {path: state.summaries[path] for path in self._files}

    def _assemble(
        self, state: _State, old: FactAssembly, diff: IndexDiff, again: set[str]
    ) -> dict[str, bytes]:
        """The lines of the files whose facts differ: first those whose nodes may, then who names these."""
        new = state.assembly
        before = state.nodes
        state.nodes = {path: before[path] for path in self._files if path in before}
        state.targets = {path: state.targets[path] for path in self._files if path in state.targets}
        first = again | {
            path
            for path in self._files
            if old.targeted.get(path, {}) != new.targeted.get(path, {})
            or old.borrowed.get(path) != new.borrowed.get(path)
        }
        lines = {path: self._line(state, path) for path in sorted(first)}
        renamed = _renamed(old, new, diff)
        for path in self._files:
            if path in first:
                continue
            if (
                self._names_others(state, path, before, diff)
                or _relates_otherwise(old, new, diff, path)
                or not renamed.isdisjoint(_identities(state.summaries[path], new.table, path))
            ):
                lines[path] = self._line(state, path)
        return lines

    def _names_others(
        self,
        state: _State,
        path: str,
        before: Mapping[str, Mapping[tuple[int, int], str]],
        diff: IndexDiff,
    ) -> bool:
        """Whether a target of a file's last facts has another identity now, or none."""
        for target in state.targets[path]:
            if isinstance(target, str) or len(target) != 3:
                continue
            now = diff.target(target)
            if now is None or isinstance(now, str) or len(now) != 3:
                return True
            was = before.get(target[0], {}).get(target[1:])
            if was is None or state.nodes.get(now[0], {}).get(now[1:]) != was:
                return True
        return False

    def _line(self, state: _State, path: str) -> bytes:
        if path in state.limits.left_out:
            state.targets[path], state.nodes[path] = frozenset(), {}
            return empty_line(path)
        facts = state.assembly.facts(state.answers[path], self._scope(state, path))
        state.targets[path] = frozenset(map(_target, facts.targets))
        state.nodes[path] = identities_of(facts.nodes)
        return msgspec.json.encode(facts)

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self.on_progress is not None:
            self.on_progress(stage, done, total)

    def _scope(self, state: _State, path: str) -> FileScope:
        return FileScope.INFERRED if state.database.prepared.is_inferred(path) else FileScope.PROJECT

    def _table(self, index: BackgroundIndex) -> SymbolTable:
        table = SymbolTable(self._root, self._files)
        shards = (origin.shard for _, origin in sorted(index.origins.items()))
        table.add_shards(shards, index.compiled)
        return table

    def _changed(self, state: _State) -> list[str]:
        """The files that differ from those of a state."""
        there = set(self._files)
        either = there ^ state.texts.keys()
        both = (self._pending & there & state.texts.keys()) - either
        return sorted(either | {path for path in both if self._deflated(path) != state.texts[path]})

    def _touched(self, state: _State, changed: Sequence[str]) -> set[str]:
        """The files that may include one that changed, before or after the edit."""
        before = state.includes.dependents(changed)
        state.includes.read(changed)
        return before | state.includes.dependents(changed)

    def _deflated(self, path: str) -> bytes:
        try:
            return zlib.compress((self._root / path).read_bytes(), 1)
        except OSError:
            return b""

    def _text(self, path: str) -> str:
        return _text((self._root / path).read_bytes())


def _target(row: str | list[str | int]) -> Target:
    """A target as the facts write it."""
    if isinstance(row, str):
        return row
    return (str(row[0]), int(row[1]), int(row[2])) if len(row) == 3 else (str(row[0]),)


class _Steps:
    """Counts the files of a stage and tells."""

    def __init__(self, tell: Progress, stage: str, total: int) -> None:
        self._tell = tell
        self.begin(stage, total)

    def begin(self, stage: str, total: int) -> None:
        self._stage = stage
        self._total = total
        self._done = 0

    def __call__(self) -> None:
        self._done += 1
        if self._done <= self._total:
            self._tell(self._stage, self._done, self._total)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _identities(summary: FileSummary, table: SymbolTable, path: str) -> set[str]:
    """All symbols that a file's facts may name."""
    listed = {identity for found in table.references.get(path, {}).values() for identity in found}
    return listed | {identity for identity, _, _ in summary.named}


def _renamed(old: FactAssembly, new: FactAssembly, diff: IndexDiff) -> set[str]:
    """The symbols that the facts call otherwise now."""
    before, after = old.table, new.table
    found = set()
    for identity in before.known() | after.known():
        was, now = before.target(identity), after.target(identity)
        same = was == now if isinstance(was, str) else diff.target(was) == now
        if not same or before.label(identity) != after.label(identity):
            found.add(identity)
    return found


def _relates_otherwise(old: FactAssembly, new: FactAssembly, diff: IndexDiff, path: str) -> bool:
    if old.declarations.get(path, {}) != new.declarations.get(path, {}):
        return True
    was = {(kind, diff.target(source), diff.target(aim)) for kind, source, aim in old.relations.get(path, ())}
    return was != new.relations.get(path, set())
