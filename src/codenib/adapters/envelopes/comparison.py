"""A comparison of the graph with live servers in, its JSON out; apart, as it brings all that asks servers."""

from __future__ import annotations

from collections.abc import Mapping

from codenib.adapters.envelopes.envelope import Envelope, freshness_of, rounded, snapshot_id
from codenib.serving.navigation.compare import Mismatch, NavigationComparison, Rates


class ComparisonReply(Envelope[Mismatch], kw_only=True, frozen=True):
    """`compare-navigation`: the positions where the graph and the servers differ."""

    positions: int
    groups: Mapping[str, int]
    backends: Mapping[str, str]
    servers: Mapping[str, str]
    definitions: Rates
    references: Rates
    categories: Mapping[str, int]
    warm_up_s: float


def comparison_reply(compared: NavigationComparison, seconds: float) -> ComparisonReply:
    return ComparisonReply(
        items=compared.mismatches,
        total=len(compared.mismatches),
        truncated=False,
        snapshot=snapshot_id(compared.snapshot),
        freshness=freshness_of(compared.snapshot),
        provider="static, live",
        seconds=rounded(seconds),
        positions=compared.positions,
        groups=compared.groups,
        backends=compared.backends,
        servers=compared.servers,
        definitions=compared.definitions,
        references=compared.references,
        categories=compared.categories,
        warm_up_s=compared.warm_up_s,
    )
