"""Which JSON is a reason to load TypeScript's projects anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.navigation.typescript.config import configures

PACKAGE = b'{"name": "shop", "version": "1.0.0", "dependencies": {"far": "^1"}, "files": ["a"]}'


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (PACKAGE.replace(b"1.0.0", b"1.0.1").replace(b"^1", b"^2"), ""),
        (PACKAGE.replace(b'["a"]', b'["a", "b"]'), ""),
        (PACKAGE.replace(b'"1.0.0"', b"1"), "package.json may be read by build.mjs"),
        (PACKAGE.replace(b'"far"', b'"near"'), "package.json may be read by build.mjs"),
        (PACKAGE.replace(b"shop", b"store"), "package.json says otherwise where the package's modules are"),
        (b"{", "package.json says otherwise where the package's modules are"),
        (None, "package.json says otherwise where the package's modules are"),
    ],
)
def test_a_package_that_a_source_imports_counts_by_its_types(
    tmp_path: Path, after: bytes | None, reason: str
) -> None:
    (tmp_path / "build.mjs").write_text("import pkg from './package.json';\nexport const v = pkg.version;\n")
    assert configures(tmp_path, "package.json", PACKAGE, after) == reason


def test_json_that_a_configuration_names_counts_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_text('{"extends": "./strict.json"}')
    why = configures(tmp_path, "strict.json", b'{"target": "es5"}', b'{"target": "es6"}')
    assert why == "strict.json may be read by tsconfig.json"
    assert configures(tmp_path, "data.json", b'{"target": "es5"}', b'{"target": 1}') == ""
