"""A declaration and the text of its file in, whether other files can name it out.

The text decides by each language's own sign, not the graph: most repositories have none.
"""

from __future__ import annotations

import re

from codenib.core.context import Declaration
from codenib.units.languages import language_hint

#: What stands for no name of its own, or for part of another: macros, fields, constants, headings.
UNNAMED_KINDS = frozenset({"macro", "constant", "field", "property", "section", "window", "file", "module"})
_ANONYMOUS = frozenset({"default", "module.exports", "exports"})
_SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
_LOCAL = re.compile(
    r"(?:async\s+)?function\b|const\b|let\b|var\b"
)  # a member of a class begins with its name
_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx|inl|inc|cuh)$")
_C_TYPES = frozenset({"struct", "enum", "union", "typedef", "type", "body"})
_STATIC = re.compile(r"\bstatic\b|\w*STATIC\b")
_CLOSED = re.compile(r"\b(?:private|protected|internal|fileprivate)\b")
_PUBLIC = re.compile(r"\bpub\b")


def is_exported(declaration: Declaration, text: str) -> bool:
    """Whether code outside of the file can name a declaration, whose first line is its `text`."""
    language, names = language_hint(declaration.path), re.split(r"::|[.#]", declaration.symbol)
    head = declaration.text.partition("(")[0]
    if declaration.symbol in _ANONYMOUS or declaration.kind in UNNAMED_KINDS:
        return False
    if language in _SCRIPTS:
        inside = len(names) > 1 and _LOCAL.match(declaration.text)
        return not inside and _script_exports(text, names[0])
    if language in ("c", "cpp"):
        hidden = declaration.kind in _C_TYPES or _STATIC.search(head)
        return bool(_HEADER.search(declaration.path)) or not hidden
    if language == "go":
        return all(name[:1].isupper() for name in names)
    if language == "rust":
        return bool(_PUBLIC.search(head)) or declaration.kind == "method"
    if language in ("java", "kotlin", "csharp", "swift", "php", "scala"):
        return not _CLOSED.search(head)
    return not any(name.startswith("_") for name in names)


def _script_exports(text: str, name: str) -> bool:
    """Whether a module exports a name: where it is declared, in a list, as default, or as CommonJS does."""
    word = re.escape(name)
    signs = (
        rf"^\s*export\s[^;={{(]*\b{word}\b",
        rf"\bexport\s*(?:type\s*)?\{{[^}}]*\b{word}\b",
        rf"\bexports\b[^;]*\b{word}\b",
    )
    return any(re.search(sign, text, re.MULTILINE) for sign in signs)
