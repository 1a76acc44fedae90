"""The facts of a file before and after an edit in, what the edit did to each declaration out. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from codenib.core.facts import NodeFlag, NodeKind
from codenib.core.updates import SymbolChange
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.maintenance.text_edit import TextEdit


def symbol_changes(old: FileFacts, new: FileFacts, edit: TextEdit) -> Iterator[SymbolChange]:
    """What the edit did to each declaration that others can name, in the order of the new text."""
    names = ({name: at for at, name in enumerate(facts.identities)} for facts in (old, new))
    before, after = names
    old_line, old_end = (old.nodes[column].tolist() for column in ("line", "end_line"))
    new_line, new_end = (new.nodes[column].tolist() for column in ("line", "end_line"))
    is_local, is_import = new.nodes["flags"] & NodeFlag.LOCAL != 0, new.nodes["kind"] == NodeKind.IMPORT
    hidden = (is_local | is_import).tolist()
    for name, at in after.items():
        if hidden[at]:
            continue
        if name not in before:
            yield _change(new, at, "added")
            continue
        was, line = before[name], new_line[at]
        by = line - old_line[was]
        hit = edit.reaches(1, line, new_end[at]) or edit.reaches(0, old_line[was], old_end[was])
        yield _change(new, at, "affected" if hit else "shifted" if by else "unchanged", by)
    for name, at in before.items():
        if name not in after and not old.nodes["flags"][at] & NodeFlag.LOCAL:
            yield _change(old, at, "deleted")


def _change(facts: FileFacts, at: int, change: str, by: int = 0) -> SymbolChange:
    node = facts.nodes[at]
    kind = NodeKind(int(node["kind"])).label
    return SymbolChange(
        path=facts.path,
        symbol=facts.chain(at),
        kind=kind,
        change=change,
        line=int(node["name_line"]) + 1,
        by=by,
    )
