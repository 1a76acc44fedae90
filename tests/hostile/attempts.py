"""What a program of a stranger would try; it prints as JSON what became of each try.

Run as a script, inside the sandbox and outside of it: `python attempts.py PLACES`, with PLACES as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
PLACES: dict[str, str] = {}


def place(name: str) -> Path:
    return Path(PLACES[name])


def checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def connect(family: int, kind: int, address: object) -> None:
    with socket.socket(family, kind) as line:
        line.settimeout(5)
        line.connect(address)  # type: ignore[arg-type]
        line.send(b"secret")


def emptied(path: Path) -> None:
    os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))


def appended(path: Path) -> None:
    with path.open("a") as file:
        file.write("import evil\n")


def run_copied() -> None:
    program = Path(tempfile.gettempdir(), "program")
    program.write_bytes(Path("/bin/sh").read_bytes())
    os.chmod(program, 0o755)  # noqa: PTH101
    subprocess.run([program, "-c", "true"], check=True)


def moved_out() -> None:
    (place("checkout") / "a.py").rename(Path(tempfile.gettempdir(), "a.py"))


TRIES: dict[str, Callable[[], object]] = {
    "read a key": lambda: (place("home") / ".ssh" / "id_rsa").read_bytes(),
    "list a home": lambda: os.listdir(place("home")),  # noqa: PTH208
    "read through a link of the checkout": lambda: (place("checkout") / "link").read_bytes(),
    "link a key": lambda: os.link(place("home") / ".ssh" / "id_rsa", Path(tempfile.gettempdir(), "key")),
    "read another repository": lambda: (place("other") / "a.py").read_bytes(),
    "read the store": lambda: (place("store") / "secret.sqlite").read_bytes(),
    "read the variables of the parent": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "read memory of the parent": lambda: Path(f"/proc/{os.getppid()}/mem").open("rb").close(),
    "append to a file": lambda: appended(place("home") / "profile"),
    "write a new file": lambda: (place("home") / "evil.pth").write_text("import evil\n"),
    "write into the temporary folder of others": lambda: (place("shared") / "evil").write_text("evil"),
    "empty a file": lambda: os.truncate(place("home") / "emptied", 0),
    "empty a file opened to read": lambda: emptied(place("checkout") / "b.py"),
    "write into the checkout": lambda: appended(place("checkout") / "a.py"),
    "add to the checkout": lambda: (place("checkout") / "evil.py").write_text("evil\n"),
    "remove from the checkout": lambda: (place("checkout") / "c.py").unlink(),
    "link in the checkout": lambda: (place("checkout") / "linked").symlink_to("/"),
    "move out of the checkout": moved_out,
    "run a program of the checkout": lambda: subprocess.run([place("checkout") / "run.sh"], check=True),
    "run a program of its own": run_copied,
    "connect by TCP": lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(PLACES["port"]))),
    "send by UDP": lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 9)),
    "send by UDP 6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close(),
    "listen": lambda: socket.create_server(("127.0.0.1", 0)).close(),
    "connect to a socket of the user": lambda: connect(
        socket.AF_UNIX, socket.SOCK_STREAM, PLACES["home"] + "/agent"
    ),
    "connect to an abstract socket": lambda: connect(
        socket.AF_UNIX, socket.SOCK_STREAM, "\0" + PLACES["abstract"]
    ),
    "ask the kernel for interfaces": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
    "signal the parent": lambda: os.kill(os.getppid(), 0),
    "limit the parent": lambda: checked(LIBC.prlimit(os.getppid(), 0, None, ctypes.create_string_buffer(16))),
    "trace the parent": lambda: checked(LIBC.ptrace(0x4206, os.getppid(), None, None)),  # PTRACE_SEIZE
    "make a namespace": lambda: checked(LIBC.unshare(0x04000000)),  # CLONE_NEWUTS: no other tries suffer
}


def main() -> None:
    PLACES.update(json.loads(sys.argv[1]))
    tried = {}
    for name, attempt in TRIES.items():
        try:
            attempt()
        except (OSError, subprocess.CalledProcessError) as error:
            tried[name] = f"denied: {error}"
        else:
            tried[name] = "done"
    print(json.dumps(tried))


if __name__ == "__main__":
    main()
