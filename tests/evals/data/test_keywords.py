from __future__ import annotations

from codenib.evals.data.keywords import keywords


def test_identifiers_come_before_plain_words() -> None:
    found = keywords("The parser crashes: parse_config and ConfigLoader.open fail when parser runs")
    assert found[:2] == ["parse_config", "open"]
    assert "parser" in found
