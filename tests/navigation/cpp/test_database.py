"""The database of a checkout: nothing of the repository runs to get one unless it is trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.core.errors import ProviderError
from codenib.navigation.cpp.database import prepare_database


def test_no_build_code_runs_without_trust(tmp_path: Path) -> None:
    (tmp_path / "a.c").touch()
    (tmp_path / "CMakeLists.txt").write_text(f"file(WRITE {tmp_path}/ran yes)\n")
    with pytest.raises(ProviderError) as caught:
        prepare_database(tmp_path, tmp_path / "out", trusted=False)
    assert "--trust" in caught.value.hint
    assert not (tmp_path / "ran").exists()
