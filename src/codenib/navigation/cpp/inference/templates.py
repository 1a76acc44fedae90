"""Templates of headers that a build fills in (`config.h.in`); headers with every option off out.

Otherwise a source that includes such a header is read without it, with errors in all that follows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

_TEMPLATE = re.compile(r"(?:.*/)?(?P<name>[^/]+\.(?:h|hh|hpp|hxx|inc))\.(?:in|cmake|cmakein|cmake\.in|meson)")
_SWITCH = re.compile(r"^[ \t]*#[ \t]*cmakedefine01[ \t]+(\w+).*$", re.MULTILINE)
_OPTION = re.compile(r"^[ \t]*#[ \t]*(?:cmake|meson)define\b.*$", re.MULTILINE)
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
        text = _VALUE.sub("0", _OPTION.sub("", _SWITCH.sub(r"#define \1 0", text)))
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(text, "utf-8")
