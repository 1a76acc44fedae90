"""What decides the lexical view besides the source. Cheap to import: a no-op update asks only this."""

from __future__ import annotations

from codenib.core.source import DEFAULT_SETTINGS, SourceSettings
from codenib.core.views import ArtifactProfile, ViewKind
from codenib.units.languages import units_version

SCHEMA = "3"


def lexical_profile(settings: SourceSettings = DEFAULT_SETTINGS) -> ArtifactProfile:
    fields = {"schema": SCHEMA, "units": units_version(), **settings.profile_fields}
    return ArtifactProfile(ViewKind.LEXICAL, fields)
