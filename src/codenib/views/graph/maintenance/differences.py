"""An edit in, a group's new facts out, by an engine that knows itself which files answer differently."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from codenib.core.errors import CannotMaintain
from codenib.core.protocols import DifferenceEngine, EarlyEngine
from codenib.core.updates import GroupUpdate, Rederived
from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.maintenance.group_edit import EngineWorkspace, GroupEdit, bind_lines

#: Takes the facts of all files of a group, and which of them are still of before the edit.
Early = Callable[[Sequence[FileFacts], Collection[str]], None]


def follow_differences(
    engine: DifferenceEngine,
    edit: GroupEdit,
    workspace: EngineWorkspace,
    report: GroupUpdate,
    early: Early | None = None,
) -> list[FileFacts]:
    """The facts of all files after the edit; those that the engine finds equal stay as they were.

    `early` gets what an engine can tell before that: the facts of the edited files beside the others' old.
    """
    if any(facts.has_anchors for facts in edit.facts.values()):
        raise CannotMaintain("some facts have places that only their users know")
    asked = engine.requests
    settled = engine.settled
    workspace.check_out(workspace.after)
    if early is not None and isinstance(engine, EarlyEngine):
        with suppress(CannotMaintain):
            some, behind = engine.early()
            if some:
                others, now = bind_lines(edit, workspace, some)
                both = [*others.values(), *map(canonical, now)]
                early(sorted(both, key=lambda facts: facts.path), behind)
    lines, _ = engine.differing(edit.paths_after, anew=not settled)
    unchanged, bound = bind_lines(edit, workspace, lines)
    new = {**unchanged, **{facts.path: canonical(facts) for facts in bound}}
    reasons = edit.files.reasons
    for path, facts in new.items():
        old = edit.facts.get(path)
        if old is facts:
            continue
        if old is not None and old.plain() == facts.plain():
            new[path] = old
        else:
            reasons.setdefault(path, "answers differently")
    report.requests = engine.requests - asked
    report.rederived = [Rederived(path, reason) for path, reason in sorted(reasons.items())]
    report.resolved = sum(len(new[path].occurrences) for path in reasons)
    return [new[path] for path in sorted(new)]
