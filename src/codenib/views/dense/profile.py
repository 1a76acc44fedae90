"""What decides the dense view besides the source. Cheap to import: a no-op update asks only this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from codenib.core.errors import InputError
from codenib.core.source import Level
from codenib.core.views import ArtifactProfile, ViewKind
from codenib.units.languages import units_version
from codenib.views.segments import FORMAT

DOCUMENTS = "1"  # how a document is spelt
PARTS = "1"  # the files of a segment
DEFAULT_EMBEDDER = "static"
LEVELS = (Level.L2, Level.L0)


class Family(StrEnum):
    """How the vectors are organised: exactly, or by one of the paper's two approximations."""

    FLAT = "flat"
    IVF = "ivf"
    HNSW = "hnsw"


@dataclass(frozen=True, slots=True)
class DenseSetting:
    """What a person chooses: `spec` names the embedder, `level` says what a document is."""

    spec: str = DEFAULT_EMBEDDER
    family: Family = Family.FLAT
    level: Level = Level.L2


def dense_profile(setting: DenseSetting, identity: str, model: str) -> ArtifactProfile:
    """The profile of vectors by the embedder with this identity digest and model name."""
    return ArtifactProfile(
        ViewKind.DENSE,
        {
            "embedder": setting.spec,
            "identity": identity,
            "model": model,
            "family": setting.family.value,
            "level": setting.level.name,
            "documents": DOCUMENTS,
            "parts": PARTS,
            "segments": str(FORMAT),
            "units": units_version(),
        },
    )


def make_setting(
    fields: Mapping[str, str], *, spec: str | None, family: str | None, level: str | None
) -> DenseSetting:
    """What is asked for; where nothing is asked, what `fields` of an earlier profile say."""
    try:
        return DenseSetting(
            spec or fields.get("embedder") or DEFAULT_EMBEDDER,
            Family(family or fields.get("family") or Family.FLAT),
            Level[level or fields.get("level") or Level.L2.name],
        )
    except (ValueError, KeyError) as error:
        families, levels = "|".join(Family), "|".join(level.name for level in LEVELS)
        hint = f"codenib index --views dense --family {families} --documents {levels}"
        raise InputError(f"unknown choice for the dense view: {error}", hint=hint) from error
