"""Which manifests of a checkout begin a workspace, and which features its packages have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.navigation.rust.packages import Packages, find_packages
from codenib.navigation.rust.setup import settings

PACKAGE = '[package]\nname = "x"\n'


def write(root: Path, manifests: dict[str, str]) -> Path:
    for folder, text in manifests.items():
        (root / folder / "src").mkdir(parents=True)
        (root / folder / "src" / "lib.rs").touch()
        (root / folder / "Cargo.toml").write_text(text)
    return root


def test_members_and_what_is_named_by_path_belong_to_the_workspace_above(tmp_path: Path) -> None:
    uses = PACKAGE + '[dependencies]\nb = { path = "../../b" }\n'
    root = write(
        tmp_path, {".": '[workspace]\nmembers = ["in/*"]\nexclude = ["b"]\n', "in/a": uses, "b": PACKAGE}
    )
    assert find_packages(root).roots == ("Cargo.toml",)


def test_excluded_packages_and_inner_workspaces_are_read_by_themselves(tmp_path: Path) -> None:
    root = write(
        tmp_path, {".": '[workspace]\nexclude = ["old"]\n', "old": PACKAGE, "fuzz": PACKAGE + "[workspace]\n"}
    )
    assert find_packages(root).roots == ("Cargo.toml", "fuzz/Cargo.toml", "old/Cargo.toml")


def test_packages_without_a_workspace_above_them_stand_alone(tmp_path: Path) -> None:
    root = write(tmp_path, {"deep/er/one": PACKAGE, "two": PACKAGE})
    assert find_packages(root).roots == ("two/Cargo.toml", "deep/er/one/Cargo.toml")


def test_a_manifest_without_rust_sources_below_it_is_no_package(tmp_path: Path) -> None:
    root = write(tmp_path, {".": PACKAGE})
    (root / "sample").mkdir()
    (root / "sample" / "Cargo.toml").write_text(PACKAGE)
    assert find_packages(root).roots == ("Cargo.toml",)


def test_features_are_those_of_all_packages_with_optional_dependencies(tmp_path: Path) -> None:
    optional = (
        PACKAGE + '[features]\nnet = []\n[target."cfg(unix)".dependencies]\nmio = { optional = true }\n'
    )
    root = write(tmp_path, {".": optional + "[workspace]\n", "a": PACKAGE + "[features]\nfull = []\n"})
    assert find_packages(root).features == ("full", "mio", "net")


def test_settings_fit_into_an_argument_however_many_features_and_packages_there_are(tmp_path: Path) -> None:
    many = "".join(f"feature-{number:06}-{'x' * 20} = []\n" for number in range(9_000))
    quoted = "".join(f'"{number}{chr(233) * 30}" = []\n' for number in range(3_000))
    root = write(tmp_path, {f"p{number}": PACKAGE for number in range(50)})
    write(root, {"a": PACKAGE + "[features]\n" + many, "b": PACKAGE + "[features]\n" + quoted})
    chosen = settings(root, trusted=False)
    assert len(chosen["linkedProjects"]) == 40 and len(chosen["cargo"]["cfgs"]) > 100
    assert len(json.dumps(chosen).encode()) < 1 << 17


def test_what_is_no_manifest_is_left_to_cargo(tmp_path: Path) -> None:
    root = write(tmp_path, {".": PACKAGE, "broken": "[package", "odd": "package = 3\nfeatures = [1]\n"})
    (root / "broken" / "Cargo.toml").write_bytes(b"\xff\xfe[[")
    assert find_packages(root) == Packages(("Cargo.toml", "odd/Cargo.toml"), ())


@given(st.binary(max_size=300))
def test_any_text_is_read_without_an_error(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    root = write(tmp_path_factory.mktemp("any"), {".": PACKAGE, "any": ""})
    (root / "any" / "Cargo.toml").write_bytes(text)
    assert "Cargo.toml" in find_packages(root).roots
