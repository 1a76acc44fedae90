"""Which dense view a repository has: what is asked, recorded and configured in, its builder out.

What `index` asks for comes first, then what the worktree's last manifest records, then the environment and
the user's file, then the embedded model. No embedder is opened to find out whether the view is current: its
recorded identity is today's until the embedder is opened and says otherwise. Cheap to import.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.config.resolve import user_choice
from codenib.core.embedding import Embedder, OpenEmbedder
from codenib.core.errors import StateError
from codenib.core.protocols import Progress
from codenib.core.source import DEFAULT_SETTINGS, SourceSnapshot
from codenib.core.views import ArtifactProfile, RepoManifest, ViewKind
from codenib.manifest.embeddings import EmbeddingCache
from codenib.manifest.store import Store
from codenib.views.dense.profile import DenseSetting, dense_profile, make_setting

if TYPE_CHECKING:  # numpy and more, which a no-op never needs
    from codenib.compiler.bases import Base
    from codenib.views.dense.view import DenseViewBuilder

# Documents a second of the embedded model on one busy core, all that belongs to it included (Django, 59,423).
_RATE = 5_000.0


def open_named(spec: str) -> Embedder:
    """The embedder of a spec, by the rules of the product."""
    if spec == "static":  # the common one, without the libraries of the others
        from codenib.views.dense.embedders.static import open_static

        return open_static()
    from codenib.views.dense.embedders.choose import open_embedder

    return open_embedder(spec)


class DenseChoice:
    """The dense view of one worktree, and the embedders that it opened; each is opened once."""

    def __init__(
        self, store: Store, worktree: str, progress: Progress, open_embedder: OpenEmbedder = open_named
    ) -> None:
        self._store = store
        self._worktree = worktree
        self._progress = progress
        self._open = open_embedder
        self._asked: tuple[str | None, str | None, str | None] = (None, None, None)
        self._source = DEFAULT_SETTINGS
        self._setting: DenseSetting | None = None
        self._recorded: Mapping[str, str] = {}
        self._builder: DenseViewBuilder | None = None
        self._embedders: dict[str, Embedder] = {}
        self._vectors: EmbeddingCache | None = None

    @contextmanager
    def asked(
        self, spec: str | None = None, family: str | None = None, documents: str | None = None
    ) -> Iterator[None]:
        """Choose for a while, and open the embedder: a wrong choice fails before any work."""
        self._asked = (spec or user_choice("embedder") or None, family, documents)
        try:
            self._settled()
            self.open_now()
            yield
        finally:
            self._asked = (None, None, None)

    def open_now(self) -> None:
        """Open the embedder of the view, where that was not done yet."""
        self.open(self.spec)

    @property
    def is_instant(self) -> bool:
        """Whether the embedded model makes the vectors: the only one that may work without being asked."""
        return self.spec == "static"

    @property
    def spec(self) -> str:
        """The embedder that the view built now would have."""
        return (self._setting or self._settled()).spec

    def settle(self, snapshot: SourceSnapshot) -> None:
        """Look again at what is asked and recorded; a builder of another setting is dropped."""
        self._source = snapshot.settings
        self._settled()

    def _settled(self) -> DenseSetting:
        spec, family, documents = self._asked
        self._recorded = self._of_head()
        if not self._recorded:
            spec = spec or user_choice("embedder") or None
        setting = make_setting(self._recorded, spec=spec, family=family, documents=documents)
        setting = replace(setting, source=self._source)
        if setting != self._setting:
            self._setting, self._builder = setting, None
        return setting

    def profile(self) -> ArtifactProfile:
        """The profile that the view built now would have, without opening an embedder for it."""
        setting = self._setting or self._settled()
        if setting.spec in self._embedders:
            return self.builder().profile()
        same = self._recorded.get("embedder") == setting.spec
        identity, model = (self._recorded.get(name, "") if same else "" for name in ("identity", "model"))
        return dense_profile(setting, identity, model)

    def builder(self) -> DenseViewBuilder:
        """The builder of the view; its embedder is opened when it is first needed."""
        if self._builder is None:
            from codenib.views.dense.view import DenseViewBuilder

            setting = self._setting or self._settled()
            self._builder = DenseViewBuilder(setting, self.open, self._cache, self._progress)
        return self._builder

    def open(self, spec: str) -> Embedder:
        """The embedder of a spec."""
        if spec not in self._embedders:
            self._embedders[spec] = self._open(spec)
        return self._embedders[spec]

    def embedder_of(self, fields: Mapping[str, str]) -> Embedder:
        """The embedder for questions to a view with these profile fields; another one is refused."""
        spec = fields.get("embedder", "")
        embedder = self.open(spec)
        if embedder.identity.digest != fields.get("identity"):
            raise StateError(
                f"the dense view was made by {fields.get('model')} ({fields.get('identity')}); "
                f"{spec!r} is now {embedder.identity.model} ({embedder.identity.digest})",
                hint="codenib index --views dense",
            )
        return embedder

    @contextmanager
    def rebuilder(self, published: Path, scratch: Path) -> Iterator[DenseViewBuilder]:
        """The builder, which for a while trusts no stored vector of the embedded model.

        Other models keep theirs: a transformer's rows differ in the last bits from one batch to the next, so
        embedding them again would prove nothing.
        """
        if (self._setting or self._settled()).spec != "static":
            yield self.builder()
            return
        stored, self._vectors = self._vectors, EmbeddingCache(scratch / "embeddings.sqlite")
        try:
            yield self.builder()
        finally:
            self.close()
            self._vectors = stored

    def close(self) -> None:
        """Let go of the embedding cache."""
        if self._vectors is not None:
            self._vectors.close()
            self._vectors = None

    def _cache(self) -> EmbeddingCache:
        if self._vectors is None:
            self._vectors = self._store.open_embeddings()
        return self._vectors

    def _of_head(self) -> Mapping[str, str]:
        """The profile fields that the worktree's last manifest records of its dense view."""
        head = self._store.head(self._worktree)
        with suppress(StateError):  # an unreadable manifest records nothing
            manifest = self._store.manifest(head) if head else None
            record = manifest.views.get(ViewKind.DENSE) if manifest else None
            return record.fields if record else {}
        return {}


def estimate_embedding(base: Base | None, published: RepoManifest | None) -> float:
    """About how many seconds the embedded model needs from `base`, or for the units that are published."""
    if base is not None:
        counts = base.record.counts
        each = counts.get("documents", 0) / max(counts.get("files", 0), 1)
        return (len(base.delta.added) + len(base.delta.changed)) * max(each, 1.0) / _RATE
    lexical = published.views.get(ViewKind.LEXICAL) if published else None
    return lexical.counts.get("units", 0) / _RATE if lexical else math.inf
