"""The store of the tests of the manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.manifest.store import Store


@pytest.fixture
def store(own_home: Path) -> Store:
    return Store("key")
