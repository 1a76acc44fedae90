"""The text of a Go file in, the tags with which this machine's build includes it out."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable, Collection, Iterator
from itertools import combinations

_LINE = re.compile(r"^//go:build\s+(.+)$")
_TOKEN = re.compile(r"\s*(&&|\|\||[!()]|[\w.]+)")
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
_PROCESSORS = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
#: Systems and processors are no tags to choose: gopls itself reads their files in a build for them.
_PLATFORMS = frozenset(
    [
        "aix",
        "android",
        "darwin",
        "dragonfly",
        "freebsd",
        "hurd",
        "illumos",
        "ios",
        "js",
        "linux",
        "nacl",
        "netbsd",
        "openbsd",
        "plan9",
        "solaris",
        "unix",
        "wasip1",
        "windows",
        "zos",
        "386",
        "amd64",
        "arm",
        "arm64",
        "loong64",
        "mips",
        "mips64",
        "mips64le",
        "mipsle",
        "ppc64",
        "ppc64le",
        "riscv64",
        "s390x",
        "sparc64",
        "wasm",
        "cgo",
        "gc",
        "gccgo",
        "ignore",
    ]
)
_MOST_TAGS = 6  # of one constraint: all their sets are tried

Constraint = Callable[[Collection[str]], bool]  # whether a build with these tags includes the file


def tags_of(text: str) -> tuple[str, ...] | None:
    """The fewest tags that the file needs; none where the default build includes it, None where no tags help.

    >>> tags_of("//go:build special && !plain\\n\\npackage p\\n")
    ('special',)
    >>> tags_of("//go:build ignore\\n\\npackage main\\n")
    """
    line = next(filter(None, map(_LINE.match, _before_package(text))), None)
    if line is None:
        return ()
    tokens = _TOKEN.findall(line[1].split("//")[0])
    constraint = _either(tokens)
    if tokens:
        return None  # not a constraint
    system = _SYSTEMS.get(sys.platform, sys.platform)
    processor = _PROCESSORS.get(platform.machine().lower(), platform.machine())
    always = {system, processor, "gc", "cgo"} | ({"unix"} if system != "windows" else set())
    names = sorted(set(re.findall(r"[\w.]+", line[1])) - _PLATFORMS)
    released = {name for name in names if re.fullmatch(r"go1\.\d+", name)}
    custom = [name for name in names if name not in released][:_MOST_TAGS]
    for count in range(len(custom) + 1):
        for chosen in combinations(custom, count):
            if constraint(always | released | set(chosen)):
                return chosen
    return None


def _before_package(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if line.startswith("package "):
            return
        yield line.rstrip("\r")


def _either(tokens: list[str]) -> Constraint:
    parts = [_both(tokens)]
    while tokens and tokens[0] == "||":
        tokens.pop(0)
        parts.append(_both(tokens))
    return lambda tags: any(part(tags) for part in parts)


def _both(tokens: list[str]) -> Constraint:
    parts = [_one(tokens)]
    while tokens and tokens[0] == "&&":
        tokens.pop(0)
        parts.append(_one(tokens))
    return lambda tags: all(part(tags) for part in parts)


def _one(tokens: list[str]) -> Constraint:
    token = tokens.pop(0) if tokens else ""
    if token == "!":
        inner = _one(tokens)
        return lambda tags: not inner(tags)
    if token == "(":
        inner = _either(tokens)
        if tokens:
            tokens.pop(0)
        return inner
    return lambda tags: token in tags
