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
    for name, at in after.items():
        node = new.nodes[at]
        if node["flags"] & NodeFlag.LOCAL or node["kind"] == NodeKind.IMPORT:
            continue
        line, end = int(node["line"]), int(node["end_line"])
        if name not in before:
            yield _change(new, at, "added")
            continue
        was = old.nodes[before[name]]
        by = line - int(was["line"])
        hit = edit.reaches(1, line, end) or edit.reaches(0, int(was["line"]), int(was["end_line"]))
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
