"""A repository in, its choice of every registered view out, and whether what is published still fits it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from codenib.compiler.registry import VIEWS, ChoiceT, RegisteredView, TextView, ViewContext
from codenib.core.protocols import ViewChoice, ViewMaintainer
from codenib.core.source import SourceSnapshot
from codenib.core.views import RepoManifest, Status, ViewKind, ViewRecord


class RepositoryViews:
    """Every view as one repository chooses it; `builders` take the place of the registry's."""

    def __init__(self, context: ViewContext, builders: Mapping[ViewKind, ViewMaintainer]) -> None:
        self._store = context.store
        self._choices = {kind: view.choose(context) for kind, view in VIEWS.items()}
        self._given = {kind: TextView.of(builder) for kind, builder in builders.items()}

    def __getitem__(self, kind: ViewKind) -> ViewChoice:
        given: ViewChoice | None = self._given.get(kind)
        return given or self._choices[kind]

    def choice(self, view: RegisteredView[ChoiceT, Any]) -> ChoiceT:
        """The repository's choice of a view, as the type that its row names."""
        choice: ChoiceT = self._choices[view.kind]
        return choice

    def settle(self, snapshot: SourceSnapshot, kinds: Iterable[ViewKind]) -> None:
        """Look again at what decides these views beside their sources."""
        for kind in kinds:
            self[kind].settle(snapshot)

    def fresh_record(self, manifest: RepoManifest, kind: ViewKind) -> ViewRecord | None:
        """The record of a view that has today's profile and whose artifact is there and whole."""
        record = manifest.views.get(kind)
        if record is None or record.status is not Status.FRESH or not self._is_of_today(record):
            return None
        return record if self._store.is_whole(record.artifact) else None

    def has_failed(self, manifest: RepoManifest, kind: ViewKind) -> bool:
        """Whether building the view of this very snapshot failed, with today's profile."""
        record = manifest.views.get(kind)
        return record is not None and record.status is Status.FAILED and self._is_of_today(record)

    def _is_of_today(self, record: ViewRecord) -> bool:
        return record.profile == self[record.kind].profile().digest
