"""Rust files follow edits: with the real engine, maintained facts equal those of an independent rebuild."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gitrepo import GitRepo
from tests.navigation.following import (
    GRAPH,
    assert_as_rebuilt,
    check_script,
    edit,
    first_versions,
    indexed,
    need,
    put,
    updated_group,
)
from tests.navigation.rust.rust_project import MACROS

from codenib.core.updates import FOLLOWED, REBUILT
from codenib.serving.workspace import Workspace

pytestmark = pytest.mark.tools
#: Versions of each file; None: it is not there.
VERSIONS: dict[str, list[str | None]] = {
    "Cargo.toml": [
        '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
        '[package]\nname = "shop"\nversion = "0.2.0"\nedition = "2021"\n\n[features]\nextra = []\n',
    ],
    "src/lib.rs": [
        "pub mod item;\npub mod price;\npub use item::Item;\n",
        "pub mod price;\npub mod item;\nmod hidden;\npub use item::*;\n\n"
        "#[macro_export]\nmacro_rules! twice {\n    ($e:expr) => { $e + $e };\n}\n",
    ],
    "src/item.rs": [
        """
        use crate::price::{Cost, Price};

        pub struct Item { pub price: Price }

        impl Item {
            pub fn new(price: Price) -> Self { Self { price } }
            pub fn total(&self) -> u32 { self.price.cost() }
        }
        """,
        """
        use crate::price::{Cost, Price};

        /// Holds a [`Price`].
        pub struct Item { pub count: u32, pub price: Price }

        impl Item {
            pub fn new(price: Price) -> Item { Item { count: 1, price } }
            pub fn total(&self) -> u32 { let Item { count, price } = self; price.cost() * count }
        }

        impl Cost for Item {
            type Unit = Price;
            fn cost(&self) -> u32 { self.total() }
        }
        """,
        "use crate::price::Price;\n\npub struct Item { pub price: Price\n",
    ],
    "src/price.rs": [
        """
        pub trait Cost {
            type Unit;
            fn cost(&self) -> u32;
        }

        pub struct Price(pub u32);

        impl Cost for Price {
            type Unit = u32;
            fn cost(&self) -> u32 { self.0 }
        }
        """,
        """
        // moved down

        pub struct Price(pub u32);
        pub type Money = Price;

        pub trait Cost {
            type Unit;
            fn cost(&self) -> u32 { RATE }
        }
        pub const RATE: u32 = 3;

        impl Cost for Price {
            type Unit = Self;
        }
        """,
    ],
    "src/hidden.rs": [None, "use crate::price::Money;\n\nfn held() -> Money { crate::price::Price(1) }\n"],
    "tests/all.rs": [
        """
        use shop::price::Cost;
        use shop::{price::Price, Item};

        #[test]
        fn works() {
            let item = Item::new(Price(2));
            assert_eq!(item.total(), item.price.cost(), "{}", item.price.0);
        }
        """,
        "use shop::*;\n\n#[test]\nfn works() { shop::twice!(Item::new(price::Price(2)).total()); }\n",
        None,
    ],
}  # fmt: skip
MOVES = [(path, at) for path, versions in VERSIONS.items() for at in range(len(versions))]


@pytest.mark.slow
@given(script=st.lists(st.sampled_from(MOVES), min_size=3, max_size=4))
@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_maintained_facts_equal_rebuilt_facts_after_every_edit_of_a_script(
    tmp_path_factory: pytest.TempPathFactory, script: list[tuple[str, int]]
) -> None:
    need("rust")
    check_script(tmp_path_factory.mktemp("project"), VERSIONS, script)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[tuple[GitRepo, Workspace]]:
    need("rust")
    with indexed(tmp_path / "shop", first_versions(VERSIONS)) as project:
        yield project


def test_a_manifest_is_followed(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    put(repo, "Cargo.toml", VERSIONS["Cargo.toml"][1])
    assert updated_group(workspace, "rust").how == FOLLOWED
    assert_as_rebuilt(workspace)
    repo.write("rust-toolchain.toml", '[toolchain]\nchannel = "stable"\n')
    done = updated_group(workspace, "rust")
    assert (done.how, done.why) == (REBUILT, "rust-toolchain.toml decides what is built")


def test_a_body_that_moves_others_derives_its_file_alone(
    project: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = project
    edit(repo, "src/price.rs", "pub trait Cost {", "// a line more\npub trait Cost {")
    assert [each.path for each in updated_group(workspace, "rust").rederived] == ["src/price.rs"]


def test_a_test_that_comes_without_a_manifest_is_seen(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    repo.write(
        "tests/more.rs", "use shop::price::Price;\n\n#[test]\nfn more() { shop::Item::new(Price(1)); }\n"
    )
    assert updated_group(workspace, "rust").how == FOLLOWED
    found = workspace.definition("tests/more.rs:4", name="new", provider="static")
    assert [place.path for place in found.locations] == ["src/item.rs"]
    assert_as_rebuilt(workspace)
    put(repo, "tests/more.rs", None)
    edit(repo, "src/price.rs", "pub trait Cost {", "// a line more\npub trait Cost {")
    assert updated_group(workspace, "rust").how == FOLLOWED
    assert_as_rebuilt(workspace)


def test_no_more_is_read_of_an_edit_than_of_a_checkout(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    repo.write("README.md", "before\n")
    edit(
        repo,
        "src/lib.rs",
        "pub mod item;",
        'pub const TEXT: &str = include_str!("../README.md");\npub mod item;',
    )
    updated_group(workspace, "rust")
    repo.write("README.md", "after\n")
    edit(repo, "src/price.rs", "pub trait Cost {", "// a line more\npub trait Cost {")
    assert [each.path for each in updated_group(workspace, "rust").rederived] == ["src/price.rs"]
    assert_as_rebuilt(workspace)


def test_a_package_that_leaves_the_workspace_is_dropped(tmp_path: Path) -> None:
    need("rust")
    repo = GitRepo(tmp_path / "many")
    members = '[workspace]\nresolver = "2"\nmembers = ["one", "two"]\n'
    repo.write("Cargo.toml", members)
    for name in ("one", "two"):
        repo.write(f"{name}/Cargo.toml", f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n')
        repo.write(f"{name}/src/lib.rs", f"pub fn {name}() {{ helper() }}\n\nfn helper() {{}}\n")
    repo.write("loose/alone.rs", "fn alone() { helper() }\n\nfn helper() {}\n")
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        edit(repo, "loose/alone.rs", "fn alone()", "fn lonely()")
        assert updated_group(workspace, "rust").how == FOLLOWED
        assert_as_rebuilt(workspace)
        repo.write("Cargo.toml", members.replace(', "two"', "") + 'exclude = ["two"]\n')
        assert updated_group(workspace, "rust").how == FOLLOWED
        assert_as_rebuilt(workspace)


@pytest.mark.parametrize("trust", [False, True])
def test_macros_and_build_scripts_are_followed_where_they_do_not_run(tmp_path: Path, trust: bool) -> None:
    need("rust")
    repo = GitRepo(tmp_path / "user")
    for path, text in MACROS.items():
        put(repo, path, text)
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH, trust=trust)
        for path, old, new in [
            ("maker/src/lib.rs", "pub fn pick", "fn other() {}\n\n#[proc_macro]\npub fn peck"),
            ("build.rs", "fn main() {", "fn main() {\n    let _ = 1;"),
        ]:
            edit(repo, path, old, new)
            done = updated_group(workspace, "rust")
            assert (done.how, path in done.why) == ((REBUILT, True) if trust else (FOLLOWED, False))
            assert_as_rebuilt(workspace)
