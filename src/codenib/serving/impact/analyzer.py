"""A change in; what depends on it, which tests reach it and what usually changes with it out.

Each of the three has its own provider and its own completeness: what nobody resolved is `unknown`, not none.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codenib.core.calls.cancellation import CallCancelled, check_cancelled
from codenib.core.errors import CodenibError, InputError
from codenib.core.navigation import Meaning, Position
from codenib.core.requests import ImpactRequest, NeighboursRequest, SnapshotRequest
from codenib.core.source import Level, Mark, UnitRow
from codenib.core.symbols import (
    Affected,
    Completeness,
    Consequence,
    GraphAnswer,
    ImpactAnswer,
    ImpactPart,
    Symbol,
)
from codenib.core.views import ViewKind
from codenib.serving.impact.edits import EditedFile, edits_between, edits_of_diff
from codenib.serving.navigation.by_name import places_of_name
from codenib.serving.navigation.meanings import main_meaning
from codenib.serving.navigation.positions import last_name
from codenib.serving.snapshots.reader import link_source
from codenib.units.extract import extract
from codenib.units.languages import BY_NAME as LANGUAGES
from codenib.units.languages import language_hint
from codenib.units.marks import marks_of

if TYPE_CHECKING:
    from codenib.compiler.compiler import IndexCompiler
    from codenib.core.history import Companion
    from codenib.serving.navigation.navigator import Navigator
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.serving.snapshots.pool import Snapshots

_TEST_STEPS = 4  # between a test and what it reaches
_REACH = f"through resolved uses, {_TEST_STEPS} steps at most: what a framework calls is not seen"
_WALKED = 2000  # symbols that one walk may reach
_MOST_CHANGED = 40  # declarations that are looked at; by name each takes up to half a second
_MOST_FILES = 300  # whose lines are compared with an earlier revision's
_MOST_USES = 20  # of each removed name
_USUAL = 0.05  # of the commits of a file: what changes with it more rarely says little
_COMPANIONS = 1000  # of each file: more than any has
_REACHING = ("call", "reference", "type-use", "inherit")  # an import alone runs nothing of what it names
_NOT_CODE = frozenset({"section", "window", "file", "cell"})
_WORSE: tuple[Completeness, ...] = ("all", "limited", "partial", "unknown")
_SEPARATORS = re.compile(r"::|[.#/:]")


@dataclass(frozen=True, slots=True)
class _Changed:
    """Something that is changed, and how to ask the graph for it."""

    symbol: Symbol
    ask: NeighboursRequest | None  # None: it was removed, and only its name is left


@dataclass(frozen=True, slots=True)
class _Change:
    """What changed, in which files, and remarks; not `whole` when some files were not looked at."""

    changed: Sequence[_Changed]
    paths: frozenset[str]
    notes: tuple[str, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class _Known:
    """What one question gave: consequences, and the claim about them."""

    items: Sequence[Affected]
    provider: str
    completeness: Completeness
    total: int
    note: str = ""


class ImpactAnalyzer:
    """Answers for one repository, from its graph, its tests' marks and its history."""

    def __init__(self, compiler: IndexCompiler, snapshots: Snapshots, navigator: Navigator) -> None:
        self._compiler = compiler
        self._snapshots = snapshots
        self._navigator = navigator

    def impact(self, request: ImpactRequest) -> ImpactAnswer:
        """What a change may reach; see `ImpactRequest`."""
        started = time.perf_counter()
        _check(request)
        pinned, refreshed = self._snapshots.pin(ViewKind.LEXICAL, request.snapshot, (ViewKind.HISTORY,))
        change = self._asked(pinned, request) if request.where else self._edited(pinned, request)
        changed, notes = change.changed, list(change.notes)
        looked = changed[:_MOST_CHANGED]
        known = [self._reached(pinned, each, request) for each in looked]
        mine = {(each.symbol.path, each.symbol.qualified) for each in changed}
        if len(changed) > len(looked):
            notes.append(f"{len(looked)} of {len(changed)} changed declarations were looked at")
        limited = len(changed) > len(looked) or not change.whole
        dependents = _part([near for near, _ in known], mine, limited)
        tests = _part([far for _, far in known], mine, limited)
        if not change.paths:  # nothing changed, so nothing follows
            dependents = tests = _Known((), "git", "all", 0)
        if "static" in tests.provider:
            note = "; ".join(filter(None, (tests.note, _REACH)))
            weakest = max(tests.completeness, "limited", key=_WORSE.index)
            tests = replace(tests, note=note, completeness=weakest)
        companions = self._companions(pinned, sorted(change.paths))
        kept = [tuple(part.items[: request.k]) for part in (dependents, tests, companions)]
        items = tuple(item for part in kept for item in part)
        link_source([item for item in items if item.path in pinned.files], self._snapshots, pinned.ref.id)
        symbols = tuple(each.symbol for each in changed)
        link_source([each for each in symbols if each.path in pinned.files], self._snapshots, pinned.ref.id)
        return ImpactAnswer(
            items=items,
            changed=symbols,
            parts=(
                _labelled("dependent", dependents),
                _labelled("test", tests),
                _labelled("companion", companions),
            ),
            snapshot=pinned.ref,
            seconds=time.perf_counter() - started,
            refreshed=refreshed,
            note="; ".join(dict.fromkeys(notes)),
        )

    # -- what is changed

    def _asked(self, pinned: PinnedSnapshot, request: ImpactRequest) -> _Change:
        """The one place that was asked for: its declaration comes with the answer of the graph."""
        ask = NeighboursRequest(
            request.where, "affected", request.name, request.depth, _WALKED, snapshot=request.snapshot
        )
        path = self._navigator.places.path_of(request.where)
        if path in pinned.files and request.where == path and not request.name:
            file = _Changed(_file_symbol(path), replace(ask, relation="dependents"))
            return _Change([file], frozenset([path]))
        meanings = self._navigator.places.meanings(pinned, request.where, request.snapshot) or []
        if len(meanings) > 1 and main_meaning(meanings) is None:  # a change of the name is one of each
            changed = [
                _Changed(_meant_symbol(each), replace(ask, where=_position(each), name=""))
                for each in meanings
            ]
            note = f"{len(meanings)} declarations have this name: all are taken as changed"
            return _Change(changed, frozenset(each.symbol.path for each in changed), (note,))
        start = self._navigator.neighbours(replace(ask, depth=1, k=1)).symbols[0]
        return _Change([_Changed(start, ask)], frozenset([start.path]))

    def _edited(self, pinned: PinnedSnapshot, request: ImpactRequest) -> _Change:
        left_out = 0
        if request.diff:
            files = edits_of_diff(request.diff, pinned)
        else:
            if self._compiler.repository.kind == "folder":
                what = f"{self._compiler.repository.root} is not in a git repository"
                raise InputError(f"{what}: what changed is not known", hint="codenib impact SYMBOL")
            base = self._snapshots.pin_ready(ViewKind.LEXICAL, request.since or "HEAD")
            files, left_out = edits_between(base, pinned, _MOST_FILES)
        changed: list[_Changed] = []
        for file in files:
            changed += self._changed_in(pinned, file, request)
        notes = [file.note for file in files if file.note]
        if left_out:
            notes.append(f"{left_out:,} further changed files were not looked at")
        if not files:
            notes.append(f"nothing is different from {request.since or 'HEAD'}")
        prose = sorted({file.path for file in files} - {each.symbol.path for each in changed} - _noted(files))
        if prose:
            notes.append(f"no code, so nobody resolves what depends on it: {_some(prose)}")
        paths = frozenset(file.path for file in files)
        return _Change(changed, paths, tuple(notes), whole=not left_out)

    def _changed_in(self, pinned: PinnedSnapshot, file: EditedFile, request: ImpactRequest) -> list[_Changed]:
        """The declarations that an edit touches, those that it removed, or the file's own lines."""
        if language_hint(file.path) not in LANGUAGES or marks_of(file.path) & Mark.PROSE:
            return []
        rows = [] if file.absent else _declarations(pinned.units(file.path)[0].rows)
        found = [self._declared(pinned, file.path, row, request) for row in _touched(file, rows)]
        if not found and not file.absent:
            ask = NeighboursRequest(
                file.path, "dependents", depth=request.depth, k=_WALKED,
                kinds=() if file.whole else ("import",), snapshot=request.snapshot,
            )  # fmt: skip
            found = [_Changed(_file_symbol(file.path), ask)]
        if file.before is not None:
            text = "\n".join(file.before)
            old = _declarations(extract(text.encode(), language_hint(file.path)).rows)
            names = {row.symbol for row in rows}
            gone = _outermost(row for row in old if row.symbol not in names)
            found += [_removed(file.path, row) for row in gone]
        return found

    def _declared(self, pinned: PinnedSnapshot, path: str, row: UnitRow, request: ImpactRequest) -> _Changed:
        name = last_name(row.symbol)
        lines = pinned.text(path).split("\n")[row.start_line - 1 : row.end_line]
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        at = next((number for number, line in enumerate(lines, row.start_line) if word.search(line)), 0)
        where, named = (f"{path}:{at}", name) if at else (row.symbol, "")
        ask = NeighboursRequest(where, "affected", named, request.depth, _WALKED, snapshot=request.snapshot)
        return _Changed(_row_symbol(path, row), ask)

    # -- what a change reaches

    def _reached(
        self, pinned: PinnedSnapshot, changed: _Changed, request: ImpactRequest
    ) -> tuple[_Known, _Known]:
        """What depends on something that changed, and the test code that reaches it."""
        check_cancelled()
        symbol = changed.symbol
        if changed.ask is None:
            return self._uses_of_removed(symbol, request.snapshot)
        try:
            near = self._navigator.neighbours(changed.ask)
            far = near
            if near.backends:  # by name no second step is taken
                ask = replace(changed.ask, depth=max(_TEST_STEPS, request.depth), kinds=_REACHING)
                far = self._navigator.neighbours(ask)
        except CallCancelled:
            raise
        except CodenibError as error:
            note = f"{symbol.qualified}: {error.message.partition(chr(10))[0]}"
            return _unknown(note), _unknown(note)
        tests = _TestCode(pinned)
        dependents = [each for each in _affected(near, symbol.qualified, "dependent") if not tests.has(each)]
        reaching = [each for each in _affected(near, symbol.qualified, "test") if tests.has(each)]
        reaching += [each for each in _affected(far, symbol.qualified, "test") if tests.has(each)]
        return _claimed(near, dependents, changed.ask.depth), _claimed(far, reaching, _TEST_STEPS)

    def _uses_of_removed(self, symbol: Symbol, snapshot: SnapshotRequest) -> tuple[_Known, _Known]:
        """Where the name of something that is gone still stands: it may mean something else there."""
        name = last_name(symbol.qualified)
        places = places_of_name(self._snapshots, name, symbol.path, snapshot)
        code = [each for each in places if not marks_of(each.path) & Mark.PROSE]
        note = f"{symbol.qualified} was removed: its uses are by name"
        parts = []
        for relation in ("dependent", "test"):
            mine = [each for each in code if bool(marks_of(each.path) & Mark.TEST) == (relation == "test")]
            items = [
                Affected(
                    relation="test" if relation == "test" else "dependent",
                    path=each.path,
                    line=each.line,
                    end_line=each.end_line,
                    symbol="",
                    kind="use by name",
                    of=symbol.qualified,
                    why=f"names {name}, which was removed",
                    depth=1,
                )
                for each in mine[:_MOST_USES]
            ]
            parts.append(_Known(items, "syntactic", "unknown", len(mine), note))
        return parts[0], parts[1]

    def _companions(self, pinned: PinnedSnapshot, paths: Sequence[str]) -> _Known:
        """Files that changed together with those that change, in the commits that the history view has."""
        if self._compiler.repository.kind == "folder":
            return _Known((), "git", "unknown", 0, "not in a git repository")
        if not pinned.has_fresh(ViewKind.HISTORY):
            record = pinned.manifest.views.get(ViewKind.HISTORY)
            why = record.error if record is not None and record.error else "codenib index --views history"
            return _Known((), "git", "unknown", 0, f"the history view is not there ({why})")
        view = pinned.history
        best: dict[str, tuple[Companion, str]] = {}
        uncommitted = [path for path in paths if not view.churn(path)]
        for path in paths:
            for each in view.cochange(path, _COMPANIONS, pinned.files):
                known = best.get(each.path)
                if each.path not in paths and (known is None or known[0].share < each.share):
                    best[each.path] = each, path
        usual = [pair for pair in best.values() if pair[0].share >= _USUAL]
        ordered = sorted(usual, key=lambda pair: (-pair[0].share, pair[0].path))
        items = [
            Affected(
                relation="companion",
                path=each.path,
                line=1,
                end_line=1,
                symbol="",
                kind="file",
                of=path,
                why=f"in {each.together} commits with {path}, {each.share:.0%} of its commits",
            )
            for each, path in ordered
        ]
        notes = [f"in no commit yet: {_some(uncommitted)}"] if uncommitted else []
        if rare := len(best) - len(usual):
            notes.append(f"{rare} more in less than {_USUAL:.0%} of its commits")
        whole = view.commit_count >= view.reachable
        if not whole:
            notes.append(f"of the newest {view.commit_count:,} of {view.reachable:,} commits")
        return _Known(items, "git", "all" if whole else "limited", len(items), "; ".join(notes))


class _TestCode:
    """Whether places are test code: by their path, or where a language says it in the source, by that."""

    def __init__(self, pinned: PinnedSnapshot) -> None:
        self._pinned = pinned
        self._lines: dict[str, list[tuple[int, int]]] = {}

    def has(self, item: Affected) -> bool:
        path, line = item.path, item.line
        if marks_of(path) & Mark.TEST:
            return True
        if language_hint(path) != "rust" or path not in self._pinned.files:
            return False
        if path not in self._lines:
            rows = self._pinned.units(path)[0].rows
            self._lines[path] = [(row.start_line, row.end_line) for row in rows if row.test]
        return any(first <= line <= last for first, last in self._lines[path])


def _check(request: ImpactRequest) -> None:
    if sum(map(bool, (request.where, request.diff, request.since))) > 1:
        raise InputError("give a place, a diff or a revision, one of them", hint="codenib impact --help")
    if request.depth < 1 or request.k < 0:
        raise InputError("depth is 1 or more, k is 0 or more", hint="codenib impact --help")


def _unknown(note: str) -> _Known:
    return _Known((), "syntactic", "unknown", 0, note)


def _claimed(answer: GraphAnswer, items: Sequence[Affected], depth: int) -> _Known:
    """Consequences with what their answer claims: a walk that ended by its depth may go on."""
    completeness = answer.completeness
    deepest = max((each.depth for each in answer.symbols), default=0)
    if completeness == "all" and depth > 1 and deepest >= depth:
        completeness = "limited"
    provider = "static" if answer.backends and completeness != "unknown" else "syntactic"
    return _Known(items, provider, completeness, len(items), answer.note)


def _affected(answer: GraphAnswer, of: str, relation: Consequence) -> Iterator[Affected]:
    """The symbols that a walk reached, each with the first edge that led to it."""
    why: dict[int, str] = {}
    depths = {symbol.id: symbol.depth for symbol in answer.symbols}
    for edge in answer.edges:
        if depths.get(edge.source, 0) > depths.get(edge.to, -1) >= 0:
            why.setdefault(edge.source, f"{edge.kind} at {edge.path}:{edge.line}")
    for symbol in answer.symbols:
        if symbol.depth:
            yield Affected(
                relation=relation,
                path=symbol.path,
                line=symbol.line,
                end_line=symbol.end_line,
                symbol="" if symbol.qualified == symbol.path else symbol.qualified,
                kind=symbol.kind,
                of=of,
                why=why.get(symbol.id, "overrides it"),
                depth=symbol.depth,
            )


def _part(known: Sequence[_Known], mine: set[tuple[str, str]], limited: bool) -> _Known:
    """All that is known of one kind, each place once and the nearest first; the weakest claim holds."""
    if not known:
        return _Known((), "none", "unknown", 0, "no changed declaration is known")
    best: dict[tuple[str, int, str], Affected] = {}
    for item in (item for each in known for item in each.items):
        key = item.path, item.line, item.symbol
        is_other = not item.symbol or (item.path, item.symbol) not in mine
        if is_other and (key not in best or item.depth < best[key].depth):
            best[key] = item
    items = sorted(best.values(), key=lambda item: (item.depth, item.path, item.line))
    beyond = sum(each.total - len(each.items) for each in known)
    completeness = max((each.completeness for each in known), key=_WORSE.index)
    if limited and completeness == "all":
        completeness = "limited"
    notes = dict.fromkeys(each.note for each in known if each.note)
    providers = ", ".join(sorted({each.provider for each in known}))
    return _Known(items, providers, completeness, len(items) + beyond, "; ".join(notes))


def _labelled(relation: Consequence, known: _Known) -> ImpactPart:
    return ImpactPart(relation, known.provider, known.completeness, known.total, known.note)


def _declarations(rows: Iterable[UnitRow]) -> list[UnitRow]:
    """Named rows that have lines of their own, and what is declared inside of them."""
    named = (row for row in rows if row.symbol and row.kind not in _NOT_CODE)
    return [row for row in named if row.leaf or row.level is Level.L2]


def _touched(file: EditedFile, rows: Iterable[UnitRow]) -> list[UnitRow]:
    """The declarations that are edited, each once; of a whole file the outermost."""
    if file.whole:
        return _outermost(rows)
    touched = (row for row in rows if file.touches(row.start_line, row.end_line))
    return list({row.symbol: row for row in touched}.values())


def _outermost(rows: Iterable[UnitRow]) -> list[UnitRow]:
    """Those that stand in no other of them."""
    by_symbol = {row.symbol: row for row in reversed(list(rows))}
    parts = {symbol: _SEPARATORS.split(symbol) for symbol in by_symbol}
    known = {tuple(each) for each in parts.values()}
    return [
        by_symbol[symbol]
        for symbol, each in reversed(list(parts.items()))
        if not any(tuple(each[:end]) in known for end in range(1, len(each)))
    ]


def _row_symbol(path: str, row: UnitRow) -> Symbol:
    return Symbol(
        id=-1,
        name=last_name(row.symbol),
        qualified=row.symbol,
        kind=row.kind,
        path=path,
        line=row.start_line,
        end_line=row.end_line,
    )


def _position(meaning: Meaning) -> Position:
    return Position(meaning.place.path, meaning.place.line, meaning.place.column)


def _meant_symbol(meaning: Meaning) -> Symbol:
    return Symbol(
        id=-1,
        name=last_name(meaning.symbol),
        qualified=meaning.symbol,
        kind=meaning.kind,
        path=meaning.place.path,
        line=meaning.start_line,
        end_line=meaning.end_line,
    )


def _file_symbol(path: str) -> Symbol:
    return Symbol(
        id=-1, name=path.rpartition("/")[2], qualified=path, kind="file", path=path, line=1, end_line=1
    )


def _removed(path: str, row: UnitRow) -> _Changed:
    return _Changed(replace(_row_symbol(path, row), kind=f"removed {row.kind}"), None)


def _noted(files: Sequence[EditedFile]) -> set[str]:
    return {file.path for file in files if file.note}


def _some(paths: Sequence[str], most: int = 3) -> str:
    return ", ".join(paths[:most]) + f" and {len(paths) - most} more" * (len(paths) > most)
