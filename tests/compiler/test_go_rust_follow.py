"""Go and Rust follow edits in their engines: maintained facts equal those of an independent rebuild."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gitrepo import GitRepo
from tests.navigation.rust.rust_project import MACROS

from codenib.core.errors import ProviderError
from codenib.core.views import ViewKind
from codenib.manifest.home import tools_folder
from codenib.navigation.registry import backends_of
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace
from codenib.views.graph.maintenance.update import FOLLOWED, REBUILT, GroupUpdate

GRAPH = (ViewKind.GRAPH,)
pytestmark = pytest.mark.tools

GO = {
    "go.mod": "module example.com/m\n\ngo 1.21\n",
    "base/base.go": """
        package base

        type Key string

        func (k Key) Size() int { return len(k) }

        type Index map[Key]int

        type Shape interface{ Area() int }

        type Square struct{ Side int }

        func (s Square) Area() int { return s.Side }

        var Origin = struct{ Left int }{1}

        func Keys() Index { return nil }
        """,
    "mid/mid.go": """
        package mid

        import "example.com/m/base"

        var First = base.Keys()

        type Wrapped struct{ base.Square }

        func Total(all []base.Shape) int {
            sum := 0
            for _, each := range all {
                sum += each.Area()
            }
            return sum
        }
        """,
    "mid/mid_test.go": """
        package mid_test

        import (
            "testing"

            "example.com/m/mid"
        )

        func TestTotal(t *testing.T) {
            for key := range mid.First {
                t.Log(key.Size(), mid.Wrapped{}.Area(), mid.Total(nil))
            }
        }
        """,
    "top/top.go": """
        package main

        import (
            "example.com/m/base"
            "example.com/m/mid"
        )

        type dot struct{}

        func (dot) Area() int { return base.Origin.Left }

        func main() {
            for key := range mid.First {
                println(key.Size(), mid.Wrapped{}.Area())
            }
        }
        """,
}
#: What is edited: the file, what is replaced in it, and by what; an empty one stands for a whole new file.
GO_EDITS = [
    ("base/base.go", "package base\n", "package base\n\n// moved down\n"),
    ("base/base.go", "int { return s.Side }", "int { return 4 }"),
    ("base/base.go", "type Key", "type Word string\n\nfunc (w Word) Size() int { return 1 }\n\ntype Key"),
    ("base/base.go", "type Index map[Key]int", "type Index map[Word]int"),
    ("base/base.go", "struct{ Left int }{1}", "struct{ Up, Left int }{1, 2}"),
    ("base/base.go", "Shape interface{ Area() int }", "Shape interface {\n\tArea() int\n\tName() string\n}"),
    ("mid/mid.go", 'import "example.com/m/base"', 'import (\n\t"strings"\n\n\t"example.com/m/base"\n)'),
    ("mid/mid.go", "sum := 0", 'sum := strings.Count("a", "b")'),
    ("mid/more.go", "", "package mid\n\nfunc (w Wrapped) Name() string { return name }\n\nvar name = \"\"\n"),
    ("mid/rest_test.go", "", "package mid\n\nfunc more() string { return name }\n"),
    ("top/top.go", "type dot", 'func (dot) Name() string { return "" }\n\ntype dot'),
    ("go.mod", "go 1.21", "go 1.22"),
    ("top/top.go", '"example.com/m/base"\n', '"example.com/m/base"\n\t_ "expvar"\n'),
    ("mid/more.go", "package mid\n", "package other\n"),
    ("base/base.go", "func Keys() Index { return nil }", "func Keys() *Index { return 1 }"),
    ("mid/mid.go", "type Wrapped struct{ base.Square }", "type Wrapped = base.Square"),
    ("base/linux.go", "", "//go:build windows\n\npackage base\n\nfunc Drive() Key { return \"\" }\n"),
]  # fmt: skip

RUST: dict[str, list[str | None]] = {
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
MOVES = [(path, at) for path, versions in RUST.items() for at in range(len(versions))]


def need(group: str) -> None:
    try:
        backends_of(Toolbox(tools_folder()), {group})[group][0].identity()
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")


def put(repo: GitRepo, path: str, text: str | None) -> None:
    if text is None:
        (repo.path / path).unlink(missing_ok=True)
    else:
        repo.write(path, dedent(text).lstrip("\n"))


def updated(workspace: Workspace, group: str) -> GroupUpdate:
    done = workspace.maintenance.graph_update(workspace.index(GRAPH))
    assert done is not None
    return next(each for each in done.groups if each.group == group)


def edit(repo: GitRepo, path: str, old: str, new: str) -> None:
    text = (repo.path / path).read_text() if old else ""
    assert old in text
    repo.write(path, text.replace(old, new, 1) if old else new)


@pytest.fixture
def go_project(tmp_path: Path) -> Iterator[tuple[GitRepo, Workspace]]:
    need("go")
    repo = GitRepo(tmp_path / "m")
    for path, text in GO.items():
        put(repo, path, text)
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        yield repo, workspace


@pytest.fixture
def rust_project(tmp_path: Path) -> Iterator[tuple[GitRepo, Workspace]]:
    need("rust")
    repo = GitRepo(tmp_path / "shop")
    for path, versions in RUST.items():
        put(repo, path, versions[0])
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        yield repo, workspace


def test_go_facts_equal_rebuilt_facts_after_edits_that_reach_other_packages(
    go_project: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = go_project
    for path, old, new in GO_EDITS:
        edit(repo, path, old, new)
        assert updated(workspace, "go").how == FOLLOWED, (path, new)
        assert workspace.verify(GRAPH)[ViewKind.GRAPH] == [], (path, new)


def test_a_go_body_that_moves_others_derives_its_file_alone(go_project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = go_project
    edit(repo, "base/base.go", "type Key string", "// a line more\ntype Key string")
    assert [each.path for each in updated(workspace, "go").rederived] == ["base/base.go"]


def test_go_follows_a_module_that_another_requires(go_project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = go_project
    repo.write("dep/go.mod", "module example.com/dep\n\ngo 1.21\n")
    repo.write("dep/dep.go", "package dep\n\nfunc Value() int { return 1 }\n")
    updated(workspace, "go")
    edit(
        repo,
        "go.mod",
        "go 1.21\n",
        "go 1.21\n\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => ./dep\n",
    )
    edit(repo, "top/top.go", '"example.com/m/base"\n', '"example.com/m/base"\n\t"example.com/dep"\n')
    edit(repo, "top/top.go", "func main() {", "func main() {\n\tprintln(dep.Value())")
    assert updated(workspace, "go").how == FOLLOWED
    line = (repo.path / "top/top.go").read_text().splitlines().index("\tprintln(dep.Value())") + 1
    found = workspace.definition(f"top/top.go:{line}", name="Value", provider="static")
    assert [place.path for place in found.locations] == ["dep/dep.go"]
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


@pytest.mark.slow
@given(script=st.lists(st.sampled_from(MOVES), min_size=3, max_size=4))
@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_rust_facts_equal_rebuilt_facts_after_every_edit_of_a_script(
    tmp_path_factory: pytest.TempPathFactory, script: list[tuple[str, int]]
) -> None:
    need("rust")
    repo = GitRepo(tmp_path_factory.mktemp("shop"))
    for path, versions in RUST.items():
        put(repo, path, versions[0])
    repo.commit()
    with Workspace(repo.path) as workspace:
        workspace.index(GRAPH)
        for path, at in script:
            put(repo, path, RUST[path][at])
            workspace.index(GRAPH)
            assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


def test_rust_follows_a_manifest(rust_project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = rust_project
    put(repo, "Cargo.toml", RUST["Cargo.toml"][1])
    assert updated(workspace, "rust").how == FOLLOWED
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []
    repo.write("rust-toolchain.toml", '[toolchain]\nchannel = "stable"\n')
    done = updated(workspace, "rust")
    assert (done.how, done.why) == (REBUILT, "rust-toolchain.toml decides what is built")


def test_a_rust_body_that_moves_others_derives_its_file_alone(
    rust_project: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = rust_project
    edit(repo, "src/price.rs", "pub trait Cost {", "// a line more\npub trait Cost {")
    assert [each.path for each in updated(workspace, "rust").rederived] == ["src/price.rs"]


def test_rust_sees_a_test_that_comes_without_a_manifest(rust_project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = rust_project
    repo.write(
        "tests/more.rs", "use shop::price::Price;\n\n#[test]\nfn more() { shop::Item::new(Price(1)); }\n"
    )
    assert updated(workspace, "rust").how == FOLLOWED
    found = workspace.definition("tests/more.rs:4", name="new", provider="static")
    assert [place.path for place in found.locations] == ["src/item.rs"]
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []
    put(repo, "tests/more.rs", None)
    edit(repo, "src/price.rs", "pub trait Cost {", "// a line more\npub trait Cost {")
    assert updated(workspace, "rust").how == FOLLOWED
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


def test_rust_reads_no_more_of_an_edit_than_of_a_checkout(rust_project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = rust_project
    repo.write("README.md", "before\n")
    edit(
        repo,
        "src/lib.rs",
        "pub mod item;",
        'pub const TEXT: &str = include_str!("../README.md");\npub mod item;',
    )
    updated(workspace, "rust")
    repo.write("README.md", "after\n")
    edit(repo, "src/price.rs", "pub trait Cost {", "// a line more\npub trait Cost {")
    assert [each.path for each in updated(workspace, "rust").rederived] == ["src/price.rs"]
    assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


def test_rust_lets_go_of_a_package_that_leaves_the_workspace(tmp_path: Path) -> None:
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
        assert updated(workspace, "rust").how == FOLLOWED
        assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []
        repo.write("Cargo.toml", members.replace(', "two"', "") + 'exclude = ["two"]\n')
        assert updated(workspace, "rust").how == FOLLOWED
        assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


@pytest.mark.parametrize("trust", [False, True])
def test_rust_follows_macros_and_build_scripts_where_they_do_not_run(tmp_path: Path, trust: bool) -> None:
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
            done = updated(workspace, "rust")
            assert (done.how, path in done.why) == ((REBUILT, True) if trust else (FOLLOWED, False))
            assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []
