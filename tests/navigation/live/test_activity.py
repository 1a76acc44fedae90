"""When a server counts as ready."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from codenib.navigation.live.activity import ServerActivity
from codenib.navigation.live.servers import GO


@pytest.mark.parametrize(
    ("title", "ready"), [("Setting up workspace", False), ("Error loading workspace", True)]
)
def test_an_error_that_stays_is_no_work_to_wait_for(tmp_path: Path, title: str, ready: bool) -> None:
    activity = ServerActivity(tmp_path, GO, {})
    begun = {"token": 1, "value": {"kind": "begin", "title": title}}
    activity.notified("$/progress", msgspec.Raw(msgspec.json.encode(begun)))
    assert activity.wait_ready(0.0, grace=False) is ready
