"""Facts of a small Cargo workspace, and the live rust-analyzer asked at every name of it."""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from tests.navigation.rust.rust_project import FILES, MACROS

from codenib.core.errors import ProviderError
from codenib.manifest.home import tools_folder
from codenib.navigation.rust.backend import RustBackend
from codenib.navigation.rust.setup import environment, refuse_unsafe_settings, settings
from codenib.navigation.tools.locate import Toolbox

Place = tuple[str, int, int]

NAMES = sorted(name for name in FILES if name.endswith(".rs"))


class Facts:
    """Answers from lines of facts, as the static provider gives them."""

    def __init__(self, lines: list[bytes]) -> None:
        self.files: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, list[tuple[Any, ...]]] = {}
        self.listed: dict[Any, set[Place]] = defaultdict(set)
        for line in lines:
            facts = json.loads(line)
            path, flat = facts["path"], facts["occurrences"]
            targets = [tuple(it) if isinstance(it, list) else it for it in facts["targets"]]
            lists = [[targets[index] for index in row] for row in facts["lists"]] + [[]]
            self.files[path], self.rows[path] = facts, []
            for at in range(0, len(flat), 8):
                place, (roles, defs, keys, asks) = flat[at : at + 4], flat[at + 4 : at + 8]
                searched = lists[keys if asks < 0 else asks]
                self.rows[path].append((*place, roles, lists[defs], searched))
                for key in lists[keys]:
                    self.listed[key].add((path, place[0], place[1]))

    def at(self, path: str, line: int, column: int) -> tuple[Any, ...] | None:
        inside = (row for row in self.rows[path] if row[0] == line and row[1] <= column < row[3])
        return min(inside, key=lambda row: row[3] - row[1], default=None)

    def definition(self, path: str, line: int, column: int) -> set[Place]:
        row = self.at(path, line, column)
        return {(*it, 0, 0)[:3] for it in row[5] if isinstance(it, tuple)} if row else set()

    def references(self, path: str, line: int, column: int) -> set[Place]:
        row = self.at(path, line, column)
        return set().union(*(self.listed[key] for key in row[6])) if row else set()


class Live:
    """The real server, asked one question at a time."""

    def __init__(self, command: tuple[str, ...], root: Path, target: Path) -> None:
        self._root = root
        self._answers: queue.Queue[Any] = queue.Queue()
        self._ready = threading.Event()
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **environment(target, trusted=False)},
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        status = {"serverStatusNotification": True}
        capabilities = {"experimental": status, "general": {"positionEncodings": ["utf-8"]}}
        self._ask(
            "initialize",
            {"processId": None, "rootUri": self._uri(""), "capabilities": capabilities,
             "initializationOptions": settings(root, trusted=False)},
        )  # fmt: skip
        self._send({"method": "initialized", "params": {}})
        assert self._ready.wait(120)

    def _uri(self, path: str) -> str:
        return "file://" + quote(str(self._root / path).rstrip("/"))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> None:
        out = self._process.stdout
        assert out
        while header := out.readline():
            out.readline()
            message = json.loads(out.read(int(header.split(b":")[1])))
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": None})
            elif message.get("method") == "experimental/serverStatus" and message["params"]["quiescent"]:
                self._ready.set()
            elif "id" in message:
                self._answers.put(message)

    def _ask(self, method: str, params: Any) -> Any:
        self._send({"id": 1, "method": method, "params": params})
        return self._answers.get(timeout=120).get("result")

    def places(self, method: str, path: str, line: int, column: int) -> set[Place]:
        position = {"textDocument": {"uri": self._uri(path)}, "position": {"line": line, "character": column}}
        found = self._ask(f"textDocument/{method}", {**position, "context": {"includeDeclaration": True}})
        below = unquote(self._uri("")) + "/"
        places = ((unquote(it["uri"]), it["range"]["start"]) for it in found or [])
        return {
            (uri.removeprefix(below), start["line"], start["character"])
            for uri, start in places
            if uri.startswith(below)
        }

    def stop(self) -> None:
        with self._process:
            self._process.kill()
            self._reader.join()


def write(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        lines = text.strip("\n").split("\n")
        indent = len(lines[0]) - len(lines[0].lstrip())
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("\n".join(line[indent:] for line in lines).rstrip() + "\n")
    return sorted(name for name in files if name.endswith(".rs"))


def quiet(stage: str, done: int, total: int) -> None:
    pass


@pytest.fixture(scope="module")
def backend() -> RustBackend:
    tools = Toolbox(tools_folder())
    try:
        tools.require("rust-facts")
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    return RustBackend(tools)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("workspace")
    write(root, FILES)
    return root


@pytest.fixture(scope="module")
def lines(backend: RustBackend, checkout: Path) -> list[bytes]:
    return list(backend.produce(checkout, NAMES, quiet, trusted=False))


@pytest.fixture(scope="module")
def facts(lines: list[bytes]) -> Facts:
    return Facts(lines)


@pytest.fixture(scope="module")
def live(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    tools = Toolbox(tools_folder())
    tool = tools.find("rust-analyzer")
    if tool is None:
        pytest.skip("rust-analyzer is not installed: codenib tools install rust")
    server = Live(tool.command, checkout, tmp_path_factory.mktemp("target"))
    yield server
    server.stop()


def find(root: Path, path: str, around: str, name: str) -> Place:
    """The place of `name` in the first line that holds `around`."""
    for number, line in enumerate((root / path).read_text().split("\n")):
        if around in line:
            column = line.index(around) + re.search(rf"\b{name}\b", around).start()  # type: ignore[union-attr]
            return path, number, len(line[:column].encode())
    raise AssertionError(around)


LIB, ROUND, MAIN = "shapes/src/lib.rs", "shapes/src/round.rs", "app/src/main.rs"
SOLID = "shapes/src/solid.rs"


def test_definition_of_a_call_is_its_method(facts: Facts, checkout: Path) -> None:
    assert facts.definition(*find(checkout, MAIN, "square.area()", "area")) == {
        find(checkout, LIB, "fn area(&self) -> Self::Unit { self.side", "area")
    }


def test_definition_of_a_module_is_its_file(facts: Facts, checkout: Path) -> None:
    assert facts.definition(*find(checkout, MAIN, "mod parts", "parts")) == {("app/src/parts.rs", 0, 0)}


def test_references_of_a_trait_method_include_its_implementations(facts: Facts, checkout: Path) -> None:
    found = facts.references(*find(checkout, LIB, "fn area(&self) -> Self::Unit;", "area"))
    assert find(checkout, ROUND, "fn area", "area") in found
    assert find(checkout, MAIN, "disc.area()", "area") in found


def test_a_shorthand_field_is_listed_for_the_field_and_the_local(facts: Facts, checkout: Path) -> None:
    short = find(checkout, LIB, "Self { side, label }", "side")
    assert short in facts.references(*find(checkout, LIB, "pub side: T", "side"))
    assert short in facts.references(*find(checkout, LIB, "new(side: T)", "side"))


def test_names_in_macros_and_format_strings_are_occurrences(facts: Facts, checkout: Path) -> None:
    assert facts.definition(*find(checkout, LIB, "return made()", "made")) == {
        find(checkout, LIB, "make!(made", "made")
    }
    assert find(checkout, MAIN, "{sum} é", "sum") in facts.references(*find(checkout, MAIN, "let sum", "sum"))


def test_links_in_comments_answer(facts: Facts, checkout: Path) -> None:
    rows = [row for row in facts.rows[LIB] if row[0] == 0 and row[5]]
    assert [row[5] for row in rows] == [
        [find(checkout, LIB, "trait Area", "Area")],
        [find(checkout, ROUND, "struct Circle", "Circle")],
    ]


def test_code_behind_a_feature_that_is_off_by_default_is_resolved(facts: Facts, checkout: Path) -> None:
    called = find(checkout, SOLID, "cube(side) }", "cube")
    assert facts.definition(*called) == {find(checkout, SOLID, "fn cube", "cube")}


def test_a_package_beside_the_workspace_is_read(facts: Facts, checkout: Path) -> None:
    used = find(checkout, "fuzz/src/main.rs", "shapes::kinds", "kinds")
    assert facts.definition(*used) == {find(checkout, LIB, "pub fn kinds", "kinds")}


def test_a_file_that_no_module_declares_is_not_resolved(facts: Facts) -> None:
    assert [path for path, held in facts.files.items() if held["scope"] != "project"] == [
        "shapes/src/orphan.rs"
    ]


def test_packages_that_do_not_load_are_named(backend: RustBackend, tmp_path: Path) -> None:
    missing = '[package]\nname = "a"\nversion = "0.1.0"\n[dependencies]\nnot-there-at-all = "1"\n'
    names = write(tmp_path, {"Cargo.toml": missing, "src/lib.rs": "pub fn a() {}\n"})
    list(backend.produce(tmp_path, names, quiet, trusted=False))
    assert (
        "not-there-at-all" in backend.lacks[0]
        and "; try: cargo fetch, then codenib index" in backend.lacks[0]
    )
    resident = backend.engine(tmp_path, trusted=False)
    try:
        resident.sync(names, ())
        resident.differing(names, anew=True)
        assert resident.lacks == backend.lacks
    finally:
        resident.close()


def test_a_missing_standard_library_is_named(
    backend: RustBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that knows of no sources: names of the library lead nowhere, which is no fault of theirs."""
    real, fake = shutil.which("rustc"), tmp_path / "bin" / "rustc"
    (tmp_path / "toolchain").mkdir()
    fake.parent.mkdir()
    answer = f'case "$*" in *"--print sysroot"*) echo "{tmp_path / "toolchain"}";; *) exec {real} "$@";; esac'
    fake.write_text(f"#!/bin/sh\n{answer}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    manifest = '[package]\nname = "a"\nversion = "0.1.0"\n'
    root = tmp_path / "a"
    names = write(root, {"Cargo.toml": manifest, "src/lib.rs": 'pub fn a() { println!("") }\n'})
    list(backend.produce(root, names, quiet, trusted=False))
    assert backend.lacks[0].startswith("the standard library is not known: ")
    assert backend.lacks[0].endswith("try: rustup component add rust-src")


def test_a_library_whose_own_dependencies_are_missing_is_read_whole(
    backend: RustBackend, checkout: Path, lines: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crates that `std` needs may be in no registry here: Cargo says nothing of its `core` then."""
    (tmp_path / "cargo").mkdir()
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo"))
    alone = list(backend.produce(checkout, NAMES, quiet, trusted=False))
    assert alone == lines
    sum_ = find(checkout, MAIN, "{sum} é", "sum")
    assert sum_ in Facts(alone).references(*find(checkout, MAIN, "let sum", "sum"))


def test_relations_of_types_and_traits(facts: Facts, checkout: Path) -> None:
    def relations(path: str) -> set[tuple[str, Any, Any]]:
        held = facts.files[path]
        return {(kind, *(tuple(held["targets"][it]) for it in pair)) for kind, *pair in held["relations"]
                if all(isinstance(held["targets"][it], list) for it in pair)}  # fmt: skip

    area, named = find(checkout, LIB, "trait Area", "Area"), find(checkout, LIB, "trait Named", "Named")
    circle = find(checkout, ROUND, "struct Circle", "Circle")
    assert ("inherit", area, named) in relations(LIB)
    assert {("implement", circle, area), ("implement", circle, named)} <= relations(ROUND)
    method = find(checkout, ROUND, "fn area", "area")
    declared = find(checkout, LIB, "fn area(&self) -> Self::Unit;", "area")
    assert ("override", method, declared) in relations(ROUND)


def test_methods_stand_below_their_type(facts: Facts) -> None:
    nodes = facts.files[ROUND]["nodes"]
    chains = {(nodes[row[2]][0] if row[2] >= 0 else "", row[0], row[1]) for row in nodes}
    assert {("", "Circle", "struct"), ("Circle", "radius", "field"), ("Circle", "area", "method"),
            ("", "Circle", "namespace"), ("from", "radius", "parameter")} <= chains  # fmt: skip


def test_every_target_in_the_checkout_has_a_node(facts: Facts) -> None:
    names = {path: {(row[7], row[8]) for row in held["nodes"]} for path, held in facts.files.items()}
    for held in facts.files.values():
        for target in held["targets"]:
            if isinstance(target, list) and len(target) == 3:
                assert (target[1], target[2]) in names[target[0]], target


def test_the_text_of_an_exact_occurrence_is_the_symbols_name(facts: Facts, checkout: Path) -> None:
    names = {(path, row[7], row[8]): row[0] for path, held in facts.files.items() for row in held["nodes"]}
    for path, rows in facts.rows.items():
        source = (checkout / path).read_bytes().split(b"\n")
        for line, start, _, end, roles, _, asked in rows:
            known = [names[it] for it in asked if it in names]
            if known and not roles & 64:
                assert source[line][start:end].decode() in known, (path, line, start)


def test_two_runs_give_the_same_bytes(backend: RustBackend, checkout: Path, lines: list[bytes]) -> None:
    assert list(backend.produce(checkout, NAMES, quiet, trusted=False)) == lines


def test_no_build_script_runs_without_trust(lines: list[bytes], checkout: Path) -> None:
    assert lines and not (checkout / "ran-build-script").exists()


def test_answers_equal_the_live_server_at_every_name(facts: Facts, live: Live, checkout: Path) -> None:
    different = []
    for path in facts.files:
        for number, line in enumerate((checkout / path).read_text().split("\n")):
            code = line.partition("//")[0]
            for match in re.finditer(r"[A-Za-z_]\w*", code):
                place = path, number, len(line[: match.start()].encode())
                for method in ("definition", "references"):
                    static, real = getattr(facts, method)(*place), live.places(method, *place)
                    if static != real and match[0] not in CONTROL:
                        different.append((*place, match[0], method, static ^ real))
    assert different == []


#: Words at which the server shows a function's exits and a loop's ends; these are no symbols.
CONTROL = frozenset({"fn", "return", "loop", "break", "match", "if", "else", "for"})


def test_the_short_ways_find_what_the_engine_finds(
    backend: RustBackend, checkout: Path, lines: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODENIB_CHECK", "1")
    assert list(backend.produce(checkout, NAMES, quiet, trusted=False)) == lines


def test_macros_and_build_scripts_run_with_trust(backend: RustBackend, tmp_path: Path) -> None:
    names = write(tmp_path, MACROS)
    call = find(tmp_path, "src/lib.rs", "pick!(chosen)", "chosen")
    untrusted = Facts(list(backend.produce(tmp_path, names, quiet, trusted=False)))
    assert untrusted.definition(*call) == set() and not (tmp_path / "ran").exists()
    trusted = Facts(list(backend.produce(tmp_path, names, quiet, trusted=True)))
    assert (tmp_path / "ran").exists()
    assert trusted.definition(*call) == {find(tmp_path, "src/lib.rs", "fn chosen", "chosen")}


def test_a_folder_without_a_package_is_refused(backend: RustBackend, tmp_path: Path) -> None:
    names = write(tmp_path, {"a.rs": "fn a() {}\n"})
    with pytest.raises(ProviderError, match="no Cargo workspace"):
        list(backend.produce(tmp_path, names, quiet, trusted=False))


def test_a_configuration_that_starts_programs_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a/.cargo/config.toml": '[env]\nLD_PRELOAD = "evil.so"\n'})
    with pytest.raises(ProviderError, match=r"env\.LD_PRELOAD"):
        refuse_unsafe_settings(tmp_path)


def test_a_harmless_configuration_is_accepted(tmp_path: Path) -> None:
    text = '[alias]\nx = "run"\n[build]\nrustc-wrapper = "./evil"\n[env]\nROOT = "x"\n'
    write(tmp_path, {".cargo/config.toml": text})
    refuse_unsafe_settings(tmp_path)
    assert environment(tmp_path, trusted=False)["RUSTC_WRAPPER"] == ""


def test_a_package_deep_in_the_tree_is_linked(tmp_path: Path) -> None:
    write(tmp_path, {"a/b/Cargo.toml": "[package]\n", "a/b/src/lib.rs": ""})
    assert settings(tmp_path, trusted=False)["linkedProjects"] == ["a/b/Cargo.toml"]
