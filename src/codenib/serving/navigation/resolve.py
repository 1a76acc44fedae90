"""What a caller wrote (a place, a line and a name, a symbol, a path) in, the position or node meant out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codenib.core.errors import InputError
from codenib.core.facts import FileScope
from codenib.core.navigation import Meaning, Position
from codenib.core.requests import NeighboursRequest, SnapshotRequest
from codenib.core.views import ViewKind
from codenib.serving.navigation.meanings import (
    has_graph,
    main_meaning,
    meanings_by_name,
    meanings_in_graph,
    tier,
    with_signatures,
)
from codenib.serving.navigation.positions import (
    ambiguous,
    last_name,
    nearest_line,
    parse_place,
    position_in,
    words_of,
)

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.serving.snapshots.pool import Snapshots
    from codenib.serving.snapshots.reader import SourceReader


class PlaceResolver:
    """Resolves places of one repository; raises with the choices where one is ambiguous."""

    def __init__(self, snapshots: Snapshots, reader: SourceReader) -> None:
        self._snapshots = snapshots
        self._reader = reader

    def position(
        self, pinned: PinnedSnapshot, where: str | Position, name: str, request: SnapshotRequest
    ) -> Position:
        """The position that is meant in a pinned snapshot."""
        if isinstance(where, Position):
            return where
        place = parse_place(self._relative(where))
        if not place.line and place.target not in pinned.files:
            meanings = self._of_symbol(pinned, place.target, request)
            main = main_meaning(meanings)
            if main is None:
                choices = [str(each) for each in with_signatures(pinned, meanings)]
                raise ambiguous(place.target, choices, lambda first: f"codenib def {first.split()[0]}")
            return Position(main.place.path, main.place.line, main.place.column)
        if place.line or name:
            position = position_in(place, name, pinned.text(place.target))
            if position is not None:
                return position
        return _of_line(pinned, place.target, place.line or 1)

    def meanings(
        self, pinned: PinnedSnapshot, where: str | Position, request: SnapshotRequest
    ) -> list[Meaning] | None:
        """What a symbol may mean, the best first; None where a place is asked for, not a symbol."""
        if isinstance(where, Position):
            return None
        place = parse_place(self._relative(where))
        if place.line or place.target in pinned.files:
            return None
        return self._of_symbol(pinned, place.target, request)

    def path_of(self, where: str | Position) -> str:
        """The path of a place, or what stands for one."""
        return where.path if isinstance(where, Position) else parse_place(self._relative(where)).target

    def asked_nodes(self, pinned: PinnedSnapshot, request: NeighboursRequest) -> tuple[list[int], str]:
        """The nodes whose neighbours are asked for, and a note on what else the name means.

        One, or all where none stands out; of a method and all that override it, callers are the method's.
        """
        from codenib.serving.navigation.neighbours import node_at
        from codenib.views.graph.navigate import declared_at
        from codenib.views.graph.walk import overrides

        meanings = self.meanings(pinned, request.where, request.snapshot) or []
        if len(meanings) < 2 or main_meaning(meanings) is not None:
            node = self.node(pinned, request.where, request.name, request.snapshot)
            return [node], also_declared(len(meanings) - 1, request.where)
        view = pinned.graph
        best = [each.place for each in meanings if tier(each) == tier(meanings[0])]
        groups = [view.group(view.file_number(each.path) or 0) for each in best]
        # Who uses a name, and what is not known of it, is told for one group of languages.
        places = [
            Position(each.path, each.line, each.column)
            for each, group in zip(best, groups, strict=True)
            if group == groups[0]
        ]
        found = (next(iter(declared_at(view, each)), None) or node_at(view, each) for each in places)
        nodes = list(dict.fromkeys(found))
        others = also_declared(len(meanings) - len(places), request.where)
        if request.relation == "callers":
            base = next((node for node in nodes if {*nodes} - {node} <= {*overrides(view, node)}), None)
            if base is not None:
                return [base], others
        several = f"{len(nodes)} declarations have this name" if len(nodes) > 1 else ""
        return nodes, "; ".join(filter(None, (several, others)))

    def node(self, pinned: PinnedSnapshot, where: str | Position, name: str, request: SnapshotRequest) -> int:
        """The node of the graph that is meant; a path means its file."""
        from codenib.serving.navigation.neighbours import node_at

        view = pinned.graph
        if isinstance(where, str) and not name:
            file = view.file_number(self._relative(where))
            if file is not None:
                return view.files_at + file
        return node_at(view, self.position(pinned, where, name, request))

    def near(
        self, name: str | None, path: str | None, line: int | None, request: SnapshotRequest
    ) -> tuple[str, str]:
        """Where to ask and the name there, from what a model gives: the name counts, the line is about right.

        With a path but no line, where the file declares the name.
        """
        if not path:
            if not name:
                hint = "name=parse, or path=src/app.py line=12 name=parse"
                raise InputError("no name and no path is given", hint=hint)
            return name, ""
        if not line and not name:
            raise InputError(f"{path}: which name?", hint=f"path={path} name=…")
        text = self._reader.read(path, (None, None), request).text
        last = last_name(name or "")
        if not last:
            return f"{path}:{line}", ""
        at = nearest_line(text.split("\n"), line or self._declared_at(path, last, request), last)
        if at is None:
            raise InputError(f"{path} has no {last!r}", hint=f"definition name={name}")
        return f"{path}:{at}", last

    def _declared_at(self, path: str, name: str, request: SnapshotRequest) -> int:
        """The line where a file declares a name; its first line when it does not."""
        units = [unit for unit in self._reader.units(path, request) if last_name(unit.symbol) == name]
        return min((unit.span.start_line for unit in units), default=1)

    def _relative(self, where: str) -> str:
        """`where` with its path relative to the root."""
        if not where.startswith("/"):
            return where
        path, _, rest = where.partition(":")
        return f"{self._reader.relative(path)}:{rest}" if rest else self._reader.relative(path)

    def _of_symbol(self, pinned: PinnedSnapshot, symbol: str, request: SnapshotRequest) -> list[Meaning]:
        """What the graph declares; where it declares nothing so called (it has no functions inside
        functions, nor files without an engine), what the units do."""
        if has_graph(pinned):
            meanings = meanings_in_graph(pinned, symbol)
            if any(resolved_group(pinned, each.place.path) is not None for each in meanings):
                return meanings
        lexical, _ = self._snapshots.pin(ViewKind.LEXICAL, request)
        meanings = meanings_by_name(lexical, symbol)
        if not meanings:
            raise _unknown(lexical, symbol)
        return meanings


def also_declared(more: int, asked: object) -> str:
    """That a name is declared at other places than those that an answer is about; empty where it is not."""
    return f"also declared at {more} other place{'s' * (more > 1)}: codenib def {asked}" if more > 0 else ""


def _unknown(pinned: PinnedSnapshot, symbol: str) -> InputError:
    """That nothing has a name, and which names are written almost so."""
    from codenib.serving.search.names import unit_names

    name = last_name(symbol)
    near = unit_names(pinned).near(name)
    also = f"; near: {', '.join(near)}" if near else ""
    hint = f"codenib symbols {near[0]}" if near else f"codenib search '{symbol}'"
    return InputError(f"nothing is called {symbol!r}{also}", hint=hint)


def resolved_group(pinned: PinnedSnapshot, path: str) -> str | None:
    """The language group of a file whose facts a semantic backend resolved; None when there are none."""
    if not pinned.has_fresh(ViewKind.GRAPH):
        return None
    view = pinned.graph
    file = view.file_number(path)
    if file is None:
        return None
    if view.scope(file) is FileScope.UNRESOLVED:
        return None
    group = view.group(file)
    return group if any(each.group == group and each.resolved for each in view.about.groups) else None


def _of_line(pinned: PinnedSnapshot, path: str, line: int) -> Position:
    """The first declaration of a line, or its one name."""
    text = pinned.text(path)
    if resolved_group(pinned, path) is not None:
        from codenib.core.facts import Role
        from codenib.views.graph.navigate import on_line

        view = pinned.graph
        declared = [
            at
            for at in on_line(view, path, line)
            if view.occurrence_roles[at] & Role.DECLARATION
            and not any(key < view.count and view.is_local(key) for key in view.keys_of(at))
        ]
        if declared:
            return Position(path, line, int(view.occurrence_column[declared[0]]))
    words = words_of(text.split("\n")[line - 1]) if line <= text.count("\n") + 1 else []
    if len({word for _, word in words}) == 1:
        return Position(path, line, words[0][0])
    choices = [f"{path}:{line}:{column + 1}  {word}" for column, word in words]
    if not choices:
        raise InputError(f"{path}:{line} holds no name", hint=f"codenib read {path}:{line}")
    raise ambiguous(f"{path}:{line}", choices, lambda first: f"codenib def {first.split()[0]}")
