"""Many repositories: their catalogue, their artifacts in an object store, compilation, search across them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codenib.fleet.search.fleet import Fleet

__all__ = ["Fleet"]


def __getattr__(name: str) -> Any:
    """`Fleet` brings numpy, which the commands of the catalogue do not need."""
    if name == "Fleet":
        from codenib.fleet.search.fleet import Fleet

        return Fleet
    raise AttributeError(f"module 'codenib.fleet' has no attribute {name!r}")
