"""What decides the dense view besides the source. Cheap to import: a no-op update asks only this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from codenib.core.errors import InputError
from codenib.core.source import DEFAULT_SETTINGS, SourceSettings
from codenib.core.views import ArtifactProfile, ViewKind
from codenib.units.languages import units_version
from codenib.views.segments import FORMAT

DOCUMENTS = "2"  # how a document is spelt, and which there are by default
PARTS = "2"  # the files of a segment
DEFAULT_EMBEDDER = "static"


class DocumentSet(StrEnum):
    """What is embedded: every leaf of a file, or the paper's callables alone, or the skeletons of files."""

    LEAVES = "leaves"
    L2 = "L2"
    L0 = "L0"


class Family(StrEnum):
    """How the vectors are organised: exactly, or by one of the paper's two approximations."""

    FLAT = "flat"
    IVF = "ivf"
    HNSW = "hnsw"


@dataclass(frozen=True, slots=True)
class DenseSetting:
    """What a person chooses: `spec` names the embedder, `documents` says what is embedded.

    `source` are the settings of the snapshots that it is for.
    """

    spec: str = DEFAULT_EMBEDDER
    family: Family = Family.FLAT
    documents: DocumentSet = DocumentSet.LEAVES
    source: SourceSettings = DEFAULT_SETTINGS


def dense_profile(setting: DenseSetting, identity: str, model: str) -> ArtifactProfile:
    """The profile of vectors by the embedder with this identity digest and model name."""
    return ArtifactProfile(
        ViewKind.DENSE,
        {
            "embedder": setting.spec,
            "identity": identity,
            "model": model,
            "family": setting.family.value,
            "level": setting.documents.value,
            "documents": DOCUMENTS,
            "parts": PARTS,
            "segments": str(FORMAT),
            "units": units_version(),
            **setting.source.profile_fields,
        },
    )


def make_setting(
    fields: Mapping[str, str], *, spec: str | None, family: str | None, documents: str | None
) -> DenseSetting:
    """What is asked for; where nothing is asked, what `fields` of an earlier profile say.

    Profiles of an earlier spelling recorded a default that is no longer ours.
    """
    recorded = fields.get("level") if fields.get("documents") == DOCUMENTS else None
    try:
        return DenseSetting(
            spec or fields.get("embedder") or DEFAULT_EMBEDDER,
            Family(family or fields.get("family") or Family.FLAT),
            DocumentSet(documents or recorded or DocumentSet.LEAVES),
        )
    except ValueError as error:
        families, sets = "|".join(Family), "|".join(DocumentSet)
        hint = f"codenib index --views dense --family {families} --documents {sets}"
        raise InputError(f"unknown choice for the dense view: {error}", hint=hint) from error
