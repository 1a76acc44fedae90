"""`codenib watch`: keep the views fresh while files change."""

from __future__ import annotations

import sys

import click

from codenib.adapters.cli.options import as_json, log_format
from codenib.adapters.cli.output import print_json, project
from codenib.adapters.envelopes.upkeep import audit_reply, update_reply
from codenib.adapters.logs import LogFormat, log_event, start_log
from codenib.core.updates import Outcome
from codenib.serving.snapshots.maintenance import AuditReport
from codenib.serving.snapshots.status import describe_refresh
from codenib.serving.snapshots.watch import watch_repository
from codenib.serving.workspace import Workspace


@click.command()
@click.option("--once", is_flag=True, help="Stop after the first update that a change caused.")
@log_format
@as_json
@click.pass_obj
def watch(repository: str, once: bool, log_format: LogFormat, json_output: bool) -> None:
    """Update the views whenever files change, until interrupted. Other commands may run beside it."""
    start_log(log_format, sys.stderr if json_output else sys.stdout)
    with Workspace(project(repository)) as workspace:

        def report(outcome: Outcome) -> None:
            if json_output:
                print_json(update_reply(outcome))
            else:
                log_event(describe_refresh(outcome) or "up to date", snapshot=outcome.snapshot.id)

        def audited(found: AuditReport) -> None:
            files = ", ".join(f"{group.checked:,} of {group.group}" for group in found.groups)
            verdict = "equal" if found.clean else "not all equal: the graph was made anew"
            if json_output:
                print_json(audit_reply(found))
            else:
                log_event(f"audited the graph ({files}): {verdict}")

        if not json_output:
            log_event(f"watching {workspace.root}; interrupt to stop")
        watch_repository(workspace, report, say=log_event, updates=1 if once else None, audited=audited)
