"""Index files that we cannot read are refused."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from codenib.core.errors import ProviderError
from codenib.navigation.cpp.clangd.shards import read_shard


def test_a_shard_of_another_version_is_refused(tmp_path: Path) -> None:
    body = b"CdIx" + b"meta" + struct.pack("<II", 4, 7)
    (tmp_path / "a.idx").write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    with pytest.raises(ProviderError, match="format 7"):
        read_shard(tmp_path / "a.idx")
