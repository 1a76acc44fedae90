"""The commands `export` and `import`: a snapshot's views as one file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from codenib.adapters.cli.options import as_json, at_revision, shared, views_option
from codenib.adapters.cli.output import opened, print_json, say
from codenib.adapters.envelopes.envelope import whole
from codenib.adapters.envelopes.fleet import BundleItem
from codenib.core.errors import InputError, StateError
from codenib.core.views import Status, ViewKind
from codenib.fleet.store.bundle import Bundled, export_bundle, import_bundle
from codenib.serving.choices import parse_views
from codenib.serving.configuration import default_views


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@shared(views_option, at_revision)
@as_json
@click.pass_obj
def export(repository: str, file: Path, views: str | None, at: str | None, json_output: bool) -> None:
    """Write the views of a snapshot to FILE, built where they are not there yet."""
    started = time.perf_counter()
    if not file.absolute().parent.is_dir():
        raise InputError(f"{file.parent} is not a folder", hint="codenib export views.codenib")
    with opened(repository, quiet=json_output) as (workspace, progress):
        wanted = parse_views(views) if views else default_views(workspace.root)
        manifest = workspace.index(wanted, at=at).manifest
        progress.close()
        fresh = [kind for kind in wanted if manifest.views[kind].status is Status.FRESH]
        failed = [kind for kind in wanted if kind not in fresh]
        if (views and failed) or not fresh:
            raise StateError(f"not built: {', '.join(failed)}", hint=f"codenib index --views {failed[0]}")
        bundled = export_bundle(workspace.root, manifest.snapshot, fresh, file)
    if json_output:
        _print(file, bundled, started, failed)
        return
    _report(f"wrote {file}", bundled)
    for kind in failed:
        say(f"without the {kind} view, which failed: codenib index --views {kind}")


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@shared(views_option)
@as_json
@click.pass_obj
def import_(repository: str, file: Path, views: str | None, json_output: bool) -> None:
    """Take the views of a snapshot from FILE, which `codenib export` wrote in a clone of this repository.

    Everything is compared with its digests first. A file that is damaged, of another repository or of
    another version is refused, and changes nothing.
    """
    started = time.perf_counter()
    with opened(repository, quiet=json_output) as (workspace, progress):
        progress.close()
        bundled = import_bundle(workspace.root, file, parse_views(views) if views else None)
    if json_output:
        _print(file, bundled, started)
        return
    _report(f"imported {file}", bundled)


def _print(file: Path, bundled: Bundled, started: float, failed: Sequence[ViewKind] = ()) -> None:
    item = BundleItem(
        file=str(file),
        commit=bundled.commit,
        views=bundled.views,
        failed=tuple(failed),
        size_bytes=bundled.size_bytes,
        file_bytes=bundled.file_bytes,
    )
    print_json(whole((item,), "store", time.perf_counter() - started))


def _report(what: str, bundled: Bundled) -> None:
    at = bundled.commit[:12] if bundled.commit else "a folder"
    size, file = bundled.size_bytes / 1e6, bundled.file_bytes / 1e6
    click.echo(f"{what}: {', '.join(bundled.views)} of {at}, {size:,.1f} MB in {file:,.1f} MB")
