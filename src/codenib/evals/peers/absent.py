"""Peers that are named in every report and run only where somebody wired them up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.evals.peers.peer import PeerAnswer, Spent


@dataclass(frozen=True, slots=True)
class Absent:
    """A tool without an adapter here, with the reason."""

    name: str
    why: str

    def missing(self) -> str:
        return self.why

    def version(self) -> str:
        return ""

    def build(self, checkout: Path, state: Path) -> Spent:
        raise ProviderError(f"{self.name}: {self.why}")

    def update(self, checkout: Path, state: Path) -> Spent:
        raise ProviderError(f"{self.name}: {self.why}")

    def ask(self, checkout: Path, state: Path, query: str, k: int) -> PeerAnswer:
        raise ProviderError(f"{self.name}: {self.why}")
