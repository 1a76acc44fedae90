"""The optional zoekt view for the compiler: a snapshot's text in, zoekt's shards out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from codenib.core.errors import CannotMaintain
from codenib.core.protocols import Records
from codenib.core.source import DEFAULT_SETTINGS, Delta, SourceSettings, SourceSnapshot
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind
from codenib.views.trigram.profile import zoekt_profile
from codenib.views.trigram.zoekt import ZoektView


class ZoektViewBuilder:
    """Builds what `regex --backend zoekt` reads; fails, alone, where zoekt is not installed."""

    kind = ViewKind.ZOEKT

    def __init__(self, settings: SourceSettings = DEFAULT_SETTINGS) -> None:
        self._settings = settings

    def profile(self) -> ArtifactProfile:
        return zoekt_profile(self._settings)

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        files = snapshot.source_files()
        texts = zip((file.path for file in files), records.blobs(files), strict=True)
        ZoektView.build(((path, data) for path, data in texts if data), out)
        sizes = ZoektView.open(out).sizes()
        return ViewFacts({"files": len(sizes), "bytes": sum(sizes)}, ("regex:zoekt",))

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        raise CannotMaintain("zoekt's shards are rebuilt, not maintained")

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Compare the text that the shards were made of, in path order."""
        ours, theirs = ZoektView.open(left).contents(), ZoektView.open(right).contents()
        for path in sorted(ours.keys() | theirs.keys()):
            if ours.get(path) != theirs.get(path):
                yield f"{path}: content not equal"
