from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

from codenib.system.distributions import installed_version
from codenib.units.languages import units_version


def test_every_installed_distribution_has_the_version_that_metadata_says() -> None:
    names = {each.metadata["Name"] for each in metadata.distributions()}
    assert {"tree-sitter", "numpy"} <= names
    assert {name: installed_version(name) for name in names} == {
        name: metadata.version(name) for name in names
    }


def test_what_has_no_folder_of_its_own_is_looked_up(tmp_path: Path) -> None:
    (tmp_path / "legacy_tool.egg-info").write_text("Metadata-Version: 1.0\nName: legacy-tool\nVersion: 7.1\n")
    code = (
        "from codenib.system.distributions import installed_version; print(installed_version('Legacy.Tool'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "7.1\n"


def test_versions_of_the_grammars_need_no_metadata() -> None:
    code = (
        "import sys, codenib.units.languages as languages\n"
        "languages.units_version(); print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert f"tree-sitter={metadata.version('tree-sitter')} " in units_version()
