"""What decides these views besides the source. Cheap to import: a no-op update asks only this."""

from __future__ import annotations

from codenib.core.source import DEFAULT_SETTINGS, SourceSettings
from codenib.core.views import ArtifactProfile, ViewKind
from codenib.units.languages import units_version
from codenib.views.segments import FORMAT

TRIGRAMS = "1"  # folding and packing of a blob's trigrams
PARTS = "1"  # the files of a segment
ZOEKT = "v0.0.0-20260807124253-c4d8f3537f7a"


def trigram_profile(settings: SourceSettings = DEFAULT_SETTINGS) -> ArtifactProfile:
    # The units' version and the languages are here because they decide which blobs are skipped.
    fields = {"segments": str(FORMAT), "parts": PARTS, "trigrams": TRIGRAMS, "units": units_version()}
    return ArtifactProfile(ViewKind.TRIGRAM, {**fields, **settings.language_fields})


def zoekt_profile(settings: SourceSettings = DEFAULT_SETTINGS) -> ArtifactProfile:
    fields = {"parts": PARTS, "zoekt": ZOEKT, "units": units_version()}
    return ArtifactProfile(ViewKind.ZOEKT, {**fields, **settings.language_fields})
