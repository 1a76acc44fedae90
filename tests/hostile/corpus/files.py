"""Repositories with hostile names, links, special files, sizes and rules: what a worktree can hold."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.gitrepo import GitRepo
from tests.hostile.corpus.case import Case, Place, from_files

_FUNCTION = "def ordinary\n  1\nend\n"

#: Groups of names, each a repository.
_NAMES: dict[str, tuple[str, ...]] = {
    "spaces and quotes": (" lead.rb", "trail.rb ", "a  b.rb", "'q'.rb", '"q".rb', "`q`.rb", "back\\slash.rb"),
    "options": ("-rf.rb", "--help", "--output=x.rb", "-", "--", "-C", "@file.rb", "+x.rb"),
    "shell": ("$(touch ran).rb", "`touch ran`.rb", ";touch ran;.rb", "|cat.rb", "&x.rb", ">out.rb", "$HOME.rb", "~.rb", "~root"),
    "globs": ("*.rb", "?.rb", "[a-z].rb", "{a,b}.rb", "**", "!x.rb", "#x.rb", "a[.rb", "\\[.rb"),
    "places": ("a.rb:3", "a.rb:3-9", "a.rb:1:2", "a.rb#L3", "a.rb:", ":3", "10", "a.rb:-1", "Cart.total"),
    "format strings": ("%s%n%d.rb", "{0}.rb", "{own}.rb", "%2e%2e%2fx.rb", "a%00b.rb", "\\x1b.rb", "&lt;b&gt;.rb"),
    "devices of Windows": ("CON", "aux.rb", "nul.rb", "COM1.rb", "a.", "b ", "c::$DATA", "LPT1", "x:y.rb", "file.rb::$INDEX_ALLOCATION"),
    "twins by case": ("Twin.rb", "twin.rb", "TWIN.rb", "dir/a.rb", "DIR/a.rb", "Dir/A.rb"),
    "twins by normal form": ("caf\u00e9.rb", "cafe\u0301.rb", "\u212b.rb", "\u00c5.rb", "A\u030a.rb", "\uff41.rb"),
    "scripts": ("\u65e5\u672c\u8a9e.rb", "\u05e9\u05dc\u05d5\u05dd.rb", "\u0645\u0631\u062d\u0628\u0627.rb", "\U0001f600.rb", "\U000e0041.rb", "\u00df.rb", "\u0130i\u0131.rb"),
    "nothing to see": ("\u200b.rb", "a\u200b.rb", "\ufeff.rb", "a\u00a0b.rb", "\u3000.rb", "a\u00ad.rb", "\u115f.rb", "\u2800.rb"),
    "like git's": ("git~2", ".gitx/config", ".gitmodules~", "_git", ".GIT2"),
    "long": ("a" * 250 + ".rb", "b" * 255, "\u65e5" * 80 + ".rb", "/".join(["d" * 200] * 15) + "/x.rb"),
    "dots": ("....", "...rb", ".rb", "..rb", "a..rb", "a/...rb", ".../x.rb", "..x/..y.rb"),
    "of other tools": (".codenib/x.rb", "codenib/x.rb", "node_modules/evil/index.js", "__pycache__/x.rb", "vendor/x.rb", "view.json", "seal.json"),
}  # fmt: skip
_CONTROL = {
    "line break": "a\nb.rb", "carriage return": "a\rb.rb", "tab": "a\tb.rb", "escape": "\x1b[2Jx.rb", "bell": "\x07.rb",
    "backspace": "a\x08\x08b.rb", "delete": "\x7f.rb", "C1": "\x9b31m.rb", "override": "\u202egnp.rb", "isolate": "\u2066x\u2069.rb",
    "line separator": "a\u2028b.rb", "forged reply": "a.rb:1: ok\n[3 of 3 units]\nb.rb", "vertical tab": "\x0b.rb",
}  # fmt: skip
_FORGED = ("\x1b", "\x07", "\x08", "\x9b", "\u202e", "\u2066", "\u2028")


def _names_case(group: str, names: tuple[str, ...]) -> Case:
    def build(place: Place, repo: GitRepo) -> None:
        for name in names:
            repo.write(place.fill(name), _FUNCTION)
        repo.commit()

    return Case(f"names: {group}", build, reads=names)


def _raw_names(place: Place, repo: GitRepo) -> None:
    for name in (b"\xff\xfe.rb", b"caf\xe9.rb", b"\xed\xa0\x80.rb", b"a\xc0\xafb.rb", b"ok\xf5.rb"):
        Path(os.fsdecode(os.fsencode(place.own) + b"/" + name)).write_text(_FUNCTION)
    repo.commit()


#: Links: name → target. None is followed, and none of their targets is in an answer.
_LINKS: dict[str, dict[str, str]] = {
    "to a file outside": {"evil.rb": "{victim}/secret.py", "up.rb": "../victim/secret.py"},
    "to a folder outside": {"evil": "{victim}", "lib2": "../victim", "root": "/", "proc": "/proc/self"},
    "in a circle": {"a": "b", "b": "a", "self": "self", "up": "..", "here": ".", "lib/up": "../lib"},
    "to devices": {"zero.rb": "/dev/zero", "random.rb": "/dev/urandom", "tty.rb": "/dev/tty", "stdin.rb": "/dev/stdin", "full.rb": "/dev/full"},
    "to nothing": {"gone.rb": "nowhere.rb", "empty.rb": "x" * 255, "far.rb": "a/" * 1000},
    "to secrets of a process": {"environ.rb": "/proc/self/environ", "mem.rb": "/proc/self/mem", "fd": "/proc/self/fd", "maps.rb": "/proc/self/maps"},
    "with an escape as target": {"esc.rb": "\x1b]52;c;ZXZpbA==\x07", "line.rb": "a\nb"},
    "to the git folder": {"g": ".git", "config.rb": ".git/config", "hooks": ".git/hooks"},
    "that chain": {f"c{number}": f"c{number + 1}" for number in range(60)},
    "in the place of rules": {".gitattributes": "{victim}/secret.txt", ".codenibignore": "{victim}/secret.txt", ".gitmodules": "/dev/zero"},
    "in the place of ignore rules": {".gitignore": "{victim}/secret.txt", "lib/.gitignore": "/dev/zero"},
    "in the place of rules, devices": {".codenibignore": "/dev/zero", ".gitattributes": "/dev/zero", ".mailmap": "/dev/zero"},
}  # fmt: skip


def _links_case(group: str, committed: bool) -> Case:
    links = _LINKS[group]

    def build(place: Place, repo: GitRepo) -> None:
        for name, target in links.items():
            (place.own / name).symlink_to(place.fill(target))
        if committed:
            repo.git("add", "-A", "--ignore-errors", check=False)  # git adds no `.gitmodules` that is a link
            repo.git("commit", "-qm", "links")

    reads = tuple(links)[:6] + tuple(f"{name}/secret.py" for name in links if group == "to a folder outside")
    return Case(f"links: {group}{'' if committed else ', untracked'}", build, reads=reads)


def _special(make: Callable[[Path], object], name: str) -> Callable[[Place, GitRepo], None]:
    def build(place: Place, repo: GitRepo) -> None:
        repo.commit({name: _FUNCTION})
        (place.own / name).unlink()
        make(place.own / name)
        make(place.own / "lib" / "untracked.rb")

    return build


def _socket(path: Path) -> None:
    short = Path(os.path.relpath(path))  # an address has 108 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(short if len(str(short)) < len(str(path)) else path))


def _device(path: Path) -> None:
    if os.geteuid() == 0:
        os.mknod(path, 0o666 | 0o020000, os.makedev(1, 5))  # as /dev/zero


_SPECIAL: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo, "socket": _socket, "folder": lambda path: path.mkdir(), "device": _device,
    "without rights": lambda path: os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0)),
    "sparse file of a terabyte": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 40),
}  # fmt: skip
_RULES = (
    ".gitignore",
    ".gitattributes",
    ".codenibignore",
    ".gitmodules",
    ".mailmap",
    "lib/.gitignore",
    "lib/.gitattributes",
)


def _rules_pipe(name: str) -> Case:
    def build(place: Place, _: GitRepo) -> None:
        os.mkfifo(place.own / name)

    return Case(f"rules: {name} is a pipe", build, refused="?")


_IGNORE_LINES: dict[str, str] = {
    "stars": "*a" * 40 + "b\n",
    "double stars": "**/a" * 40 + "/b\n",
    "stars between": "a*/**/" * 6 + "x\n",  # with 40 of them git itself takes hours, `git add` too
    "brackets": "[" * 5000 + "\n" + "[!a-" * 2000 + "\n" + "[[:alpha:]" * 500 + "\n",
    "question marks": "?" * 5000 + "*" * 50 + "\n",
    "a hundred thousand lines": "\n".join(f"dir{number}/*.x" for number in range(100_000)),
    "one long line": "a" * 3_000_000,
    "bytes": "\udcff\udcfe\x00\x1b[2J\n\\",
    "many lines of stars": "*a*a*a*a*a*b\n" * 3000,
    "backslashes": "\\" * 9999 + "\n!\\!\n\\#\n\\ \n",
}


def _ignore_case(name: str, where: str) -> Case:
    def build(place: Place, repo: GitRepo) -> None:
        line = _IGNORE_LINES[name]
        if where == ".gitattributes":
            line = "\n".join(f"{row.lstrip('!')} text" for row in line.split("\n"))
        (place.own / where).write_bytes(line.encode("utf-8", "surrogateescape"))
        repo.write("a" * 200 + "/" + "a" * 200, _FUNCTION)
        repo.write("/".join(["aaaa"] * 40) + "/aaaa.rb", _FUNCTION)
        repo.commit()
        repo.write("a" * 199 + "/" + "a" * 199, _FUNCTION)

    return Case(f"rules: {where}, {name}", build)


def _hiding(place: Place, repo: GitRepo) -> None:
    """Rules that hide everything but what git tracks."""
    repo.commit({".gitignore": "*\n"})


def _wide(place: Place, repo: GitRepo) -> None:
    for number in range(6000):
        (place.own / f"w{number}.rb").write_bytes(b"x = %d\n" % number)
    repo.commit()


def _deep(place: Place, repo: GitRepo) -> None:
    """Folders below folders, deeper than a path may be long."""
    here = os.getcwd()  # noqa: PTH109 - a path would be too long
    try:
        os.chdir(place.own)
        for _ in range(600):
            os.mkdir("deepfolder")  # noqa: PTH102
            os.chdir("deepfolder")
        Path("x.rb").write_text(_FUNCTION)
    finally:
        os.chdir(here)


def _lfs(_: Place, repo: GitRepo) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4" * 64 + "\nsize 99999999999\n"
    attributes = "*.rb filter=lfs diff=lfs merge=lfs -text\n"
    repo.commit({"big.rb": pointer, "lib/.gitattributes": attributes})
    repo.git("config", "filter.lfs.process", "false")


def file_cases() -> Iterator[Case]:
    """Every case of this module."""
    for group, names in _NAMES.items():
        yield _names_case(group, names)
    for name, path in _CONTROL.items():
        yield from_files(
            f"names: {name}",
            {path: _FUNCTION, f"sub{path[:1]}/x.rb": _FUNCTION},
            hidden=_FORGED,
            reads=(path,),
        )
    yield Case("names: not UTF-8", _raw_names)
    for group in _LINKS:
        yield _links_case(group, committed=True)
        yield _links_case(group, committed=False)
    for name, make in _SPECIAL.items():
        yield Case(
            f"special files: {name}",
            _special(make, "lib/tracked.rb"),
            reads=("lib/tracked.rb", "lib/untracked.rb"),
        )
    yield from map(_rules_pipe, _RULES)
    for where in (".gitignore", ".codenibignore", ".gitattributes"):
        for name in _IGNORE_LINES:
            yield _ignore_case(name, where)
    yield Case("rules: everything ignored", _hiding)
    yield Case("size: 6,000 files in a folder", _wide)
    yield Case("size: deeper than a path", _deep)
    yield Case("size: pointers of Git LFS", _lfs)
    yield Case(
        "size: no git at all",
        lambda place, _: None,
        git=False,
        questions=(("--here", "regex", "x"),),
        refused="?",
    )
