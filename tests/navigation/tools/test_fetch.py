"""Package managers: they are named when missing, and other bytes than the pinned ones are refused."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from codenib.navigation.tools.fetch import add_library_sources
from codenib.navigation.tools.install import InstallOutcome, install
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.recipes import (
    CargoBuild,
    GoBuild,
    GoInstall,
    JavaBuild,
    Npm,
    Pip,
    Recipe,
    RustupComponent,
    Source,
)


def quiet(_line: str) -> None: ...


def attempt(box: Path, recipe: Recipe) -> InstallOutcome:
    (outcome,) = install(Toolbox(box, [recipe]), [recipe.name], quiet)
    return outcome


def refused(outcome: InstallOutcome) -> bool:
    """Whether a digest stopped it, in words that say so."""
    return outcome.done == "failed" and "1.0 was refused" in outcome.error and "digest" in outcome.error


@pytest.mark.parametrize(
    ("source", "lacks"),
    [
        (Npm(Path()), "npm is not on the path"),
        (GoInstall("x", Path()), "go is not on the path"),
        (CargoBuild(Path(), "1.0"), "rustc is not on the path"),
        (JavaBuild(Path()), "javac is not on the path"),
        (RustupComponent("x"), "rustup is not on the path"),
    ],
)
def test_a_missing_package_manager_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Source, lacks: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if isinstance(source, Npm):
        source = Npm(tmp_path)
        (tmp_path / "package.json").touch()
        (tmp_path / "package-lock.json").touch()
    outcome = attempt(tmp_path / "tools", Recipe("saw", "1", "wood", "", source, "saw"))
    assert lacks in outcome.error
    assert outcome.hint


def fake(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!{sys.executable}\nimport sys, os, pathlib\n{script}")
    (folder / name).chmod(0o755)


def test_a_go_program_of_our_own_is_built_from_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, path = tmp_path / "engine", tmp_path / "path"
    source.mkdir()
    path.mkdir()
    (source / "main.go").write_text("package main\n")
    fake(
        path,
        "go",
        "assert os.environ['GOTOOLCHAIN'] == 'local' and pathlib.Path('main.go').exists()\n"
        "assert str(pathlib.Path.cwd()) != " + repr(str(source)) + "\n"
        "out = pathlib.Path(sys.argv[sys.argv.index('-o') + 1])\n"
        "out.parent.mkdir(parents=True); out.write_text('built')\n",
    )
    monkeypatch.setenv("PATH", str(path))
    outcome = attempt(tmp_path / "tools", Recipe("facts", "1", "go", "", GoBuild(source), "bin/facts"))
    assert outcome.done == "installed", outcome.error
    assert sorted(file.name for file in (tmp_path / "tools" / "facts-1").iterdir()) == [
        "bin",
        "codenib-tool.json",
    ]
    assert [file.name for file in source.iterdir()] == ["main.go"]


def test_an_old_compiler_is_refused_before_a_long_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, "rustc", "print('rustc 1.70.0 (abc 2023-01-01)')\n")
    fake(tmp_path, "cargo", "raise SystemExit('never started')\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    recipe = Recipe("ra", "1", "rust", "", CargoBuild(tmp_path, "1.95"), "bin/ra")
    outcome = attempt(tmp_path / "tools", recipe)
    assert "needs Rust 1.95" in outcome.error
    assert "1.70.0" in outcome.error


def test_wheels_are_unpacked_by_digest_without_running_their_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel on disk: pip works without a network."""
    wheel = tmp_path / "wheels" / "sawmill-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        info = "sawmill-1.0.dist-info"
        archive.writestr("sawmill/__init__.py", "raise RuntimeError('imported')")
        archive.writestr("sawmill/bin/saw", "saw")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: sawmill\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    pins = tmp_path / "saw.txt"
    recipe = Recipe("saw", "1.0", "wood", "", Pip(pins), "bin/saw", package="sawmill")
    pins.write_text(f"sawmill==1.0 --hash=sha256:{'0' * 64}\n")
    assert refused(attempt(tmp_path / "tools", recipe))
    assert not (tmp_path / "tools" / "saw-1.0").exists()
    pins.write_text(f"sawmill==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    outcome = attempt(tmp_path / "tools", recipe)
    assert outcome.done == "installed", outcome.error
    assert outcome.tool and outcome.tool.folder == tmp_path / "tools" / "saw-1.0" / "sawmill"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[bytes]:
    """A registry of npm on this machine with one package, whose tarball is given."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in (("package.json", '{"name": "saw", "version": "1.0.0"}'), ("saw.js", "saw()")):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    tarball = stream.getvalue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = f"http://127.0.0.1:{self.server.server_port}/saw.tgz"  # type: ignore[attr-defined]
            package = {"name": "saw", "version": "1.0.0", "dist": {"tarball": address}}
            listing = {"name": "saw", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": package}}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(tarball if self.path == "/saw.tgz" else json.dumps(listing).encode())

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
        yield tarball
        server.shutdown()


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on the path")
def test_npm_packages_of_another_digest_are_refused(tmp_path: Path, registry: bytes) -> None:
    pins = tmp_path / "pins"
    pins.mkdir()
    wanted = {"dependencies": {"saw": "1.0.0"}}
    (pins / "package.json").write_text(json.dumps(wanted))

    def pin(contents: bytes) -> None:
        digest = base64.b64encode(hashlib.sha512(contents).digest()).decode()
        packages = {"": wanted, "node_modules/saw": {"version": "1.0.0", "integrity": f"sha512-{digest}"}}
        lock = {"lockfileVersion": 3, "requires": True, "packages": packages}
        (pins / "package-lock.json").write_text(json.dumps(lock))

    recipe = Recipe("saw", "1.0", "wood", "", Npm(pins), "saw.js", package="node_modules/saw")
    pin(b"another")
    assert refused(attempt(tmp_path / "tools", recipe))
    pin(registry)
    outcome = attempt(tmp_path / "tools", recipe)
    assert outcome.done == "installed", outcome.error


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not on the path")
def test_go_modules_of_another_digest_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module proxy that is a folder. The right digest is Go's own, of the same files."""
    versions = tmp_path / "proxy" / "saw.test" / "@v"
    versions.mkdir(parents=True)
    module = "module saw.test\n"
    (versions / "v1.0.0.info").write_text('{"Version": "v1.0.0"}')
    (versions / "v1.0.0.mod").write_text(module)
    with zipfile.ZipFile(versions / "v1.0.0.zip", "w") as archive:
        archive.writestr("saw.test@v1.0.0/go.mod", module)
        archive.writestr("saw.test@v1.0.0/saw.go", "package main\n\nfunc main() {}\n")
    monkeypatch.setenv("GOPROXY", f"file://{tmp_path / 'proxy'}")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    monkeypatch.setenv("GONOSUMDB", "saw.test")
    pins = tmp_path / "pins"
    pins.mkdir()
    (pins / "go.mod").write_text("module pins\n\ngo 1.20\n\nrequire saw.test v1.0.0\n")
    flags = {"GOFLAGS": "-mod=mod -modcacherw", "GOTOOLCHAIN": "local"}
    subprocess.run(["go", "mod", "download", "saw.test"], cwd=pins, env={**os.environ, **flags}, check=True)
    sums = (pins / "go.sum").read_text()
    recipe = Recipe("saw", "1.0", "wood", "", GoInstall("saw.test", pins), "bin/saw")
    (pins / "go.sum").write_text(sums.replace("h1:", "h1:AAAA", 1))
    assert refused(attempt(tmp_path / "tools", recipe))
    (pins / "go.sum").write_text(sums)
    outcome = attempt(tmp_path / "tools", recipe)
    assert outcome.done == "installed", outcome.error


CRATE = {
    "Cargo.toml": '[package]\nname = "blade"\nversion = "1.0.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn cut() {}\n",
}
PROGRAM = {
    "Cargo.toml": '[package]\nname = "saw"\nversion = "1.0.0"\nedition = "2021"\n'
    '[dependencies]\nblade = "1"\n[workspace]\n',
    "src/main.rs": "fn main() { blade::cut() }\n",
}


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not on the path")
def test_crates_of_another_digest_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of crates that is a folder, in the place of crates.io."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in CRATE.items():
            entry = tarfile.TarInfo(f"blade-1.0.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    digest = hashlib.sha256(stream.getvalue()).hexdigest()
    registry, home, engine = tmp_path / "registry", tmp_path / "cargo", tmp_path / "engine"
    listed = {"name": "blade", "vers": "1.0.0", "deps": [], "cksum": digest, "features": {}, "yanked": False}
    (registry / "index" / "bl" / "ad").mkdir(parents=True)
    (registry / "index" / "bl" / "ad" / "blade").write_text(json.dumps(listed) + "\n")
    (registry / "blade-1.0.0.crate").write_bytes(stream.getvalue())
    home.mkdir()
    (home / "config.toml").write_text(
        '[source.crates-io]\nreplace-with = "folder"\n'
        f"[source.folder]\nlocal-registry = {json.dumps(str(registry))}\n"
    )
    monkeypatch.setenv("CARGO_HOME", str(home))
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
    (engine / "src").mkdir(parents=True)
    for name, text in PROGRAM.items():
        (engine / name).write_text(text)

    def pin(checksum: str) -> None:
        (engine / "crates.lock").write_text(
            f'version = 4\n\n[[package]]\nname = "blade"\nversion = "1.0.0"\nchecksum = "{checksum}"\n\n'
            '[[package]]\nname = "saw"\nversion = "1.0.0"\ndependencies = [\n "blade",\n]\n'
        )

    recipe = Recipe("saw", "1.0", "wood", "", CargoBuild(engine, "1.0"), "bin/saw")
    pin("0" * 64)
    assert refused(attempt(tmp_path / "tools", recipe))
    pin(digest)
    outcome = attempt(tmp_path / "tools", recipe)
    assert outcome.done == "installed", outcome.error
    assert sorted(path.name for path in (tmp_path / "tools" / "saw-1.0").iterdir()) == [
        "bin",
        "codenib-tool.json",
    ]


def test_a_component_is_added_to_the_toolchain_and_found_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is on the path is rustup itself, which stands in for programs of the toolchain."""
    path, toolchain = tmp_path / "path", tmp_path / "toolchain"
    path.mkdir()
    toolchain.mkdir()
    fake(
        path,
        "rustup",
        f"tool = pathlib.Path({str(toolchain)!r}) / 'analyzer'\n"
        "if sys.argv[1:] == ['which', 'analyzer']:\n"
        "    sys.exit(print(tool) if tool.exists() else 1)\n"
        "assert sys.argv[1:] == ['component', 'add', 'analyzer']\n"
        f"tool.write_text('#!{sys.executable}\\nprint(\"analyzer 1.95.0\")')\n"
        "tool.chmod(0o755)\n",
    )
    (path / "analyzer").symlink_to(path / "rustup")
    monkeypatch.setenv("PATH", str(path))
    recipe = Recipe(
        "analyzer", "1.0", "rust", "", RustupComponent("analyzer"), "bin/analyzer",
        on_path="analyzer", ask=("--version",), known=(("1.90", "1.97"),),
    )  # fmt: skip
    assert Toolbox(tmp_path / "tools", [recipe]).find("analyzer") is None
    outcome = attempt(tmp_path / "tools", recipe)
    assert outcome.done == "installed", outcome.error
    assert outcome.tool and outcome.tool.version == "1.95.0"
    assert outcome.tool.command == (str(toolchain / "analyzer"),)


@pytest.mark.parametrize(("works", "said"), [(True, "rust-src: adding"), (False, "no such host")])
def test_a_toolchain_without_the_standard_librarys_sources_gets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works: bool, said: str
) -> None:
    """Where they cannot be had the tool is installed all the same, and the reason is said."""
    path, library = tmp_path / "path", tmp_path / "sysroot/lib/rustlib/src/rust/library"
    path.mkdir()
    fake(path, "rustc", f"print({str(tmp_path / 'sysroot')!r})\n")
    add = f"pathlib.Path({str(library)!r}).mkdir(parents=True)" if works else "sys.exit('no such host')"
    fake(path, "rustup", f"assert sys.argv[1:] == ['component', 'add', 'rust-src']\n{add}\n")
    monkeypatch.setenv("PATH", str(path))
    recipe = Recipe("saw", "1.0", "rust", "", CargoBuild(tmp_path, "1.0"), "bin/saw")
    lines: list[str] = []
    add_library_sources(recipe, lines.append)
    assert library.is_dir() == works and said in lines[-1]
    if works:
        add_library_sources(recipe, lines.append)
        assert len(lines) == 1
