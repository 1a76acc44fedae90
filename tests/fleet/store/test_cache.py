"""The cache stays within its bytes, and several processes may fill and empty one at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.fleet.store.conftest import Indexed

from codenib.fleet.store.cache import LocalCache
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.publish import push
from codenib.fleet.store.reader import FleetReader

_READER = """
import sys
from pathlib import Path
from codenib.fleet.store.cache import LocalCache
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.reader import FleetReader
reader = FleetReader(ObjectStore.open(sys.argv[1]), LocalCache(Path(sys.argv[2]), int(sys.argv[3])))
for number in range(5):
    with reader.open("org/app") as workspace:
        assert len(workspace.regex("Session")) == 3
        assert workspace.search("session").total
    reader.cache.shrink(0)  # takes what the other does not use at this moment
"""


def test_processes_fill_and_empty_one_cache(indexed: Indexed, tmp_path: Path) -> None:
    objects = ObjectStore.open((tmp_path / "store").as_uri())
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    command = [sys.executable, "-c", _READER, objects.url, str(tmp_path / "cache"), "1"]
    readers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [reader.communicate()[1] for reader in readers]
    assert [reader.returncode for reader in readers] == [0, 0], errors


def test_what_was_not_used_for_long_goes_first(indexed: Indexed, tmp_path: Path) -> None:
    objects = ObjectStore.open((tmp_path / "store").as_uri())
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"])
    cache = LocalCache(tmp_path / "cache", 1 << 30)
    with FleetReader(objects, cache).open("org/app") as workspace:
        workspace.regex("Session")
        workspace.search("session")
    artifacts = {path.name.split("-")[0]: path for path in cache.root.glob("repos/*/artifacts/*-*")}
    assert {"lexical", "trigram"} <= artifacts.keys()
    for age, path in enumerate(sorted(artifacts.values(), reverse=True)):
        os.utime(path, (1000 - age, 1000 - age))
    before = cache.usage_bytes()
    cache.shrink(before // 2)
    assert 0 < cache.usage_bytes() <= before // 2
    left = sorted(name for name, path in artifacts.items() if path.exists())
    assert left == sorted(artifacts)[len(artifacts) - len(left) :]  # the names that come last are younger
    cache.shrink(0)
    assert (cache.usage_bytes(), list(cache.root.glob("v1/objects/*/*"))) == (0, [])
