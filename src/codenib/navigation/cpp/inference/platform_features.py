"""The name of a build's option (`HAVE_SYS_EPOLL_H`) in, the value that it has on this machine out.

A configured build would ask a compiler. Here the C library's headers are read as texts: whether the header is
there, or whether one of them names the function or the type. Whatever else an option may mean is off.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_INCLUDE = Path("/usr/include")
#: The C library's own folders; what other libraries install beside them says nothing of the platform.
_FOLDERS = ("", "sys", "bits", "bits/types", "net", "netinet", "arpa")
_HAVE = re.compile(r"(?:.*_)?HAVE_(?:DECL_|STRUCT_|FUNC_)?(\w+)")
_HEADER = re.compile(r"(?:.*_)?HAVE_(\w+)_H")
_SIZEOF = re.compile(r"(?:.*_)?SIZEOF_(\w+)")
_NAMED = re.compile(r"\b([a-z_]\w\w+)[ \t]*\(|\b([a-z_]\w*_t)\b|\bstruct[ \t]+(\w+)")
_SIZES = {
    "CHAR": 1, "SHORT": 2, "INT": 4, "LONG": 8, "LONG_LONG": 8, "FLOAT": 4, "DOUBLE": 8, "VOID_P": 8,
    "SIZE_T": 8, "SSIZE_T": 8, "OFF_T": 8, "TIME_T": 8, "PTHREAD_T": 8, "SOCKLEN_T": 4, "INTPTR_T": 8,
}  # fmt: skip


def platform_value(option: str) -> int:
    """What a configured build would define an option as, as far as the platform's headers tell; else 0.

    >>> platform_value("EVENT__SIZEOF_INT"), platform_value("STDC_HEADERS"), platform_value("ENABLE_TURBO")
    (4, 1, 0)
    """
    if option == "STDC_HEADERS":
        return 1
    if sized := _SIZEOF.fullmatch(option):
        return _SIZES.get(sized[1], 0)
    if header := _HEADER.fullmatch(option):
        return int(any(_has_header(name) for name in _spellings(header[1].lower())))
    if named := _HAVE.fullmatch(option):
        name = named[1].lower()
        return int(name in _names() or _has_header(f"sys/{name}"))
    return 0


def _spellings(name: str) -> list[str]:
    """`sys_time` may be `sys/time` or `sys_time`."""
    parts = name.split("_")
    folders = [f"{'_'.join(parts[:at])}/{'_'.join(parts[at:])}" for at in range(1, len(parts))]
    return [name, *folders]


def _has_header(name: str) -> bool:
    return any((folder / f"{name}.h").is_file() for folder in _roots())


@cache
def _roots() -> tuple[Path, ...]:
    return (_INCLUDE, *sorted(_INCLUDE.glob("*-linux-*")))


@cache
def _names() -> frozenset[str]:
    """The functions, types and structs that the C library's headers name."""
    found: set[str] = set()
    for root in _roots():
        for folder in _FOLDERS:
            for header in sorted((root / folder).glob("*.h")):
                text = header.read_text("utf-8", "replace") if header.is_file() else ""
                found.update(name for match in _NAMED.findall(text) for name in match if name)
    return frozenset(found)
