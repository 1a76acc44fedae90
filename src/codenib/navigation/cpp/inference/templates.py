"""Templates of headers that a build fills in (`config.h.in`) in; headers with this platform's options out.

Otherwise a source that includes such a header is read without it, with errors in all that follows. What the
C library has is on (`HAVE_SYS_EPOLL_H`); every other option, which a user chooses, is off.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

from codenib.navigation.cpp.inference.platform_features import platform_value

_TEMPLATE = re.compile(r"(?:.*/)?(?P<name>[^/]+\.(?:h|hh|hpp|hxx|inc))\.(?:in|cmake|cmakein|cmake\.in|meson)")
_SWITCH = re.compile(r"^[ \t]*#[ \t]*cmakedefine01[ \t]+(\w+).*$", re.MULTILINE)
_OPTION = re.compile(r"^[ \t]*#[ \t]*(?:(?:cmake|meson)define|undef)[ \t]+(\w+).*$", re.MULTILINE)
_FILLED = re.compile(r"^([ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+)(?:@\w+@|\$\{\w+\})[ \t]*$", re.MULTILINE)
_VALUE = re.compile(r"@\w+@|\$\{\w+\}")


def templates_by_name(files: Collection[str]) -> Mapping[str, list[str]]:
    """The templates among files, by the name of the header."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(files):
        if match := _TEMPLATE.fullmatch(path):
            found[match["name"]].append(path)
    return found


def write_templates(root: Path, wanted: Mapping[str, str], out: Path) -> None:
    """Write each header of `wanted`, by its path below `out`, from its template."""
    for path, template in wanted.items():
        try:
            text = (root / template).read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        text = filled(text)
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(text, "utf-8")


def filled(template: str) -> str:
    """The text of a header, made of its template.

    >>> filled("#cmakedefine STDC_HEADERS 1\\n#undef TURBO\\n#define SIZEOF_INT @SIZEOF_INT@")
    '#define STDC_HEADERS 1\\n#undef TURBO\\n#define SIZEOF_INT 4'
    """
    text = _SWITCH.sub(lambda match: f"#define {match[1]} {platform_value(match[1])}", template)
    text = _FILLED.sub(lambda match: f"{match[1]}{platform_value(match[2])}", text)
    return _VALUE.sub("0", _OPTION.sub(_defined, text))


def _defined(option: re.Match[str]) -> str:
    """An option's line: its definition where it is on."""
    if value := platform_value(option[1]):
        return f"#define {option[1]} {value}"
    return option[0] if "undef" in option[0] else ""
