"""Tokens on disk: what is damaged admits nobody, and what an earlier version wrote still counts."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.core.errors import StateError


def test_a_damaged_file_is_an_error_whichever_byte_it_is(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    _, text = AccessTokens(file).create("ci", ["/srv/a"])
    whole = file.read_bytes()
    for at in range(len(whole)):
        for bit in range(8):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << bit)]) + whole[at + 1 :])
            with pytest.raises(StateError, match="is damaged"):
                AccessTokens(file).find(text)


def test_a_file_of_an_earlier_version_is_read_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    tokens = AccessTokens(file)
    row, text = tokens.create("ci", ["/srv/a"])
    file.write_bytes(msgspec.json.encode([row]))
    assert AccessTokens(file).find(text) == row
