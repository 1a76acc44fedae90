"""An edit in, a group's new facts out, by an engine that knows itself which files answer differently."""

from __future__ import annotations

from codenib.core.errors import CannotMaintain
from codenib.core.protocols import DifferenceEngine
from codenib.core.updates import GroupUpdate, Rederived
from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.maintenance.group_edit import EngineWorkspace, GroupEdit, bind_lines


def follow_differences(
    engine: DifferenceEngine, edit: GroupEdit, workspace: EngineWorkspace, report: GroupUpdate
) -> list[FileFacts]:
    """The facts of all files after the edit; those that the engine finds equal stay as they were."""
    if any(facts.has_anchors for facts in edit.facts.values()):
        raise CannotMaintain("some facts have places that only their users know")
    asked = engine.requests
    settled = engine.settled
    workspace.check_out(workspace.after)
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
