"""A program that reads an untrusted repository reaches nothing else: what it tries is denied."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.hostile.attempts import TRIES

from codenib.navigation.engines import confine
from codenib.navigation.engines.confine import LEAST_ABI
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program
from codenib.navigation.engines.sandbox import PathPolicy, available_sandbox, sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of Linux")
ATTEMPTS = Path(__file__).with_name("attempts.py")
PYTHON = (Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent)


@dataclass
class Place:
    """A machine with a user, a checkout and listeners; `tried` is what became of each try there."""

    root: Path
    tried: dict[str, str]
    before: dict[str, str]

    def contents(self) -> dict[str, str]:
        """Every file with its mode, size and time."""
        states = ((path, path.lstat()) for path in sorted(self.root.rglob("*")))
        return {str(path): f"{state.st_mode} {state.st_size} {state.st_mtime_ns}" for path, state in states}


def tried(root: Path, policy: PathPolicy | None, abi: int | None = None, **more: str) -> Place:
    """Let the script try everything on a new machine below `root`; `abi` is an older one of Landlock."""
    home, checkout = root / "home", root / "checkout"
    for folder in (home / ".ssh", checkout, root / "other", root / "store", root / "shared"):
        folder.mkdir(parents=True)
    for name in ("home/.ssh/id_rsa", "home/profile", "home/emptied", "other/a.py", "store/secret.sqlite"):
        (root / name).write_text("secret\n")
    for name in ("a.py", "b.py", "c.py"):
        (checkout / name).write_text("def f(): ...\n")
    (checkout / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (checkout / "run.sh").chmod(0o755)
    (checkout / "link").symlink_to(home / ".ssh" / "id_rsa")
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as agent,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        agent.bind(str(home / "agent"))
        abstract.bind(f"\0{root}")
        for listener in (tcp, agent, abstract):
            listener.listen()
        places = {name: str(root / name) for name in ("home", "checkout", "other", "store", "shared")}
        places |= {"port": str(tcp.getsockname()[1]), "abstract": str(root)}
        place = Place(root, {}, {})
        place.before = place.contents()
        command: tuple[str, ...] = (sys.executable, "-I", str(ATTEMPTS), json.dumps(places))
        if abi is not None and policy is not None:
            (root / "private").mkdir()
            *start, rules, program = sandbox().command(policy, command[:1], root / "private")
            command = (*start, json.dumps({**json.loads(rules), "abi": abi}), program, *command[1:])
            policy, more = None, {"TMPDIR": str(root / "private")}
        result = run_program(Program("the stranger", command, "", checkout, more, policy=policy), 60)
    assert result.code == 0, result.tail
    place.tried = json.loads(result.output.splitlines()[-1])
    return place


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    if not available_sandbox().mechanism:
        pytest.skip(f"no sandbox here: {available_sandbox().detail}")
    root = tmp_path_factory.mktemp("confined").resolve()
    yield tried(root, PathPolicy(read=(root / "checkout", ATTEMPTS), execute=PYTHON))


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Place:
    root = tmp_path_factory.mktemp("free").resolve()
    return tried(root, None, TMPDIR=str(root / "shared"))


@pytest.mark.parametrize("name", TRIES)
def test_what_a_stranger_tries_is_denied(name: str, confined: Place, free: Place) -> None:
    assert confined.tried[name].startswith("denied"), confined.tried[name]
    # The same try succeeds outside, unless this machine forbids it to everybody.
    allowed = free.tried[name] == "done"
    assert allowed or name in ("send by UDP 6", "trace the parent", "make a namespace"), free.tried[name]


def test_nothing_outside_its_own_folder_changed(confined: Place, free: Place) -> None:
    assert confined.contents() == confined.before
    assert free.contents() != free.before


def test_an_old_landlock_holds_all_but_signals(tmp_path: Path) -> None:
    if available_sandbox().mechanism != "landlock":
        pytest.skip("no Landlock here")
    place = tried(tmp_path, PathPolicy(read=(tmp_path / "checkout", ATTEMPTS), execute=PYTHON), abi=LEAST_ABI)
    assert [name for name, result in place.tried.items() if result == "done"] == ["signal the parent"]


def test_a_confined_program_gets_no_keys_and_a_home_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not available_sandbox().mechanism:
        pytest.skip("no sandbox here")
    monkeypatch.setenv("DATABASE_URL", "secret")
    monkeypatch.setenv("CARGO_REGISTRY_TOKEN", "secret")
    script = "import os, json; open('x', 'w'); print(json.dumps({**os.environ, 'cwd': os.getcwd()}))"
    command = (sys.executable, "-I", "-c", f"import os; os.chdir(os.environ['HOME']); {script}")
    result = run_program(Program("it", command, "", tmp_path, {}, policy=PathPolicy(execute=PYTHON)), 60)
    given = json.loads(result.output)
    assert "secret" not in given.values() and given["PATH"]
    assert given["HOME"] == given["TMPDIR"] == given["cwd"] != str(Path.home())
    assert not Path(given["HOME"]).exists()  # gone with the program


def test_a_source_cannot_open_the_streams_of_its_reader_by_a_name(tmp_path: Path) -> None:
    script = """
import os
for name in ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/self/fd/0", "/dev/fd/1"):
    try:
        os.open(name, os.O_RDONLY | os.O_NONBLOCK)
        print("opened", name)
    except OSError:
        print("refused", name)
"""
    command = (sys.executable, "-I", "-c", script)
    result = run_program(Program("it", command, "", tmp_path, {}, policy=PathPolicy(execute=PYTHON)), 60)
    assert result.output.split()[::2] == ["refused"] * 5, result.output


def test_a_program_that_cannot_be_confined_is_not_started(tmp_path: Path) -> None:
    if available_sandbox().mechanism != "landlock":
        pytest.skip("no Landlock here")
    rules = json.dumps({"execute": ["/"], "abi": LEAST_ABI - 1})
    command = (sys.executable, "-I", "-S", confine.__file__, rules, "/bin/echo", "started")
    result = run_program(Program("it", command, ""), 60)
    assert result.code == 125 and "started\n" not in result.output
    assert "not started in a sandbox" in result.errors
