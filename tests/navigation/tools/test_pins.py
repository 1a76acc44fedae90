"""The digests of what `tools install` brings are complete, and name no registry."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from codenib.navigation.tools import recipes as module
from codenib.navigation.tools.fetch import LOCK
from codenib.navigation.tools.maven import PIN, pinned
from codenib.navigation.tools.recipes import (
    CargoBuild,
    GoBuild,
    GoInstall,
    JavaBuild,
    Npm,
    Pip,
    Recipe,
    RustupComponent,
    recipes,
)

PINS = Path(module.__file__).parent / "pins"


def folder_of(recipe: Recipe) -> Path | None:
    """Where the pins of a tool are; every kind of source that downloads something has a place here."""
    match recipe.source:
        case Pip(requirements):
            return requirements
        case Npm(lock):
            return lock
        case GoInstall(_, folder) | GoBuild(folder) | CargoBuild(folder) | JavaBuild(folder):
            return folder
    return None


def of_kind(*kinds: type) -> list[Recipe]:
    found = [recipe for recipe in recipes() if isinstance(recipe.source, kinds)]
    assert found
    return found


@pytest.mark.parametrize("recipe", of_kind(Pip), ids=lambda recipe: recipe.name)
def test_wheels_are_pinned_for_every_platform(recipe: Recipe) -> None:
    requirements = folder_of(recipe)
    assert requirements
    words = requirements.read_text().replace("\\\n", " ").split()
    assert words[0].endswith(f"=={recipe.version}")
    digests = words[1:]
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", word) for word in digests)
    # One wheel for all platforms beside the sdist, or one for each of macOS, Linux and Windows.
    assert len(set(digests)) == len(digests) >= 2


@pytest.mark.parametrize("recipe", of_kind(Npm), ids=lambda recipe: recipe.name)
def test_every_npm_package_of_a_lock_has_its_digest_and_no_address(recipe: Recipe) -> None:
    lock = folder_of(recipe)
    assert lock
    wanted = json.loads((lock / "package.json").read_text())["dependencies"]
    packages = json.loads((lock / "package-lock.json").read_text())["packages"]
    assert (
        wanted
        == packages.pop("")["dependencies"]
        == {recipe.package.removeprefix("node_modules/"): recipe.version}
    )
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
    assert not [name for name, entry in packages.items() if "resolved" in entry]


@pytest.mark.parametrize("recipe", of_kind(GoInstall, GoBuild), ids=lambda recipe: recipe.name)
def test_every_required_go_module_has_its_digest(recipe: Recipe) -> None:
    folder = folder_of(recipe)
    assert folder
    modules = re.findall(r"^(?:require |\t)(\S+ v\S+)", (folder / "go.mod").read_text(), re.MULTILINE)
    sums = (folder / "go.sum").read_text()
    assert modules
    assert not [module for module in modules if f"{module} h1:" not in sums]
    if isinstance(recipe.source, GoInstall):
        assert f"{recipe.source.package} v{recipe.version}" in modules


@pytest.mark.parametrize("recipe", of_kind(CargoBuild), ids=lambda recipe: recipe.name)
def test_every_crate_has_its_digest(recipe: Recipe) -> None:
    folder = folder_of(recipe)
    assert folder
    locked = tomllib.loads((folder / LOCK).read_text())["package"]
    manifest = tomllib.loads((folder / "Cargo.toml").read_text())
    assert [crate["name"] for crate in locked if "checksum" not in crate] == [manifest["package"]["name"]]
    assert all(re.fullmatch("[0-9a-f]{64}", crate["checksum"]) for crate in locked if "checksum" in crate)
    assert "://" not in (folder / LOCK).read_text()
    wanted = {row.get("package", name) if isinstance(row, dict) else name
              for name, row in manifest["dependencies"].items()}  # fmt: skip
    assert wanted <= {crate["name"] for crate in locked}


@pytest.mark.parametrize("recipe", of_kind(JavaBuild), ids=lambda recipe: recipe.name)
def test_the_library_of_a_java_program_has_its_digest_and_no_address(recipe: Recipe) -> None:
    folder = folder_of(recipe)
    assert folder
    assert pinned(folder)[:2] == ("org.eclipse.jdt", "ecj")
    assert "://" not in (folder / PIN).read_text()


def test_every_tool_that_is_downloaded_is_pinned() -> None:
    # rustup compares what it downloads with the list that came with the toolchain.
    assert {recipe.name for recipe in recipes() if folder_of(recipe) is None} == {"rust-analyzer"}
    assert {type(recipe.source) for recipe in recipes()} == {
        Pip,
        Npm,
        GoInstall,
        GoBuild,
        CargoBuild,
        JavaBuild,
        RustupComponent,
    }


def test_pins_name_no_registry() -> None:
    for path in PINS.rglob("*"):
        assert path.is_dir() or "://" not in path.read_text(), path


def test_no_pin_is_left_over() -> None:
    used = {place for recipe in recipes() if (place := folder_of(recipe)) and place.parent == PINS}
    assert used == set(PINS.iterdir())
