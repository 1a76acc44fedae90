"""What npm did not write whole is noticed."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from codenib.navigation.tools.unpacked import first_broken

_FILES = {"package.json": b"{}", "lib/cli.mjs": b"export {};" * 100}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package that npm installed, and its archive in npm's cache."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as stream:
        for name, data in _FILES.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            stream.addfile(member, io.BytesIO(data))
            file = tmp_path / "tool" / "node_modules" / "server" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    digest = hashlib.sha512(archive.getvalue())
    name = digest.hexdigest()
    cached = tmp_path / "cache" / "_cacache" / "content-v2" / "sha512" / name[:2] / name[2:4] / name[4:]
    cached.parent.mkdir(parents=True)
    cached.write_bytes(archive.getvalue())
    integrity = f"sha512-{base64.b64encode(digest.digest()).decode()}"
    lock = {"packages": {"": {}, "node_modules/server": {"integrity": integrity}}}
    (tmp_path / "tool" / "package-lock.json").write_text(json.dumps(lock))
    return tmp_path / "tool"


def test_a_whole_package_has_no_broken_file(folder: Path, tmp_path: Path) -> None:
    assert first_broken(folder, tmp_path / "cache") == ""


@pytest.mark.parametrize("name", _FILES)
def test_a_file_that_was_cut_off_or_is_missing_is_named(folder: Path, tmp_path: Path, name: str) -> None:
    file = folder / "node_modules" / "server" / name
    file.write_bytes(_FILES[name][:1])
    assert first_broken(folder, tmp_path / "cache") == f"node_modules/server/{name}"
    file.unlink()
    assert first_broken(folder, tmp_path / "cache") == f"node_modules/server/{name}"


def test_an_unreadable_list_of_packages_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "package-lock.json").write_bytes(b"{")
    assert first_broken(folder, tmp_path / "cache") == "package-lock.json"
