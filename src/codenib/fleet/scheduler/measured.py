"""The audit log and the store of this home in, the trace of what was asked here out."""

from __future__ import annotations

from pathlib import Path

from codenib.core.errors import CodenibError
from codenib.fleet.scheduler.trace import RepositoryCost, Trace, trace_of
from codenib.fleet.scheduler.uses import read_uses
from codenib.fleet.tenants.audit import read_audit
from codenib.manifest.store import Store
from codenib.snapshot.repository import locate


def recorded_trace() -> Trace:
    """What clients of this home's servers asked, with measured costs, of repositories that still exist."""
    rows = list(read_audit())
    names = {row.repository for row in rows if row.tool}
    opened = {
        name: RepositoryCost(use.size_bytes, use.reopen_s)
        for name, use in read_uses().items()
        if name in names and use.size_bytes
    }
    sizes = {name: _artifact_bytes(Path(name)) for name in names - set(opened)}
    return trace_of(rows, {name: size for name, size in sizes.items() if size}, opened)


def _artifact_bytes(root: Path) -> float:
    """Bytes of the views that a worktree's last snapshot has; 0 where there is none."""
    try:
        repository = locate(root)
        store = Store(repository.key)
        head = store.head(repository.worktree_key)
        manifest = store.manifest(head) if head else None
    except (CodenibError, OSError):
        return 0.0
    return float(sum(record.size_bytes for record in manifest.views.values())) if manifest else 0.0
