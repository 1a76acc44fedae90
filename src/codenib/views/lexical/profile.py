"""What decides the lexical view besides the source. Cheap to import: a no-op update asks only this."""

from __future__ import annotations

from codenib.core.views import ArtifactProfile, ViewKind
from codenib.units.languages import units_version

SCHEMA = "3"


def lexical_profile() -> ArtifactProfile:
    return ArtifactProfile(ViewKind.LEXICAL, {"schema": SCHEMA, "units": units_version()})
