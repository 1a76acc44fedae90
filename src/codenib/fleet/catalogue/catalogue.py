"""The catalogue's file in, its entries out; edits are locked and replace the file as a whole.

$CODENIB_HOME/v1/fleet/
  catalogue.json       the entries
  catalogue.lock       one editor
  mirrors/NAME.git     what was fetched
  states/NAME.json     what the last synchronization learned
  builds/NAME.json     what was compiled, and what that cost
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, StateError
from codenib.core.text.globs import path_filter
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.manifest.files import replace_file, reports_faults, with_checksum, without_checksum
from codenib.manifest.home import home
from codenib.manifest.lock import exclusive

CATALOGUE_SCHEMA = 1
_LOCK_S = 30.0


class _Schema(msgspec.Struct):
    schema: int


class _File(msgspec.Struct, kw_only=True):
    schema: int = CATALOGUE_SCHEMA
    repositories: tuple[RepositoryEntry, ...] = ()


class Catalogue:
    """The repositories of a fleet, as the file had them when it was opened."""

    def __init__(self, folder: Path, entries: Iterable[RepositoryEntry] = ()) -> None:
        self.folder = folder
        self._entries = {entry.name: entry for entry in sorted(entries, key=lambda each: each.name)}

    @classmethod
    @reports_faults
    def open(cls, folder: Path | None = None) -> Catalogue:
        """The catalogue of this home, or of `folder`; empty where nothing was added yet."""
        folder = folder or home() / "fleet"
        return cls(folder, _read(folder / "catalogue.json"))

    @staticmethod
    def file() -> Path:
        """Where the catalogue of this home is written."""
        return home() / "fleet" / "catalogue.json"

    @property
    def entries(self) -> tuple[RepositoryEntry, ...]:
        """Every repository, by name."""
        return tuple(self._entries.values())

    def entry(self, name: str) -> RepositoryEntry:
        """The repository of this name; an InputError that names the nearest when there is none."""
        if name in self._entries:
            return self._entries[name]
        near = get_close_matches(name, self._entries, 3, 0.6)
        also = f"; did you mean {' or '.join(near)}?" if near else ""
        raise InputError(f"the fleet has no repository {name[:80]!r}{also}", hint="codenib fleet list")

    def matching(
        self, globs: Sequence[str] = (), *, tenant: str | None = None
    ) -> tuple[RepositoryEntry, ...]:
        """The repositories whose names some glob matches and no `!glob` does; all without globs."""
        accepts = path_filter(globs) or (lambda name: True)
        return tuple(
            entry
            for entry in self._entries.values()
            if accepts(entry.name) and (tenant is None or entry.tenant == tenant)
        )

    def mirror_of(self, entry: RepositoryEntry) -> Path:
        """Where the repository is read: its mirror, or its own folder when it is used in place."""
        return Path(entry.source) if entry.in_place else self.folder / "mirrors" / f"{entry.name}.git"

    def state_file(self, entry: RepositoryEntry) -> Path:
        """Where what is known of the repository is written."""
        return self.folder / "states" / f"{entry.name}.json"

    @reports_faults
    def add(self, entries: Sequence[RepositoryEntry]) -> Catalogue:
        """The catalogue with these entries too. An entry replaces one of its name when it has its source."""

        def edit(known: dict[str, RepositoryEntry]) -> None:
            for entry in entries:
                before = known.get(entry.name)
                if before is not None and before.source != entry.source:
                    raise InputError(
                        f"{entry.name} is {before.source} already, not {entry.source}",
                        hint=f"codenib fleet add {entry.source} --name OTHER",
                    )
                known[entry.name] = entry

        return self._edited(edit)

    @reports_faults
    def remove(self, names: Sequence[str]) -> Catalogue:
        """The catalogue without these; mirrors of theirs are deleted, a repository in place is not touched.

        What was compiled of them stays until `codenib gc`, which drops repositories that are gone.
        """
        removed: list[RepositoryEntry] = []

        def edit(known: dict[str, RepositoryEntry]) -> None:
            removed[:] = [Catalogue(self.folder, known.values()).entry(name) for name in names]
            for entry in removed:
                known.pop(entry.name, None)

        catalogue = self._edited(edit)
        for entry in removed:
            self.state_file(entry).unlink(missing_ok=True)
            (self.folder / "builds" / f"{entry.name}.json").unlink(missing_ok=True)
            if not entry.in_place:
                shutil.rmtree(self.mirror_of(entry), ignore_errors=True)
        return catalogue

    def _edited(self, edit: Callable[[dict[str, RepositoryEntry]], None]) -> Catalogue:
        """Apply `edit` to what the file has now, under the lock, and write it."""
        with exclusive(self.folder / "catalogue.lock", timeout_s=_LOCK_S):
            file = self.folder / "catalogue.json"
            known = {entry.name: entry for entry in _read(file)}
            edit(known)
            edited = Catalogue(self.folder, known.values())
            replace_file(file, with_checksum(msgspec.json.encode(_File(repositories=edited.entries))))
        return edited


def _read(file: Path) -> tuple[RepositoryEntry, ...]:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return ()
    hint = f"rm {file}, then add the repositories again: their mirrors and views are still there"
    try:
        data = without_checksum(data)
        schema = msgspec.json.decode(data, type=_Schema).schema
        if schema != CATALOGUE_SCHEMA:
            raise StateError(
                f"{file} has schema {schema}; this codenib reads {CATALOGUE_SCHEMA}",
                hint="use the version of codenib that wrote it",
            )
        return msgspec.json.decode(data, type=_File).repositories
    except UNDECODABLE as error:
        raise StateError(f"{file} is damaged: {error}", hint=hint) from error
